"""The tables are whole: no cell without a law or a reason, no name twice, and the page shows what there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from laws.cases import CASES, case
from laws.faults import FAULTS
from laws.markdown import table
from laws.table import LAWS, law

PAGE = Path(__file__).parents[2] / "docs" / "laws.md"


def test_every_cell_is_a_law_or_a_reason() -> None:
    for each in LAWS:
        for row in CASES:
            reason = each.exempts(row)
            assert reason is None or len(reason.split()) > 3


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_an_exemption_without_a_reason_is_rejected(blank: str) -> None:
    lax = replace(law("stream"), unless=lambda row: blank)
    with pytest.raises(ValueError, match="without a reason"):
        lax.exempts(CASES[0])


def test_names_are_unlike() -> None:
    for names in ([row.name for row in CASES], [each.name for each in LAWS], [fault.name for fault in FAULTS]):
        assert len(set(names)) == len(names)


def test_every_law_applies_to_most_families() -> None:
    """An exemption that swallows whole families would make a law idle."""
    for each in LAWS:
        families = {row.name.split(",")[0].split(":")[0] for row in CASES if each.exempts(row) is None}
        assert families >= {"Transformer", "LSTM", "GRU"}, each.name


def test_faults_name_rows_and_laws_that_are_there() -> None:
    for fault in FAULTS:
        assert fault.caught_by
        for each in fault.laws:
            assert each.exempts(case(fault.row)) is None


def test_the_page_has_every_row_and_column() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    names = [each.name for each in LAWS]
    assert ["", *names] in cells
    assert ["", "row", *names] in cells
    body = {row[0]: row[1:] for row in cells}
    for row in CASES:
        assert len(body[row.name]) == len(LAWS), row.name
        assert all(body[row.name]), f"{row.name}: an empty cell"
        assert not any("**" in cell for cell in body[row.name]), f"{row.name}: a broken law on the page"
    for fault in FAULTS:
        marks = dict(zip(names, body[fault.name][1:], strict=True))
        assert {name for name, mark in marks.items() if mark == "●"} == set(fault.caught_by), fault.name
    for each in LAWS:
        assert body[each.name][0] == each.words
    known = {*names, *(row.name for row in CASES), *(fault.name for fault in FAULTS), "", "law", "---"}
    assert body.keys() <= known, f"on the page but not in the tables: {sorted(body.keys() - known)}"


def test_a_table_is_markdown() -> None:
    assert table(("", "a"), [("b", "c")]) == "|  | a |\n| --- | :-: |\n| b | c |\n"
