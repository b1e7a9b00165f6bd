"""Alignments in files, one sentence pair per line: `i-j` links source word i and target word j.

Gold files also mark possible links, `ipj` or `i?j`. They count words from 0 or from 1 and do not say which; taking one for
the other costs 30 points of AER and more, so it is read off the data or refused. Links that programs
write (Pharaoh format) count from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from sightline.errors import UserError
from sightline.evaluate.alignment import Gold, Links
from sightline.text.files import write_whole
from sightline.text.lines import display_name, read_lines

Sizes = Sequence[tuple[int, int]]  # words of the source and of the target of each sentence pair

_LINK = re.compile(r"([0-9]+)([-p?])([0-9]+)")


class _Marked(NamedTuple):
    """A link as it stands in the file."""

    line: int
    text: str
    source: int
    target: int
    sure: bool


def read_gold(path: str | Path, sizes: Sizes, first_index: int | None = None) -> list[Gold]:
    """Gold links counted from 0, one entry per sentence pair, an empty line being none.

    Whether the file counts from 0 or from 1 is told by the data: a 0 anywhere means from 0, an index equal to a sentence's
    length means from 1. A file that shows neither is refused unless `first_index` says it.
    """
    lines = _read(path, sizes, "-p?")
    if first_index not in (None, 0, 1):
        raise UserError(f"first index {first_index}: a file of links counts words from 0 or from 1")
    first = _first_index(path, lines, sizes) if first_index is None else first_index
    _refuse_outside(path, lines, sizes, first)
    shifted = [[(link.sure, (link.source - first, link.target - first)) for link in line] for line in lines]
    return [Gold.of((pair for sure, pair in line if sure), (pair for _, pair in line)) for line in shifted]


def read_pharaoh(path: str | Path, sizes: Sizes) -> list[Links]:
    """Links as aligners write them, counted from 0, one entry per sentence pair."""
    lines = _read(path, sizes, "-")
    _refuse_outside(path, lines, sizes, 0)
    return [frozenset((link.source, link.target) for link in line) for line in lines]


def pharaoh_line(links: Iterable[tuple[int, int]]) -> str:
    """One sentence pair's links as a line, in the order of the source."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def write_pharaoh(path: str | Path, alignments: Iterable[Links]) -> None:
    """All links in Pharaoh format."""
    write_whole(path, "".join(f"{pharaoh_line(links)}\n" for links in alignments))


def _read(path: str | Path, sizes: Sizes, kinds: str) -> list[list[_Marked]]:
    name = display_name(path)
    lines: list[list[_Marked]] = []
    for number, text, problem in read_lines(path):
        if text is None:
            raise UserError(f"{name}:{number}: {problem}; every line of an alignment file must be readable")
        lines.append([_parse(name, number, word, kinds) for word in text.split()])
    if len(lines) != len(sizes):
        raise UserError(f"{name}: {len(lines)} lines for {len(sizes)} sentence pairs; there must be one line for each")
    return lines


def _parse(name: str, number: int, word: str, kinds: str) -> _Marked:
    match = _LINK.fullmatch(word)
    if match is None or match[2] not in kinds:
        known = "i-j" if kinds == "-" else "i-j (sure), ipj or i?j (possible)"
        raise UserError(f"{name}:{number}: {word!r} is not a link; write {known}, source word first")
    return _Marked(number, word, int(match[1]), int(match[3]), match[2] == "-")


def _first_index(path: str | Path, lines: list[list[_Marked]], sizes: Sizes) -> int:
    """0 or 1, whichever the indices show."""
    name = display_name(path)
    zero = next((link for line in lines for link in line if 0 in (link.source, link.target)), None)
    end = next((link for link, size in _with_sizes(lines, sizes) if link.source == size[0] or link.target == size[1]), None)
    if zero and end:
        raise UserError(
            f"{name}:{zero.line}: {zero.text} counts words from 0, but {name}:{end.line}: {end.text} is beyond the "
            "last word then; check that the text belongs to these links"
        )
    if not zero and not end:
        raise UserError(
            f"{name}:1-{len(lines)}: no link shows whether words are counted from 0 or from 1 (no index is 0, none is the "
            "length of its sentence); give the first index yourself, 0 or 1"
        )
    return 0 if zero else 1


def _refuse_outside(path: str | Path, lines: list[list[_Marked]], sizes: Sizes, first: int) -> None:
    for link, (of_source, of_target) in _with_sizes(lines, sizes):
        for side, index, words in (("source", link.source, of_source), ("target", link.target, of_target)):
            if not first <= index < first + words:
                raise UserError(
                    f"{display_name(path)}:{link.line}: link {link.text}: there is no {side} word {index} when {words} words are "
                    f"counted from {first}; check that the text belongs to these links and from where they count"
                )


def _with_sizes(lines: list[list[_Marked]], sizes: Sizes) -> Iterable[tuple[_Marked, tuple[int, int]]]:
    return ((link, size) for line, size in zip(lines, sizes, strict=True) for link in line)
