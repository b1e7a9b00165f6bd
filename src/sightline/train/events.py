"""What happened in a run, as values. Who wants to know is handed them; the loop prints nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias


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


class JsonLines:
    """Every event as a line of `metrics.jsonl`. Lines beyond where a resumed run stands are taken back first."""

    def __init__(self, path: Path, update: int) -> None:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept = [line for line in lines if _is_before(line, update)]
        path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
        self.file = path.open("a", encoding="utf-8")

    def __call__(self, event: Event) -> None:
        self.file.write(json.dumps({"event": type(event).__name__.lower(), **asdict(event)}) + "\n")
        self.file.flush()


def _is_before(line: str, update: int) -> bool:
    try:
        record = json.loads(line)
    except ValueError:  # a line that a kill cut short
        return False
    return int(record["update"]) <= update and record["event"] != "finished"


class TensorBoard:
    """Losses and metrics for TensorBoard."""

    def __init__(self, folder: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(str(folder))  # type: ignore[no-untyped-call]

    def __call__(self, event: Event) -> None:
        match event:
            case Stepped():
                for name in ("loss", "learning_rate", "gradient", "tokens_per_second"):
                    self.writer.add_scalar(f"train/{name}", getattr(event, name), event.update)  # type: ignore[no-untyped-call]
            case Validated():
                for name, value in event.metrics.items():
                    self.writer.add_scalar(f"valid/{name}", value, event.update)  # type: ignore[no-untyped-call]
            case Finished():
                self.writer.close()  # type: ignore[no-untyped-call]
            case _:
                pass
