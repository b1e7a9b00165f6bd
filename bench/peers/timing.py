"""Batches and single sentences against the clock: what every decoder here is measured by."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

WARM = 64  # sentences before the clock starts
Search = Callable[[Sequence[Any]], list[list[Any]]]


def batch(search: Search, sources: Sequence[Any], passes: int) -> dict[str, Any]:
    """All sentences at once, several times; the last result."""
    search(sources[: min(WARM, len(sources) // 4)])
    seconds = []
    for _ in range(passes):
        begin = time.perf_counter()
        found = search(sources)
        seconds.append(time.perf_counter() - begin)
    return {"seconds": seconds, "found": found}


def single(search: Search, sources: Sequence[Any]) -> dict[str, Any]:
    """One sentence after the other."""
    for source in sources[:8]:
        search([source])
    milliseconds, found = [], []
    for source in sources:
        begin = time.perf_counter()
        found += search([source])
        milliseconds.append(1000 * (time.perf_counter() - begin))
    return {"milliseconds": milliseconds, "found": found}


def measured(work: dict[str, Any], search: Search, sources: Sequence[Any]) -> dict[str, Any]:
    """What the job asks for."""
    some = sources[: work["sentences"]]
    return single(search, some) if work["single"] else batch(search, some, work["passes"])


def write(path: str, told: dict[str, Any]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(told, file)
