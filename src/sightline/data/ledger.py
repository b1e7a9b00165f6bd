"""The books of a preparation: how much was read, what was dropped, and how fast it goes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeAlias, final

from sightline.data.clean import Audit
from sightline.data.pairs import BadLine

Tell: TypeAlias = Callable[[str], None]

TOLD = 5  # bad lines that are shown one by one
EVERY = 10.0  # seconds between two lines about progress


@final
class Ledger:
    """Counts what was read and dropped, and writes the audit as it comes."""

    def __init__(self, path: Path, tell: Tell) -> None:
        self.read = self.bad = 0
        self.dropped: Counter[str] = Counter()
        self._tell = tell
        self._file = path.open("x", encoding="utf-8", newline="\n")

    def add(self, read: int, bad: Sequence[BadLine], audit: Audit) -> None:
        """So much was read, some of it bad, and some was dropped."""
        for line in bad[: max(0, TOLD - self.bad)]:
            self._tell(f"skipped {line}")
        if self.bad <= TOLD < self.bad + len(bad):
            self._tell("further lines that cannot be read are only written down, in dropped.jsonl")
        self.read += read
        self.bad += len(bad)
        self.dropped.update(audit.counts)
        self._file.write(audit.text())

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()


@final
class Pace:
    """Says now and then how many there are and how fast they come."""

    def __init__(self, tell: Tell, what: str) -> None:
        self._tell, self._what = tell, what
        self._count, self._begin = 0, time.monotonic()
        self._last = self._begin

    def add(self, count: int) -> None:
        self._count += count
        if time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            self.end()

    def end(self) -> None:
        """Say it now."""
        rate = self._count / max(time.monotonic() - self._begin, 1e-9)
        self._tell(f"{self._what} {self._count:,} pairs ({rate:,.0f}/s)")
