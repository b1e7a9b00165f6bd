"""A report as one page that opens anywhere, offline: no script, no request, every text escaped.

The page forbids itself whatever it does not need (Content-Security-Policy): only the one style sheet inside it may act, known by
its hash. So weights become one of 21 shades by class, not by an inline style; the exact value is in the cell's title.
"""

from __future__ import annotations

import base64
import hashlib
import html
from pathlib import Path

from sightline.evaluate.report import EvaluationReport, Example, Heatmap
from sightline.evaluate.report_style import SHADES, STYLE
from sightline.evaluate.report_tables import Cell, Table, figure, printable, recipes, tables
from sightline.evaluate.report_text import to_json
from sightline.evaluate.score import Score
from sightline.text.files import write_whole


def write_report(report: EvaluationReport, folder: str | Path) -> None:
    """Leave `report.html` and `report.json` in the folder."""
    # Half a surrogate pair in a translation has no UTF-8; JSON can still spell it, and the page has replaced it.
    write_whole(Path(folder) / "report.json", to_json(report).encode("utf-8", "backslashreplace"))
    write_whole(Path(folder) / "report.html", to_html(report))


def to_html(report: EvaluationReport) -> str:
    """The whole page."""
    found = tables(report)
    notes = recipes(found)
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    data = report.data
    body = [
        f"<h1>{_text(report.title)}</h1>",
        f"<p>{_text(data.name)}: {data.sentences} sentences, sha256 <code>{_text(data.sha256)}</code></p>",
        *(_table(table, notes) for table in found),
        _examples(report),
        _heatmaps(report.heatmaps),
        _recipes(report, notes),
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<link rel="icon" href="data:,">',  # or a browser asks the server for one
            f"<title>{_text(report.title)}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            "<main>",
            *(part for part in body if part),
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _table(table: Table, notes: dict[str, int]) -> str:
    head = "".join(f'<th scope="col">{_words(name)}</th>' for name in table.header)
    rows = [_row(row, notes) for row in table.rows]
    return f"<div><table><caption>{_text(table.caption)}</caption><tr>{head}</tr>\n" + "\n".join(rows) + "\n</table></div>"


def _row(row: tuple[Cell, ...], notes: dict[str, int]) -> str:
    cells = [f'<th scope="row">{_words(str(row[0]))}</th>']
    for cell in row[1:]:
        if isinstance(cell, Score):
            note = notes[cell.recipe]
            cells.append(
                f'<td class="n" title="{_text(cell.recipe)}">{figure(cell)}<sup><a href="#recipe-{note}">{note}</a></sup></td>'
            )
        else:
            cells.append(f"<td>{_words(cell)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _examples(report: EvaluationReport) -> str:
    if not report.examples:
        return ""
    names = [system.name for system in report.systems]
    return "<h2>Examples</h2>\n" + "\n".join(_example(example, names) for example in report.examples)


def _example(example: Example, names: list[str]) -> str:
    labelled = [("source", example.source), ("reference", example.reference), *zip(names, example.translations, strict=True)]
    return "<dl>" + "".join(f"<dt>{_words(name)}</dt><dd>{_words(text)}</dd>" for name, text in labelled) + "</dl>"


def _heatmaps(maps: tuple[Heatmap, ...]) -> str:
    if not maps:
        return ""
    legend = (
        "<p>A row is a word of the translation, a column a word of the source; cells show the weight in per cent and, under the "
        'pointer, exactly. <span class="sure">Framed</span>: a sure gold link; <span class="possible">dashed</span>: a possible '
        "one.</p>"
    )
    return "<h2>Attention</h2>\n" + legend + "\n" + "\n".join(map(_heatmap, maps))


def _heatmap(heatmap: Heatmap) -> str:
    head = "".join(f'<th scope="col">{_words(word)}</th>' for word in heatmap.source)
    rows = [
        f'<tr><th scope="row">{_words(word)}</th>'
        + "".join(_weight(heatmap, source, target) for source in range(len(heatmap.source)))
        + "</tr>"
        for target, word in enumerate(heatmap.target)
    ]
    caption = f"<caption>{_text(heatmap.title)}</caption><tr><td></td>{head}</tr>\n"
    return f'<div><table class="heat">{caption}' + "\n".join(rows) + "\n</table></div>"


def _weight(heatmap: Heatmap, source: int, target: int) -> str:
    weight = heatmap.weights[target][source]
    shade = min(SHADES - 1, round(weight * (SHADES - 1)))
    link, mark = "", ""
    if (source, target) in heatmap.sure:
        link, mark = ", sure link", " sure"
    elif (source, target) in heatmap.possible:
        link, mark = ", possible link", " possible"
    title = _text(f"{heatmap.target[target]} ← {heatmap.source[source]}: {weight:.6f}{link}")
    shown = f"{100 * weight:.0f}" if weight >= 0.005 else ""
    return f'<td class="w{shade}{mark}" title="{title}">{shown}</td>'


def _recipes(report: EvaluationReport, notes: dict[str, int]) -> str:
    items = "".join(f'<li id="recipe-{number}"><code>{_text(recipe)}</code></li>' for recipe, number in notes.items())
    how = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in report.recipe)
    return f"<h2>How the numbers were made</h2>\n<ol>{items}</ol>\n<dl>{how}</dl>"


def _words(text: str) -> str:
    """Words of any language: their direction must not turn what stands beside them."""
    return f"<bdi>{_text(text)}</bdi>"


def _text(text: str) -> str:
    return html.escape(printable(text))
