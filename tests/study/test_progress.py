"""How far the work is: lines now and then, or a bar on a terminal."""

from __future__ import annotations

import io

import pytest

from sightline.study import progress as module
from sightline.study.progress import progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_line_every_ten_seconds_and_one_at_the_end(clock: list[float]) -> None:
    said: list[str] = []
    with progress("done", 1000, 200, said.append, io.StringIO()) as move:
        for _ in range(8):
            clock[0] += 4.0
            move(100)
    assert said == ["done 500/1,000  25/s  ETA 0:20", "done 800/1,000  25/s  ETA 0:08", "done 1,000/1,000  25/s"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    terminal, said = Terminal(), list[str]()
    with progress("done", 100, 0, said.append, terminal) as move:
        clock[0] = 5.0
        move(50)
        assert "done 50/100  10/s  ETA 0:05" in terminal.getvalue()
        assert not said
        move(50)
    assert said == ["done 100/100  20/s"]
