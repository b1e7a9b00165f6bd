"""Inputs as a stream of pairs, and the guard that stops when what is read is not what it was taken for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import final

from sightline.data.blocks import blocks
from sightline.data.inputs import parse_inputs
from sightline.data.pairs import BadLine, Pair
from sightline.data.parse import parse
from sightline.errors import UserError

FEW_BAD = 10  # so many bad lines stop nothing, however short the file
EARLY = 20_000  # lines; before the end is known, a share is taken of at least these


def read_pairs(
    inputs: Sequence[str],
    source: str,
    target: str,
    seed: int = 1,
    max_bad_share: float = 0.05,
    bad: Callable[[BadLine], None] | None = None,
) -> Iterator[Pair]:
    """The pairs of everything named; each bad line is handed to `bad`, and too many of them are an error."""
    guard = BadShare(max_bad_share, "mend the file")
    for block in blocks(parse_inputs(inputs, source, target)):
        parsed = parse(block, seed)
        guard.add(block.input.name, block.number, parsed.read, parsed.bad)
        for line in parsed.bad:
            if bad is not None:
                bad(line)
        for number, left, right in zip(parsed.lines, parsed.sources, parsed.targets, strict=True):
            yield Pair(left, right, block.input.name, number)
    guard.end()


@final
class BadShare:
    """Stops reading when too large a share of one input's lines is bad."""

    def __init__(self, allowed: float, cure: str) -> None:
        self._allowed, self._cure = allowed, cure
        self._input, self._name = -1, ""
        self._read = self._bad = 0
        self._first: BadLine | None = None

    def add(self, name: str, number: int, read: int, bad: Sequence[BadLine]) -> None:
        """Count a block of input `number`; they must come in order."""
        if number != self._input:
            self.end()
            self._input, self._name = number, name
            self._read, self._bad, self._first = 0, 0, None
        self._read += read
        self._bad += len(bad)
        if self._first is None and bad:
            self._first = bad[0]
        self._check(max(self._read, EARLY))

    def end(self) -> None:
        """There are no more blocks."""
        self._check(self._read)

    def _check(self, lines: int) -> None:
        if self._bad > max(FEW_BAD, self._allowed * lines):
            raise UserError(
                f"{self._name}: {self._bad:,} of the first {self._read:,} lines cannot be used; the first is {self._first}; "
                f"{self._cure}"
            )
