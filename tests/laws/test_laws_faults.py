"""Every planted fault breaks the laws that are said to catch it, and with the fault taken out they hold again."""

from __future__ import annotations

from functools import cache

import pytest
from laws.cases import Case
from laws.faults import FAULTS
from laws.planting import Fault, catches
from laws.table import LAWS, Law, law


@cache
def unharmed(law: Law, case: Case) -> bool:
    """Without a fault the law holds; several faults ask this of the same row."""
    return law.holds(case)


@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.name) for fault in FAULTS])
def test_fault_is_caught(fault: Fault) -> None:
    laws = [law(name) for name in fault.caught_by]
    with pytest.MonkeyPatch.context() as patch:
        fault.plant(patch)
        missed = [each.name for each in laws if not catches(each, fault.case)]
    assert not missed, f"{fault.name}: goes unseen by {', '.join(missed)}"
    broken = [each.name for each in laws if not each.teaches and not unharmed(each, fault.case)]
    assert not broken, f"without the fault, {fault.row} breaks {', '.join(broken)} all the same"


@pytest.mark.parametrize("law", [pytest.param(law, id=law.name) for law in LAWS])
def test_law_catches_some_fault(law: Law) -> None:
    assert any(law.name in fault.caught_by for fault in FAULTS)
