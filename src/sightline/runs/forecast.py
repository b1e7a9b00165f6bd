"""How long will this training take on this machine? Asked before it begins, of a copy of the model; or of what it did so far."""

from __future__ import annotations

import copy
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from torch import nn

from sightline.tasks.interface import Task
from sightline.train.config import RunConfig, TrainConfig
from sightline.train.loop import Loop
from sightline.train.ranks import Ranks

SECONDS = 4.0  # of rehearsal, and a little more: an update that has begun is made
SHARE = 10  # a rehearsal takes at most one part in so many of a run …
FEWEST = 5  # … which must be so many updates
WARM = 2  # of them are slower than the others and do not count, where there are others
LOOKED_AT = 200  # batches whose tokens stand for all


@dataclass(frozen=True, slots=True)
class Pace:
    """What was seen, of a run or of its rehearsal."""

    tokens: float  # target tokens a second, of all processes together
    seconds: float  # of an update, with what belongs to it
    done: int = 0  # updates
    spent: float = 0.0  # seconds


def forecast(
    model: nn.Module, task: Task, config: RunConfig, precision: Literal["fp32", "bf16"], metrics: Path, ranks: Ranks
) -> str:
    """A sentence for the user, "" where there is nothing to say. All processes ask together."""
    began, *seen = ranks.from_leader(_so_far(metrics) if ranks.leads else [False])
    if began and not seen:
        return ""
    pace = Pace(*seen) if began else rehearse(model, task, config, precision, ranks)
    return "" if pace is None else told(pace, config.train, _updates(config.train, task))


def rehearse(model: nn.Module, task: Task, config: RunConfig, precision: Literal["fp32", "bf16"], ranks: Ranks) -> Pace | None:
    """The pace of the first updates, made on a copy that is thrown away; None where the run is too short to ask."""
    train = config.train
    most, seconds = _updates(train, task) // SHARE, SECONDS
    if train.max_minutes is not None:
        seconds = min(seconds, 60 * train.max_minutes / SHARE)
    if most < FEWEST:
        return None
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(copy.deepcopy(model), task, config, precision, Path(folder), _judge, _quiet, lambda _: _quiet, ranks)
        made = loop.rehearse(seconds, most)
    if not made:
        return None
    made = made[min(WARM, len(made) - 1) :]
    tokens = sum(count for count, _ in made) / sum(seconds for _, seconds in made)
    return Pace(tokens, _usual_tokens(task) / tokens)


def _judge(model: nn.Module) -> dict[str, float]:
    """A rehearsal ends before anybody judges."""
    return {}


def _quiet(*_: object) -> None:
    """And nobody keeps or tells anything."""


def _so_far(metrics: Path) -> list[float]:
    """Whether there was training in this folder, and its pace, where that can be told and there is more to come."""
    lines = _events(metrics)
    steps = [line for line in lines if line["event"] == "stepped"]
    if not lines or not (steps or lines[-1]["event"] == "finished"):
        return [False]
    if not steps or (lines[-1]["event"] == "finished" and lines[-1]["reason"] != "interrupted"):
        return [True]
    last = steps[-1]
    tokens = float(np.median([line["tokens_per_second"] for line in steps]))
    return [True, tokens, last["seconds"] / last["update"], last["update"], last["seconds"]]


def _events(metrics: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl; the last one may have been cut short by a kill."""
    found = []
    for line in metrics.read_text(encoding="utf-8").splitlines() if metrics.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found


def _updates(train: TrainConfig, task: Task) -> int:
    """How many a run may make."""
    return train.max_updates if train.max_epochs is None else min(train.max_updates, train.max_epochs * task.batches(0))


def _usual_tokens(task: Task) -> float:
    """Of a batch."""
    some = range(min(task.batches(0), LOOKED_AT))
    return sum(task.tokens(task.rows(0, index)) for index in some) / len(some)


def told(pace: Pace, train: TrainConfig, updates: int) -> str:
    """The forecast in words."""
    left = updates - pace.done
    if left <= 0:
        return ""
    seconds = left * pace.seconds
    where = f"{left:,} updates" if not pace.done else f"the {left:,} updates left"
    text = f"about {pace.tokens:,.0f} tokens/s {'so far' if pace.done else 'here'}: {in_words(seconds)} for {where}"
    if not pace.done:
        text += ", validations besides"
    if train.max_minutes is not None and (limit := 60 * train.max_minutes - pace.spent) < seconds:
        text += f" (at most {in_words(max(0.0, limit))} by train.max_minutes)"
    return text + ("; early stopping may end it sooner" if train.patience else "")


def in_words(seconds: float) -> str:
    """45 s, 12 min, 1 h 12 min, 3 days 4 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} days {hours % 24} h"
