"""Inputs cut into blocks: here lines are only counted off, to be taken apart wherever a core is free.

What is wrong with one line never moves another: an unreadable one keeps its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sightline.data.inputs import Input
from sightline.errors import UserError
from sightline.text.lines import Line, display_name, read_lines

BLOCK = 4096  # pairs


@dataclass(frozen=True, slots=True)
class Side:
    """The lines of one file in a block."""

    texts: list[str | None]  # None where a line cannot be read
    problems: dict[int, str]  # why, by place in the list

    @classmethod
    def of(cls, lines: list[Line]) -> Side:
        return cls([line.text for line in lines], {i: line.problem for i, line in enumerate(lines) if line.text is None})


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of one input: raw lines, or the place of pairs to generate."""

    input: Input
    number: int  # of the input
    first: int  # line
    size: int
    sides: tuple[Side, ...] = ()  # one for each file
    columns: tuple[int, int] = (0, 1)  # of a TSV file


def blocks(inputs: Sequence[Input]) -> Iterator[Block]:
    """Everything to read, in order."""
    for number, one in enumerate(inputs):
        if one.form == "builtin":
            for start in range(0, one.count, BLOCK):
                yield Block(one, number, start + 1, min(BLOCK, one.count - start))
        elif one.form == "lines":
            yield from _two_files(one, number)
        else:
            yield from _one_file(one, number)


def _one_file(one: Input, number: int) -> Iterator[Block]:
    lines, columns = read_lines(one.paths[0]), (0, 1)
    while some := list(islice(lines, BLOCK)):
        if one.form == "tsv" and some[0].number == 1 and (named := _header(some[0], one.languages)):
            columns, some = named, some[1:]
        if some:
            yield Block(one, number, some[0].number, len(some), (Side.of(some),), columns)


def _header(line: Line, languages: tuple[str, str]) -> tuple[int, int] | None:
    """Which columns to take, if the line names them."""
    cells = [cell.strip().lower() for cell in (line.text or "").split("\t")]
    for source, target in (languages, ("source", "target")):
        if source != target and source.lower() in cells and target.lower() in cells:
            return cells.index(source.lower()), cells.index(target.lower())
    return None


def _two_files(one: Input, number: int) -> Iterator[Block]:
    left, right = (read_lines(path) for path in one.paths)
    first = 1
    while True:
        sources, targets = list(islice(left, BLOCK)), list(islice(right, BLOCK))
        if len(sources) != len(targets):
            before = first - 1
            raise _unequal(one, before + len(sources) + _rest(left), before + len(targets) + _rest(right))
        if not sources:
            return
        yield Block(one, number, first, len(sources), (Side.of(sources), Side.of(targets)))
        first += len(sources)


def _rest(lines: Iterator[Line]) -> int:
    return sum(1 for _ in lines)


def _unequal(one: Input, sources: int, targets: int) -> UserError:
    left, right = map(display_name, one.paths)
    shorter, end = (left, sources) if sources < targets else (right, targets)
    return UserError(
        f"{left} has {sources:,} lines and {right} has {targets:,}: line by line they do not belong together; "
        f"{shorter}:{end} is where the shorter one ends; give two files of the same length"
    )
