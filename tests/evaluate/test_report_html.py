"""The page: closed to the network and to scripts, whole, and with every text as text."""

import base64
import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sightline.evaluate.report import EvaluationReport
from sightline.evaluate.report_html import to_html, write_report
from sightline.evaluate.report_style import STYLE
from sightline.evaluate.report_tables import figure, printable, recipes, tables
from sightline.evaluate.score import Score

VOID = {"meta", "link"}


class Page(HTMLParser):
    """The page as a browser would see it; unbalanced tags fail."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.cells: list[tuple[dict[str, str | None], str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "td":
            self.cells.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._open and self._open[-1] == "td":
            self.cells[-1] = (self.cells[-1][0], self.cells[-1][1] + data)


@pytest.fixture(scope="module")
def page(report: EvaluationReport) -> Page:
    return Page(to_html(report))


def test_nothing_is_fetched_and_nothing_runs(page: Page) -> None:
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "img", "iframe", "object", "embed", "form", "base", "svg"})
    for _, attributes in page.elements:
        assert not any(name.startswith("on") or name in ("src", "style", "srcset", "action") for name in attributes)
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
    assert "url(" not in STYLE
    assert "@import" not in STYLE


def test_the_policy_allows_this_style_alone(page: Page, report: EvaluationReport) -> None:
    policies = [attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes]
    style = to_html(report).split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policies == [f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"]
    tags = [tag for tag, _ in page.elements]
    assert tags.index("meta") < tags.index("style")


def test_hostile_text_is_text(page: Page, report: EvaluationReport) -> None:
    for text in (report.title, report.systems[1].name, *report.examples[0].translations, report.heatmaps[0].source[1]):
        assert printable(text) in page.texts
    assert "\x1b" not in "".join(page.texts)


def test_every_figure_stands_with_its_recipe(page: Page, report: EvaluationReport) -> None:
    found = tables(report)
    shown = [(text, attributes.get("title")) for attributes, text in page.cells if attributes.get("class") == "n"]
    figures = [cell for table in found for row in table.rows for cell in row if isinstance(cell, Score)]
    assert shown == [(figure(score), score.recipe) for score in figures]
    anchors = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    targets = {(attributes["href"] or "")[1:] for tag, attributes in page.elements if tag == "a"}
    assert targets == anchors == {f"recipe-{number}" for number in recipes(found).values()}


def test_maps_show_weights_exactly_and_gold_links(page: Page) -> None:
    marked = [(each["class"] or "", text, each["title"] or "") for each, text in page.cells if "class" in each]
    cells = [cell for cell in marked if cell[0].startswith("w")]
    assert [(kind, text) for kind, text, _ in cells] == [
        ("w15", "75"),
        ("w2 sure", "12"),
        ("w3", "13"),
        ("w0", ""),
        ("w0", ""),
        ("w20 possible", "100"),
    ]
    assert cells[0][2] == "he ← il: 0.750000"
    assert cells[1][2].endswith(": 0.123456, sure link")
    assert cells[5][2] == "pied ← entarté: 0.996000, possible link"


def test_light_and_dark(page: Page) -> None:
    assert ("meta", {"name": "color-scheme", "content": "light dark"}) in page.elements
    assert "@media (prefers-color-scheme:dark)" in STYLE


def test_page_and_data_are_left_in_the_folder(tmp_path: Path, report: EvaluationReport) -> None:
    write_report(report, tmp_path / "demo")
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == ["report.html", "report.json"]
    assert (tmp_path / "demo" / "report.html").read_text(encoding="utf-8") == to_html(report)
    content = json.loads((tmp_path / "demo" / "report.json").read_text(encoding="utf-8"))
    assert content["examples"][0]["translations"] == list(report.examples[0].translations)


def test_a_report_of_scores_alone_has_no_empty_sections(report: EvaluationReport) -> None:
    bare = EvaluationReport(report.title, report.data, report.systems, report.recipe)
    text = to_html(bare)
    Page(text)
    assert "<h2>Examples" not in text
    assert "<h2>Attention" not in text
