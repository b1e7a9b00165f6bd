"""When each update ended, and how many target tokens it had: what every trainer here is measured by."""

from __future__ import annotations

import json
import os
import time
from typing import Any


class Clock:
    """One line for each update: seconds since the process was asked for, and tokens. Time inside `pause` does not count."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "w", encoding="utf-8")  # noqa: SIM115
        self.begin = float(os.environ.get("BENCH_BEGIN", time.time()))
        self.paused, self.path = 0.0, path

    def describe(self, model: Any) -> None:
        """How many numbers the model has to learn, a shared one counted once; written down the first time."""
        place = self.path + ".parameters"
        if not os.path.exists(place):
            with open(place, "w", encoding="utf-8") as file:
                file.write(str(sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)))

    def tick(self, tokens: int) -> None:
        self.file.write(json.dumps([time.time() - self.begin - self.paused, int(tokens)]) + "\n")
        self.file.flush()

    def pause(self, work: Any) -> None:
        """Do this, off the record."""
        before = time.time()
        work()
        self.paused += time.time() - before


def read_job(path: str) -> dict[str, Any]:
    """What to do: a JSON file."""
    with open(path, encoding="utf-8") as file:
        job: dict[str, Any] = json.load(file)
    return job
