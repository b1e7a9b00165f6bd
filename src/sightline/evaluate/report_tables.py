"""The tables of a report, before they become text, Markdown or a page; and the notes that tie each figure to its recipe."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from sightline.evaluate.report import BucketRow, EvaluationReport
from sightline.evaluate.score import Score

Cell = str | Score

_TURNERS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # they turn the direction of what follows


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header; a cell is words or a figure."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def tables(report: EvaluationReport) -> list[Table]:
    """The report's figures: scores, then scores by length, then comparisons, then alignments."""
    found = [_scores(report)]
    if report.buckets:
        found.append(_buckets(report, report.buckets))
    if report.contrasts:
        found.append(_contrasts(report))
    if report.aligners:
        found.append(_aligners(report))
    return found


def recipes(found: list[Table]) -> dict[str, int]:
    """Each recipe of the figures once, with the number of its note."""
    ordered = dict.fromkeys(cell.recipe for table in found for row in table.rows for cell in row if isinstance(cell, Score))
    return {recipe: number for number, recipe in enumerate(ordered, start=1)}


def figure(score: Score) -> str:
    """A figure as it is printed."""
    return f"{score.value:.4g}" if score.low is None else score.number()


def printable(text: str) -> str:
    """Text that cannot steer a terminal or turn the words around it: such characters become a visible sign."""
    return "".join("\ufffd" if char in _TURNERS or unicodedata.category(char) in ("Cc", "Cs") else char for char in text)


def _scores(report: EvaluationReport) -> Table:
    rows = tuple((system.name, score.name, score) for system in report.systems for score in system.scores)
    return Table("Scores with 95 % bootstrap intervals", ("system", "metric", "score"), rows)


def _buckets(report: EvaluationReport, buckets: tuple[BucketRow, ...]) -> Table:
    names = [system.name for system in report.systems]
    leads = [f"{name} − {names[0]}" for name in names[1:]] if buckets[0].differences else []
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (row.bucket.label(), str(len(row.bucket.indices)), *row.scores, *row.differences) for row in buckets
    )
    return Table(f"{buckets[0].scores[0].name} by length of the source", ("source", "sentences", *names, *leads), rows)


def _contrasts(report: EvaluationReport) -> Table:
    header = ("system", "baseline", "metric", "difference", "p, bootstrap", "p, randomisation", "verdict")
    rows = tuple(
        (
            each.system,
            each.baseline,
            each.comparison.system.name,
            each.comparison.difference,
            each.comparison.p_bootstrap,
            each.comparison.p_randomisation,
            each.comparison.verdict(),
        )
        for each in report.contrasts
    )
    return Table("Differences between systems", header, rows)


def _aligners(report: EvaluationReport) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple((aligner.name, *aligner.scores) for aligner in report.aligners)
    return Table("Word alignment against gold links", ("read from", *(score.name for score in report.aligners[0].scores)), rows)
