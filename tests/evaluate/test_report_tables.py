"""Figures and the notes that lead to their recipes."""

from sightline.evaluate.report import EvaluationReport
from sightline.evaluate.report_tables import figure, printable, recipes, tables
from sightline.evaluate.score import Score


def test_each_figure_has_a_note(report: EvaluationReport) -> None:
    found = tables(report)
    notes = recipes(found)
    scores, buckets, contrasts = found
    assert sorted(notes.values()) == list(range(1, len(notes) + 1))
    figures = [cell for table in found for row in table.rows for cell in row if isinstance(cell, Score)]
    assert {each.recipe for each in figures} == set(notes)
    # 2 systems × 3 metrics; 4 buckets × (2 systems + their difference); a difference and two p-values
    assert len(figures) == 6 + 12 + 3
    assert all(len(row) == len(table.header) for table in found for row in table.rows)
    assert [len(table.rows) for table in (scores, buckets, contrasts)] == [6, 4, 1]
    assert buckets.caption == "BLEU by length of the source"


def test_figures_show_an_interval_where_there_is_one() -> None:
    assert figure(Score("BLEU", 41.018, 39.456, 42.0, "r")) == "41.02 [39.46, 42.00]"
    assert figure(Score("p", 0.00123456, None, None, "r")) == "0.001235"


def test_text_cannot_steer_the_terminal() -> None:
    assert printable("a\x1b[31m\u202eb\x00\n\udcff") == "a�[31m�b���"
    assert printable("naïve عربي 😀 e\u0301 \u200d") == "naïve عربي 😀 e\u0301 \u200d"
