"""Small tables: on a screen, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of words under a header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """Columns below each other; all but the first are set to the right."""
        rows = [self.header, *self.rows]
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(_line(row, widths) for row in rows)

    def markdown(self) -> str:
        """For GitHub."""
        rows = [self.header, ("---", *("---:" for _ in self.header[1:])), *self.rows]
        return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    gaps = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
    return "  ".join([row[0] + gaps[0], *(gap + cell for gap, cell in zip(gaps[1:], row[1:], strict=True))]).rstrip()
