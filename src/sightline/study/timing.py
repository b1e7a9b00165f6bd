"""Timing several ways of doing one thing side by side: they take turns, so that a slow minute of the machine hits all alike."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

MOST_TIMES = 50  # that a short job is done in a turn


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


def interleaved(jobs: Mapping[str, Callable[[], object]], rounds: int, shortest: float = 0.0) -> dict[str, list[float]]:
    """The seconds of every job in every round; each has had turns before that are not counted.

    A job that takes less than `shortest` seconds is done so often in each turn that it does not; its seconds are of one time.
    """
    times: dict[str, int] = {}
    for name, job in jobs.items():
        job()
        times[name] = max(1, min(MOST_TIMES, round(shortest / max(seconds_of(job), 1e-9)))) if shortest else 1
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(rounds):
        names = list(jobs)
        for name in names[number % len(names) :] + names[: number % len(names)]:  # nobody always comes after the same one
            taken[name].append(seconds_of(partial(_often, jobs[name], times[name])) / times[name])
    return taken


def _often(job: Callable[[], object], times: int) -> None:
    for _ in range(times):
        job()


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
