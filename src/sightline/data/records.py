"""What was prepared from what: so that a finished preparation is used again at once, and never in another's place."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sightline.data.blocks import blocks
from sightline.data.inputs import Input
from sightline.data.parse import parse
from sightline.errors import UserError

_TASTE = 200  # generated pairs that stand for all


@dataclass(frozen=True, slots=True)
class FileRecord:
    """An input as it was when it was read."""

    name: str
    path: str  # "" when it cannot be read again
    size: int  # bytes
    modified: int  # nanoseconds
    sha256: str


def record(inputs: Sequence[Input], seed: int) -> tuple[FileRecord, ...]:
    """Size and hash of all that will be read."""
    records = []
    for one in inputs:
        if one.form == "builtin":
            records.append(FileRecord(one.name, "", 0, 0, _taste(one, seed)))
        for path in one.paths:
            status = Path(path).stat()
            kept = path if one.again else ""
            records.append(FileRecord(path if kept else one.name, kept, status.st_size, status.st_mtime_ns, _sha256(path)))
    return tuple(records)


def check_inputs(records: Sequence[FileRecord], inputs: Sequence[Input], seed: int, tell: Callable[[str], None]) -> None:
    """Refuse what has changed since. A file that is gone, or came on standard input, cannot be compared, and is not needed."""
    for known in records:
        if not known.path:
            continue
        try:
            status = Path(known.path).stat()
        except OSError:
            tell(f"{known.path} is not there any more; using what was prepared from it")
            continue
        if (status.st_size, status.st_mtime_ns) != (known.size, known.modified) and _sha256(known.path) != known.sha256:
            raise UserError(changed(known.path))
    generated = {one.name: one for one in inputs if one.form == "builtin"}
    for known in records:
        if known.name in generated and _taste(generated[known.name], seed) != known.sha256:
            raise UserError(changed(known.name))


def changed(name: str) -> str:
    """What to say about an input that is no longer what it was."""
    return f"{name}: has changed since it was prepared; choose another output folder to train on what it holds now"


def first_difference(known: Mapping[str, Any], given: Mapping[str, Any], prefix: str = "") -> str | None:
    """The first setting in which two preparations differ, in words."""
    for key in (*given, *(key for key in known if key not in given)):
        old, new = known.get(key), given.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            if (inner := first_difference(old, new, f"{prefix}{key}.")) is not None:
                return inner
        elif old != new:
            return f"{prefix}{key} was {old!r} and is now {new!r}"
    return None


def _taste(one: Input, seed: int) -> str:
    """A hash that changes when the generator does."""
    parsed = parse(next(blocks([replace(one, count=min(one.count, _TASTE))])), seed)
    return hashlib.sha256("\n".join([*parsed.sources, *parsed.targets]).encode()).hexdigest()


def _sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
