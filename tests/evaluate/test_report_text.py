"""The report as text, Markdown and JSON: all figures, all recipes, nothing that steers."""

import json
import re

from rich.cells import cell_len

from sightline.evaluate.report import EvaluationReport
from sightline.evaluate.report_tables import figure, recipes, tables
from sightline.evaluate.report_text import to_json, to_markdown, to_text
from sightline.evaluate.score import Score


def figures(report: EvaluationReport) -> list[Score]:
    return [cell for table in tables(report) for row in table.rows for cell in row if isinstance(cell, Score)]


def test_text_holds_every_figure_with_its_note(report: EvaluationReport) -> None:
    text = to_text(report)
    notes = recipes(tables(report))
    for score in figures(report):
        assert f"{figure(score)} ({notes[score.recipe]})" in text
    for recipe, number in notes.items():
        assert f"\n({number}) {recipe}\n" in text
    assert report.data.sha256 in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert all(char.isprintable() for char in text.replace("\n", ""))


def test_columns_stand_below_each_other(report: EvaluationReport) -> None:
    lines = to_text(report).splitlines()
    header = next(line for line in lines if line.startswith("system  "))
    place = cell_len(header[: header.index("metric")])
    for line in lines[lines.index(header) + 1 :][:6]:
        metric = re.search(r"(BLEU|chrF2|TER)  ", line)
        assert metric
        assert cell_len(line[: metric.start()]) == place


def test_markdown_tables_keep_their_columns(report: EvaluationReport) -> None:
    text = to_markdown(report)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    widths = [len(re.findall(r"(?<!\\)\|", row)) - 1 for row in rows]
    assert widths == [3] * 8 + [5] * 6 + [7] * 3
    assert "<img" not in text.replace("\\<", "")
    for score in figures(report):
        assert figure(score) in text


def test_json_is_the_whole_report(report: EvaluationReport) -> None:
    content = json.loads(to_json(report))
    assert content["format"] == "sightline-report/1"
    assert content["title"] == report.title
    first = report.systems[0].scores[0]
    assert content["systems"][0]["scores"][0] == {
        "name": "BLEU",
        "value": first.value,
        "low": first.low,
        "high": first.high,
        "recipe": first.recipe,
    }
    assert content["data"] == {"name": report.data.name, "sha256": report.data.sha256, "sentences": 120}
    assert content["buckets"][0]["bucket"]["longest"] == report.buckets[0].bucket.longest
    assert content["contrasts"][0]["comparison"]["p_randomisation"]["recipe"].startswith("nrefs:1|ar:200|")
    assert content["examples"][0]["translations"] == list(report.examples[0].translations)
    assert content["heatmaps"][0]["weights"] == [[0.75, 0.123456, 0.126544], [0.0, 0.004, 0.996]]
    assert content["heatmaps"][0]["possible"] == [[2, 1]]


def test_all_forms_are_the_same_each_time(report: EvaluationReport) -> None:
    for form in (to_text, to_markdown, to_json):
        assert form(report) == form(report)
