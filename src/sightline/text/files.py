"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from sightline.errors import UserError


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file to write; it takes the name `path` only when the block ends without an error."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The same directory, because a rename is only atomic within one file system.
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}; choose a place you may write to") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files that only their owner may read; give what a plain open() would have given.
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def write_whole(path: str | Path, data: bytes | str) -> None:
    """Write `data` (text as UTF-8) under `path`: after a crash the old file or the new one is there, never a part."""
    with whole_file(path) as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)


def _umask() -> int:
    """The process's mask for new files; the system tells it only by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync_directory(directory: Path) -> None:
    """Make the new name itself survive a power cut, where the system can (Windows cannot open directories)."""
    if os.name != "posix":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
