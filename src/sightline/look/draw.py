"""A soft alignment as a picture in a terminal: the darker, the more weight; known links in brackets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len, set_cell_size
from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style

from sightline.evaluate.alignment import Gold
from sightline.look.align import Look
from sightline.look.record import Explanation, Reading

Shading: TypeAlias = Literal["colour", "blocks", "ascii"]
Marks: TypeAlias = Mapping[tuple[int, int], str]

LEVELS = (0.05, 0.2, 0.4, 0.7)  # where a weight takes the next shade
BLOCKS, ASCII = " ░▒▓█", " .:*#"
PAPER = (231, 195, 117, 33, 18)  # of the 256 colours: white to dark blue, alike on a dark and a light terminal
INK = (16, 16, 16, 231, 231)
SMALLEST_CELL = 3
JOINERS = "\u200c\u200d"  # part of words in Persian and Indian scripts
LONGEST_HEADING = 12  # of a word written downwards


def shading_for(stream: IO[str]) -> Shading:
    """What this stream can show: colours where a terminal has and wants them, blocks where its encoding does, else ASCII."""
    console = Console(file=stream)
    if console.is_terminal and not console.no_color and console.color_system in ("256", "truecolor"):
        return "colour"
    return "blocks" if console.encoding.startswith("utf") else "ascii"


def draw(
    explanation: Explanation,
    name: str,
    head: int | None = None,
    reading: Reading = "while_writing",
    gold: Gold | None = None,
    shading: Shading = "blocks",
    across: Literal["source", "target"] = "source",
    width: int = 80,
) -> str:
    """One map between source and target words, the source across or down; `name` is one of `explanation.crosses`."""
    weights = explanation.weights(name, head, reading)
    rows, columns = explanation.labels(name)
    known = gold or Gold.of(())
    marks = dict.fromkeys(known.possible, "()") | dict.fromkeys(known.sure, "[]")
    if across == "source":
        marks = {(target, source): mark for (source, target), mark in marks.items()}
    else:
        weights, rows, columns = weights.T, columns, rows
    picture = draw_matrix(weights, rows, columns, marks, shading, width)
    return "\n".join([str(Look(name, head, reading)), "", picture, "", _legend(shading, gold is not None)])


def draw_matrix(
    weights: NDArray[np.floating],
    rows: Sequence[str],
    columns: Sequence[str],
    marks: Marks | None = None,
    shading: Shading = "blocks",
    width: int = 80,
) -> str:
    """Any matrix with its labels; `marks` has two characters to stand around a cell (row, column).

    Columns are headed by their words where all fit into `width`, else by words written downwards, in as many panels as
    it takes.
    """
    names, headings = [_printable(row) for row in rows], [_printable(column) for column in columns]
    margin = min(max(map(cell_len, names), default=0), max(width // 3, 1)) + 1
    room = max(width - margin, SMALLEST_CELL)
    sizes = [max(SMALLEST_CELL, cell_len(heading) + 1) for heading in headings]
    if sum(sizes) <= room:
        panels, heads = [range(len(headings))], [_row("", margin, [_centred(h, s) for h, s in zip(headings, sizes, strict=True)])]
    else:
        sizes, step = [SMALLEST_CELL] * len(headings), room // SMALLEST_CELL
        panels = [range(start, min(start + step, len(headings))) for start in range(0, len(headings), step)]
        heads = [_downwards([headings[column] for column in panel], margin) for panel in panels]
    drawn = []
    for panel, head in zip(panels, heads, strict=True):
        lines = [head]
        for row, label in enumerate(names):
            cells = [_cell(float(weights[row, c]), (marks or {}).get((row, c)), sizes[c], shading) for c in panel]
            lines.append(_row(label, margin, cells))
        drawn.append("\n".join(lines))
    return "\n\n".join(drawn)


def _cell(weight: float, mark: str | None, size: int, shading: Shading) -> str:
    level = sum(weight >= least for least in LEVELS)
    left, right = tuple(mark or "  ")
    if shading == "colour":
        style = Style(color=f"color({INK[level]})", bgcolor=f"color({PAPER[level]})")
        return style.render(left + " " * (size - 2) + right, color_system=ColorSystem.EIGHT_BIT)
    return left + (BLOCKS if shading == "blocks" else ASCII)[level] * (size - 2) + right


def _row(label: str, margin: int, cells: Sequence[str]) -> str:
    """A label and its cells; a label too long for the margin ends in an ellipsis."""
    line = _fitted(label, margin - 1) + " " + "".join(cells)
    return line.rstrip(" ")


def _fitted(text: str, size: int) -> str:
    if cell_len(text) > size:
        text = set_cell_size(text, size - 1).rstrip(" ") + "…"
    return set_cell_size(text, size)


def _centred(text: str, size: int) -> str:
    left = (size - cell_len(text)) // 2
    return set_cell_size(" " * left + text, size)


def _downwards(words: Sequence[str], margin: int) -> str:
    """Column headings written from top to bottom, standing on the matrix."""
    letters = []
    for word in words:
        column: list[str] = []
        for character in word:
            if column and cell_len(character) == 0:
                column[-1] += character  # an accent stays with its letter
            else:
                column.append(character)
        letters.append(column if len(column) <= LONGEST_HEADING else [*column[: LONGEST_HEADING - 1], "…"])
    height = max(map(len, letters), default=0)
    upright = [[" "] * (height - len(column)) + column for column in letters]
    return "\n".join(_row("", margin, [_centred(column[line], SMALLEST_CELL) for column in upright]) for line in range(height))


def _printable(text: str) -> str:
    """Text from anywhere must not steer the terminal."""
    return "".join(character if character.isprintable() or character in JOINERS else "\ufffd" for character in text)


def _legend(shading: Shading, with_gold: bool) -> str:
    shades = [_cell(least, None, SMALLEST_CELL, shading).strip(" ") for least in LEVELS]
    parts = [f"{shade} {least:.0%}" for shade, least in zip(shades, LEVELS, strict=True)]
    return "  ".join(parts) + " or more" + ("   [ ] sure  ( ) possible link" if with_gold else "")
