"""Ctrl-C and SIGTERM: the first is a wish, the second does what it always does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tiny_run import Run, configured, fingerprint

from sightline.train.signals import ECHO, StopWish

SIGNALS = [signal.SIGINT, signal.SIGTERM]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_is_a_wish_and_afterwards_all_is_as_before(number: signal.Signals) -> None:
    before = {each: signal.getsignal(each) for each in SIGNALS}
    with StopWish() as wish:
        assert not wish.wanted
        signal.raise_signal(number)
        assert wish.wanted
    assert {each: signal.getsignal(each) for each in SIGNALS} == before


def test_the_second_does_what_it_always_does() -> None:
    clock = Clock()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin without it

    def twice() -> None:
        signal.raise_signal(signal.SIGINT)
        clock.now += ECHO + 0.1
        signal.raise_signal(signal.SIGINT)

    try:
        with StopWish(clock), pytest.raises(KeyboardInterrupt):
            twice()
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_echo_of_a_launcher_is_not_a_second_one() -> None:
    clock = Clock()
    with StopWish(clock) as wish:
        signal.raise_signal(signal.SIGINT)
        clock.now += 0.2
        signal.raise_signal(signal.SIGTERM)
        assert wish.wanted


def test_a_thread_that_may_not_listen_does_not() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def enter() -> None:
        with StopWish() as wish:
            seen.extend((wish.wanted, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [False, before]


def test_a_wish_that_comes_while_the_end_is_judged_does_not_lose_it(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(max_updates=5))
    judge = run.loop.judge
    run.loop.judge = lambda model: signal.raise_signal(signal.SIGTERM) or judge(model)  # type: ignore[func-returns-value]
    assert run.go() == "5 updates"
    assert Run(tmp_path / "run").loop.progress.finished == "5 updates"


def test_the_echo_that_comes_while_a_wish_is_granted_does_not_stop_the_saving(tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    rows, save = run.task.rows, run.loop._save
    run.task.rows = lambda epoch, index: signal.raise_signal(signal.SIGTERM) or rows(epoch, index)  # type: ignore[method-assign,func-returns-value]
    run.loop._save = lambda: signal.raise_signal(signal.SIGTERM) or save()  # type: ignore[method-assign,func-returns-value]
    assert run.go() == "interrupted"
    assert Run(tmp_path / "run").loop.progress.update == 1


WORKER = """
import sys
from pathlib import Path
from tiny_run import Run, configured, fingerprint
from sightline.train.events import Stepped

def said(event):
    if isinstance(event, Stepped):
        print(event.update, flush=True)
        sys.stdin.readline()  # go on when told, so that the signal comes between known updates

run = Run(Path(sys.argv[1]), configured(max_updates=16), also_tell=said)
print(run.go(), run.loop.progress.update, fingerprint(run.loop.model))
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_process_that_is_asked_to_leave_saves_and_leaves(number: signal.Signals, tmp_path: Path) -> None:
    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WORKER, str(tmp_path / "run")]
        paths = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=paths)

    with start() as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "4\n"
        process.send_signal(number)
        rest, _ = process.communicate("\n", timeout=60)
        assert process.returncode == 0
        assert rest.split()[:2] == ["interrupted", "5"]
    with start() as process:
        rest, _ = process.communicate("\n" * 9, timeout=60)
        assert process.returncode == 0
    assert rest.split("\n")[0] == "8"
    whole = Run(tmp_path / "whole", configured(max_updates=16))
    whole.go()
    assert rest.split()[-1] == fingerprint(whole.loop.model)
