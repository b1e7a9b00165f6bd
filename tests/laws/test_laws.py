"""Every row passes every law that applies to it."""

from __future__ import annotations

import pytest
from laws.cases import CASES, Case
from laws.table import LAWS, Law


def _cells() -> list[object]:
    """Those that apply, with the lessons that take long set apart."""
    return [
        pytest.param(
            law, case, id=f"{law.name}: {case.name}", marks=[pytest.mark.slow] if law.teaches and case.lesson == "slow" else []
        )
        for law in LAWS
        for case in CASES
        if law.exempts(case) is None
    ]


@pytest.mark.parametrize(("law", "case"), _cells())
def test_row_passes_law(law: Law, case: Case) -> None:
    deviation = law.deviation(case)
    assert deviation <= law.tolerance, f"{case.name}: {law.words}; off by {deviation}"
