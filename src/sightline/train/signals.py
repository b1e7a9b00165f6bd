"""Ctrl-C and SIGTERM as a wish to leave, granted between two updates."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType

ECHO = 1.0  # seconds: under `torchrun` one Ctrl-C comes twice, from the terminal and from the launcher that passes it on


class StopWish:
    """While entered, the first signal sets `wanted`; a second one does what it always does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.wanted = False
        self._clock, self._heard = clock, 0.0
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> StopWish:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        self._give_back()

    def _hear(self, number: int, frame: FrameType | None) -> None:
        now = self._clock()
        if not self.wanted:
            self.wanted, self._heard = True, now
        elif now - self._heard > ECHO:
            self._give_back()
            signal.raise_signal(number)

    def _give_back(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before = {}
