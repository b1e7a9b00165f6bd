"""From measured points to curves, each beside what the mathematics demands of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bench.growth import demand
from bench.growth.points import SEVERAL, Point

NOISE = 1.25  # a step that costs less than this many times what is demanded is as demanded
BENT = 1.5  # times more memory in the last step than in one before it: not a line any more
ENOUGH = 64e6  # bytes: what grows by less says nothing
BEAMS = {"beam1": 1, "beam5": 5}


@dataclass(frozen=True, slots=True)
class Curve:
    """How one figure goes with one size."""

    kind: str  # of work: train, decode, prepare, order
    axis: str
    series: str  # "", or which of several curves in one picture
    figure: Literal["rate", "memory"]
    at: tuple[int, ...]
    measured: tuple[float, ...]
    demanded: tuple[float, ...]  # through the first point
    worse: float  # how many times more the growth costs than demanded

    @property
    def grows_worse(self) -> bool:
        """Beyond what a noisy machine explains; memory on a line that is only steeper does not."""
        if self.figure == "rate":
            return self.worse > NOISE
        grown, flat = self.measured[-1] - self.measured[0], self.demanded[-1] <= self.demanded[0]
        return grown > ENOUGH and demand.bends(list(self.demanded), list(self.measured)) > (NOISE if flat else BENT)

    @classmethod
    def of(cls, name: str, part: Mapping[str, Any]) -> list[Curve]:
        """All curves of one axis."""
        kind, axis = name.split()
        if axis == SEVERAL:
            return []
        told = [one for one in part["points"] if "trouble" not in one]
        found = []
        for series in BEAMS if kind == "decode" else ("",):
            rows = [(Point(**one["point"]), one[series] if series else one) for one in told]
            if len(rows) > 1:
                found += [cls._rate(kind, axis, series, rows), cls._memory(kind, axis, series, rows)]
        return found

    @classmethod
    def _rate(cls, kind: str, axis: str, series: str, rows: list[tuple[Point, Any]]) -> Curve:
        rates = [one["rate"] for _, one in rows]
        costs = [demand.cost(point, BEAMS.get(series, 1)) for point, _ in rows]
        demanded = tuple(rates[0] * costs[0] / cost for cost in costs)
        return cls(kind, axis, series, "rate", _places(axis, rows), tuple(rates), demanded, demand.worse(costs, rates))

    @classmethod
    def _memory(cls, kind: str, axis: str, series: str, rows: list[tuple[Point, Any]]) -> Curve:
        taken = [one["memory"] for _, one in rows]
        needed = [demand.memory(point, BEAMS.get(series, 1)) for point, _ in rows]
        demanded = tuple(taken[0] - needed[0] + one for one in needed)
        return cls(kind, axis, series, "memory", _places(axis, rows), tuple(taken), demanded, demand.growth(needed, taken))


def _places(axis: str, rows: list[tuple[Point, Any]]) -> tuple[int, ...]:
    return tuple(point.key[axis] for point, _ in rows)
