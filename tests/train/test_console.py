"""What a user sees of a run: words, and a bar on a terminal."""

from __future__ import annotations

import io
import math

import pytest

from sightline.train.config import RunConfig, TrainConfig
from sightline.train.console import console, done, duration, seconds_left, told
from sightline.train.events import Event, Finished, Skipped, Started, Stepped, Validated

TRAIN = TrainConfig(max_updates=8000)
STEPPED = Stepped(1200, 2.5, 2.314, 1e-3, 0.7, 12345.4, 44.1)
VALIDATED = Validated(2000, {"loss": 1.916, "bleu": 31.24, "chrf": 55.0, "other": 0.123456}, True, 100.0)
WORDS: list[tuple[Event, str]] = [
    (Started(0, 8000, 1234567, "bf16", 1), "training: 1,234,567 parameters, bf16, 1 process"),
    (
        Started(1200, 8000, 10, "fp32", 2, ("000000007-0",)),
        "going on after update 1,200: 10 parameters, fp32, 2 processes\ncheckpoint 000000007-0 is damaged and was passed over",
    ),
    (STEPPED, "update 1,200/8,000  loss 2.31  12,345 tokens/s  ETA 4:10"),
    (VALIDATED, "validated at 2,000: loss 1.92  BLEU 31.2  chrF 55.0  other 0.1235  (best so far)"),
    (Validated(2000, {"loss": 2.0}, False, 1.0, 5), "mean of the last 5 validated weights: loss 2.00"),
    (
        Skipped(17, math.nan, math.inf, ("a.tsv:3", "a.tsv:9")),
        "update 17 was not finite (loss nan, gradient inf) and changed nothing; it comes from a.tsv:3, a.tsv:9",
    ),
    (
        Skipped(17, 1.0, math.inf, tuple(f"a:{line}" for line in range(1, 1004))),
        "update 17 was not finite (loss 1, gradient inf) and changed nothing; it comes from a:1, a:2, a:3 and 1,000 more",
    ),
    (Finished(8000, "8,000 updates", 3850.0), "finished at update 8,000 after 1:04:10: 8,000 updates"),
    (Finished(1300, "interrupted", 50.0), "stopped at update 1,300, all saved; the same command goes on from there"),
]


@pytest.mark.parametrize(("event", "words"), WORDS)
def test_events_in_words(event: Event, words: str) -> None:
    assert told(event, TRAIN) == words


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    return Terminal()


def test_plain_lines_where_there_is_no_terminal(terminal: Terminal) -> None:
    stream = io.StringIO()
    with console(RunConfig(train=TRAIN), stream) as tell:
        for event, _ in WORDS:
            tell(event)
    assert stream.getvalue() == "".join(f"{words}\n" for _, words in WORDS)


def test_plain_lines_on_a_terminal_that_cannot_move_its_cursor(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with console(RunConfig(train=TRAIN), terminal) as tell:
        tell(STEPPED)
    assert terminal.getvalue() == told(STEPPED, TRAIN) + "\n"


def test_standard_error_unless_told_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    with console(RunConfig(train=TRAIN)) as tell:
        tell(STEPPED)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == told(STEPPED, TRAIN) + "\n"


def test_a_bar_with_loss_speed_eta_and_the_last_validation(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with console(RunConfig(train=TRAIN), terminal) as tell:
        tell(Started(0, 8000, 10, "fp32", 1))
        tell(VALIDATED)
        before = len(terminal.getvalue())
        tell(STEPPED)
        drawn = terminal.getvalue()[before:]
        assert told(STEPPED, TRAIN) in drawn
        assert "loss 1.92" in drawn
        assert "━" in drawn or "╸" in drawn
    assert f"{told(VALIDATED, TRAIN)}" in terminal.getvalue()


def test_standard_output_stays_for_results(terminal: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    with console(RunConfig(train=TRAIN), terminal) as tell:
        tell(STEPPED)
        print("a result")
    assert capsys.readouterr().out == "a result\n"
    assert "a result" not in terminal.getvalue()


HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def test_the_cursor_comes_back_when_the_run_is_over(terminal: Terminal) -> None:
    with console(RunConfig(train=TRAIN), terminal) as tell:
        tell(STEPPED)
        tell(Finished(8000, "8,000 updates", 100.0))
        assert terminal.getvalue().count(SHOW) == terminal.getvalue().count(HIDE) == 1
    assert "finished at update 8,000" in terminal.getvalue()
    assert terminal.getvalue().count(SHOW) == 1


def test_the_cursor_comes_back_when_the_run_fails(terminal: Terminal) -> None:
    def fail() -> None:
        with console(RunConfig(train=TRAIN), terminal) as tell:
            tell(STEPPED)
            raise RuntimeError("a fault of the run")

    with pytest.raises(RuntimeError, match="a fault of the run"):
        fail()
    assert HIDE in terminal.getvalue()
    assert terminal.getvalue().count(SHOW) == 1


@pytest.mark.parametrize(
    ("train", "left"),
    [
        (TrainConfig(max_updates=200), 100.0),  # 100 updates took 100 seconds
        (TrainConfig(max_updates=200, max_epochs=3), 50.0),  # and they were two epochs
        (TrainConfig(max_updates=200, max_epochs=3, max_minutes=2), 20.0),
        (TrainConfig(max_updates=110, max_epochs=3, max_minutes=2), 10.0),
        (TrainConfig(max_updates=200, max_minutes=1), 0.0),  # the last update went over it
    ],
)
def test_the_first_limit_decides_what_is_left(train: TrainConfig, left: float) -> None:
    event = Stepped(100, 2.0, 1.0, 1e-3, 1.0, 1.0, 100.0)
    assert seconds_left(event, train) == pytest.approx(left)
    assert done(event, train) == pytest.approx(100 / (100 + left))


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0, 59.6, 250, 3600)] == ["0:00", "1:00", "4:10", "1:00:00"]
