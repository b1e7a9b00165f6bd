"""What happened in a run, as values. Who wants to know is handed them; the loop prints nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

from sightline.text.files import write_whole, writing
from sightline.train.checkpoint import MAKE_ROOM, Progress


@dataclass(frozen=True, slots=True)
class Started:
    """The loop begins, or goes on."""

    update: int
    max_updates: int
    parameters: int
    precision: str
    world: int
    damaged: tuple[str, ...] = ()  # checkpoints that were passed over


@dataclass(frozen=True, slots=True)
class Stepped:
    """Some updates were made; figures are means since the last such event."""

    update: int
    epoch: float
    loss: float  # per token
    learning_rate: float
    gradient: float  # its norm, before clipping
    tokens_per_second: float  # target tokens
    seconds: float  # of training so far


@dataclass(frozen=True, slots=True)
class Validated:
    """The model was judged."""

    update: int
    metrics: dict[str, float]
    best: bool
    seconds: float
    averaged: int = 0  # the mean of the weights of so many validations was judged; 0: the weights of this update


@dataclass(frozen=True, slots=True)
class Skipped:
    """An update was not finite and left the weights alone."""

    update: int
    loss: float
    gradient: float
    origins: tuple[str, ...]  # the lines that cause it on their own; all of the batch's where none does


@dataclass(frozen=True, slots=True)
class Finished:
    """The loop is over."""

    update: int
    reason: str
    seconds: float


Event: TypeAlias = Started | Stepped | Validated | Skipped | Finished
Listener: TypeAlias = Callable[[Event], None]


def both(*listeners: Listener) -> Listener:
    """One listener that tells several."""

    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return tell


class JsonLines:
    """Every event as a line of `metrics.jsonl`. Lines beyond where a resumed run stands are taken back first."""

    def __init__(self, path: Path, progress: Progress) -> None:
        self.path = path
        with writing(f"{path}: could not be written anew", MAKE_ROOM):
            lines = path.read_bytes().split(b"\n")[: progress.events] if path.exists() else []
            write_whole(path, b"".join(line + b"\n" for line in lines if line))

    def __call__(self, event: Event) -> None:
        record = {"event": type(event).__name__.lower(), **{name: _plain(value) for name, value in asdict(event).items()}}
        with writing(f"{self.path}: a line could not be added", MAKE_ROOM), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, allow_nan=False) + "\n")


def _plain(value: object) -> object:
    """JSON knows no number that is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return {key: _plain(each) for key, each in value.items()} if isinstance(value, dict) else value


class TensorBoard:
    """Losses and metrics for TensorBoard, which hides what lies beyond where a resumed run stands."""

    def __init__(self, folder: Path, progress: Progress) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(str(folder), purge_step=progress.update + 1)

    def __call__(self, event: Event) -> None:
        match event:
            case Stepped():
                for name in ("loss", "learning_rate", "gradient", "tokens_per_second"):
                    self.writer.add_scalar(f"train/{name}", getattr(event, name), event.update)
            case Validated():
                for name, value in event.metrics.items():
                    self.writer.add_scalar(f"valid/{name}", value, event.update)
            case Finished():
                self.writer.close()
            case _:
                pass
