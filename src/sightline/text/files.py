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
def writing(what: str, fix: str) -> Iterator[None]:
    """Around what writes: an error of the disk, full or not ours to write on, becomes one that says what failed and the fix."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{what} ({error.strerror or error}); {fix}") from error


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file to write; it takes the name `path` only when the block ends without an error."""
    path = Path(path)
    with writing(f"{path}: cannot be written", "choose a place you may write to"):
        path.parent.mkdir(parents=True, exist_ok=True)
        # The same directory, because a rename is only atomic within one file system.
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        open_to_others(temporary)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_whole(path: str | Path, data: bytes | str) -> None:
    """Write `data` (text as UTF-8) under `path`: after a crash the old file or the new one is there, never a part."""
    with whole_file(path) as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)


def open_to_others(path: str | Path) -> None:
    """Let those read a file who may read what a plain open() makes: whoever makes it in another way locks them out."""
    mask = os.umask(0o077)  # the system tells the mask for new files only by setting it
    os.umask(mask)
    os.chmod(path, 0o666 & ~mask)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut, as the files' contents do, where the system can open a folder at all."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
