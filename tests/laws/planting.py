"""How a fault is planted: one name is replaced for the time of a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from laws.cases import Case, case
from laws.table import Law, law

Plant = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Fault:
    """A mistake that somebody could make, on a row where it matters, and laws that must catch it."""

    name: str
    row: str
    caught_by: tuple[str, ...]
    plant: Plant

    @property
    def case(self) -> Case:
        return case(self.row)

    @property
    def laws(self) -> tuple[Law, ...]:
        return tuple(law(name) for name in self.caught_by)


def catches(law: Law, case: Case) -> bool:
    """The row breaks this law, or breaks down on the way."""
    try:
        return not law.holds(case)
    except Exception:  # whatever a fault does to the code under it, it did not go unseen
        return True


def replaced(owner: object, name: str, wrong: object) -> Plant:
    """Put something wrong in the place of a function or method."""
    return lambda patch: patch.setattr(owner, name, wrong)


def several(*plants: Plant) -> Plant:
    """The same mistake in several places."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        for each in plants:
            each(patch)

    return plant
