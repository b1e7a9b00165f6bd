"""How far a long piece of work is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from sightline.train.console import duration

Tell = Callable[[str], None]
EVERY = 10.0  # seconds between two lines


@contextmanager
def progress(what: str, total: int, done: int, tell: Tell, stream: TextIO | None = None) -> Iterator[Callable[[int], None]]:
    """Inside, call what is given with how many more are done. `done` were before: they do not count as fast."""
    pace = _Pace(what, total, done)
    screen = Console(file=sys.stderr if stream is None else stream, highlight=False, markup=False)
    if not screen.is_terminal or screen.is_dumb_terminal:
        yield _lines(pace, tell)
        return
    columns = BarColumn(bar_width=None), TextColumn("{task.description}", markup=False)
    bar = Progress(*columns, console=screen, transient=True, auto_refresh=False, redirect_stdout=False, expand=True)
    task = bar.add_task(what, total=total, completed=done)

    def move(more: int) -> None:
        pace.add(more)
        bar.update(task, completed=pace.done, description=pace.text())
        bar.refresh()

    with bar:
        yield move
    tell(pace.text())


class _Pace:
    """Counts, and how fast they grow."""

    def __init__(self, what: str, total: int, done: int) -> None:
        self.what, self.total, self.done, self.before = what, total, done, done
        self.begin = time.monotonic()

    def add(self, more: int) -> None:
        self.done += more

    def text(self) -> str:
        rate = (self.done - self.before) / max(time.monotonic() - self.begin, 1e-9)
        left = f"  ETA {duration((self.total - self.done) / rate)}" if rate and self.done < self.total else ""
        return f"{self.what} {self.done:,}/{self.total:,}  {rate:,.0f}/s{left}"


def _lines(pace: _Pace, tell: Tell) -> Callable[[int], None]:
    last = [pace.begin]

    def move(more: int) -> None:
        pace.add(more)
        if time.monotonic() - last[0] >= EVERY or pace.done == pace.total:
            last[0] = time.monotonic()
            tell(pace.text())

    return move
