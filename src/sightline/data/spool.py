"""Clean pairs on their way: they rest on disk, packed, block by block, while it is decided what becomes of each.

Beside the texts lie three columns of keys, 64 bits for each pair: of the pair itself, and of what its source and its
target have in common with their near-duplicates.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, final

import numpy as np
import zstandard
from numpy.typing import NDArray

from sightline.data.near import Keys

CHUNK = 1 << 20  # keys held at once


class Texts(NamedTuple):
    """Pairs side by side, and the line each was read from."""

    lines: list[int]
    sources: list[str]
    targets: list[str]

    def add(self, line: int, source: str, target: str) -> None:
        self.lines.append(line)
        self.sources.append(source)
        self.targets.append(target)

    def rows(self) -> Iterator[tuple[int, str, str]]:
        """Pair by pair."""
        return zip(*self, strict=True)

    def where(self, chosen: NDArray[np.bool_]) -> Texts:
        """Some of the pairs."""
        if chosen.all():
            return self
        lines, sources, targets = self
        return Texts(list(compress(lines, chosen)), list(compress(sources, chosen)), list(compress(targets, chosen)))

    def pack(self) -> bytes:
        return zstandard.compress(json.dumps(self, ensure_ascii=False).encode(), 1)


@dataclass(frozen=True, slots=True)
class Resting:
    """Where a block of texts lies."""

    file: str
    offset: int
    length: int
    first: int  # pair
    size: int
    number: int  # of the input it is from

    def texts(self) -> Texts:
        with open(self.file, "rb") as file:
            file.seek(self.offset)
            return Texts(*json.loads(zstandard.decompress(file.read(self.length))))


@dataclass(frozen=True, slots=True)
class Column:
    """Keys on disk."""

    path: Path
    size: int

    def read(self, first: int, count: int) -> Keys:
        return np.fromfile(self.path, "<u8", count, offset=8 * first)

    def chunks(self) -> Iterator[tuple[int, Keys]]:
        """All keys, some at a time, each time with the number of the first."""
        for first in range(0, self.size, CHUNK):
            yield first, self.read(first, CHUNK)


@final
class Spool:
    """Takes blocks, then gives them back."""

    def __init__(self, folder: Path) -> None:
        self._paths = [folder / name for name in ("texts", "pair.keys", "source.keys", "target.keys")]
        self._files = [path.open("xb") for path in self._paths]
        self.blocks: list[Resting] = []
        self.size = 0
        self._bytes = 0

    def append(self, text: bytes, keys: Sequence[Keys], number: int) -> None:
        """One block: what `Texts.pack` made of it, and its keys, a row for each column."""
        self._files[0].write(text)
        for file, column in zip(self._files[1:], keys, strict=True):
            file.write(column.astype("<u8", copy=False).tobytes())
        self.blocks.append(Resting(str(self._paths[0]), self._bytes, len(text), self.size, len(keys[0]), number))
        self.size += len(keys[0])
        self._bytes += len(text)

    def flush(self) -> None:
        """From here on it is read."""
        for file in self._files:
            file.flush()

    def columns(self) -> tuple[Column, Column, Column]:
        """The keys of pairs, sources and targets."""
        pair, source, target = (Column(path, self.size) for path in self._paths[1:])
        return pair, source, target

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with ExitStack() as stack:
            for file in self._files:
                stack.callback(file.close)
