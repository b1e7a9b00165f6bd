"""A report for the terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rich.cells import cell_len

from sightline.evaluate.report import EvaluationReport
from sightline.evaluate.report_tables import Cell, Table, figure, printable, recipes, tables
from sightline.evaluate.score import Score

FORMAT = "sightline-report/1"

_MARKED = re.compile(r"([\\`*_{}\[\]<>#|&~$])")


def to_text(report: EvaluationReport) -> str:
    """Tables in plain characters, figures with the number of their note, notes at the end."""
    found = tables(report)
    notes = recipes(found)
    data = report.data
    parts = [printable(report.title), f"{printable(data.name)}: {data.sentences} sentences, sha256 {data.sha256}"]
    parts += [_text_table(table, notes) for table in found]
    names = [system.name for system in report.systems]
    for example in report.examples:
        labelled = [("source", example.source), ("reference", example.reference), *zip(names, example.translations, strict=True)]
        parts.append(_columns([[printable(name), printable(text)] for name, text in labelled]))
    parts.append("\n".join(f"({number}) {printable(recipe)}" for recipe, number in notes.items()))
    parts.append(_columns([[printable(name), printable(value)] for name, value in report.recipe]))
    return "\n\n".join(part for part in parts if part) + "\n"


def to_markdown(report: EvaluationReport) -> str:
    """The same as GitHub's Markdown."""
    found = tables(report)
    notes = recipes(found)
    data = report.data
    parts = [f"# {_escaped(report.title)}", f"{_escaped(data.name)}: {data.sentences} sentences, sha256 {data.sha256}"]
    parts += [_markdown_table(table, notes) for table in found]
    names = [system.name for system in report.systems]
    for example in report.examples:
        labelled = [("source", example.source), ("reference", example.reference), *zip(names, example.translations, strict=True)]
        parts.append("\n".join(f"- *{_escaped(name)}*: {_escaped(text)}" for name, text in labelled))
    parts.append("\n".join(f"{number}. {_escaped(recipe)}" for recipe, number in notes.items()))
    parts.append("\n".join(f"- {_escaped(name)}: {_escaped(value)}" for name, value in report.recipe))
    return "\n\n".join(part for part in parts if part) + "\n"


def to_json(report: EvaluationReport) -> str:
    """Everything in the report, for programs; every figure with its recipe beside it."""
    content = {"format": FORMAT} | asdict(report, dict_factory=_plain)
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _plain(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON has no sets, and their order would change from run to run."""
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in fields}


def _text_table(table: Table, notes: dict[str, int]) -> str:
    rows = [[_noted(cell, notes, printable) for cell in row] for row in (table.header, *table.rows)]
    return f"{printable(table.caption)}\n{_columns(rows)}"


def _markdown_table(table: Table, notes: dict[str, int]) -> str:
    rows = [[_noted(cell, notes, _escaped) for cell in row] for row in (table.header, *table.rows)]
    rows.insert(1, ["---"] * len(table.header))
    return f"## {_escaped(table.caption)}\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _noted(cell: Cell, notes: dict[str, int], words: Callable[[str], str]) -> str:
    return f"{figure(cell)} ({notes[cell.recipe]})" if isinstance(cell, Score) else words(cell)


def _columns(rows: list[list[str]]) -> str:
    """Rows with their columns below each other, whatever the width of their characters."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(_padded(row, widths)).rstrip() for row in rows)


def _padded(row: list[str], widths: list[int]) -> list[str]:
    return [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]


def _escaped(text: str) -> str:
    return _MARKED.sub(r"\\\1", printable(text))
