"""Timing several ways of doing one thing side by side: they take turns, so that a slow minute of the machine hits all alike."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle of several measurements, and their ends."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))

    def text(self, digits: int = 0) -> str:
        """1,234 [1,200 – 1,290]"""
        return f"{self.median:,.{digits}f} [{self.low:,.{digits}f} – {self.high:,.{digits}f}]"


def interleaved(jobs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """The seconds of every job in every round; each has had a turn before that is not counted."""
    for job in jobs.values():
        job()
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(rounds):
        names = list(jobs)
        for name in names[number % len(names) :] + names[: number % len(names)]:  # nobody always comes after the same one
            taken[name].append(seconds_of(jobs[name]))
    return taken


def seconds_of(job: Callable[[], object]) -> float:
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def ratio(before: Sequence[float], after: Sequence[float]) -> Spread:
    """How many times as fast the second is, round by round."""
    return Spread.of([one / other for one, other in zip(before, after, strict=True)])


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that so large a share does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * share - 1e-9) - 1)]
