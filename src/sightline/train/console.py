"""A run on the screen: a progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from sightline.train.config import RunConfig, TrainConfig
from sightline.train.events import Event, Finished, Listener, Skipped, Started, Stepped, Validated

NAMED = 3  # lines that a report of a skipped update names
METRICS = {"loss": "loss {:.2f}", "bleu": "BLEU {:.1f}", "chrf": "chrF {:.1f}"}


@contextmanager
def console(config: RunConfig, stream: TextIO | None = None) -> Iterator[Listener]:
    """A listener that shows events on standard error, or on another stream; leaving it takes the bar off the screen."""
    stream = sys.stderr if stream is None else stream
    screen = Console(file=stream, highlight=False, markup=False)
    if not screen.is_terminal or screen.is_dumb_terminal:
        yield Lines(config.train, stream)
        return
    bar = Bar(config.train, screen)
    with bar.progress:
        yield bar


class Lines:
    """Every event as a line."""

    def __init__(self, train: TrainConfig, stream: TextIO) -> None:
        self.train, self.stream = train, stream

    def __call__(self, event: Event) -> None:
        print(told(event, self.train), file=self.stream, flush=True)


class Bar:
    """Steps move a bar with the last validation beside it; what stays true is printed above."""

    def __init__(self, train: TrainConfig, screen: Console) -> None:
        self.train = train
        columns = (
            BarColumn(bar_width=None),
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[last]}", markup=False),
        )
        self.progress = Progress(*columns, console=screen, transient=True, auto_refresh=False, redirect_stdout=False, expand=True)
        self.task = self.progress.add_task("starting", total=1.0, last="")

    def __call__(self, event: Event) -> None:
        match event:
            case Stepped():
                self.progress.update(self.task, completed=done(event, self.train), description=told(event, self.train))
            case Validated():
                self.progress.update(self.task, last=_figure(self.train.judge, event.metrics))
                self.progress.console.print(told(event, self.train))
            case Finished():
                self.progress.console.print(told(event, self.train))
                self.progress.stop()
            case _:
                self.progress.console.print(told(event, self.train))
        self.progress.refresh()


def told(event: Event, train: TrainConfig) -> str:
    """An event in words."""
    match event:
        case Started():
            return _started(event)
        case Stepped():
            speed, left = f"{event.tokens_per_second:,.0f} tokens/s", duration(seconds_left(event, train))
            return f"update {event.update:,}/{train.max_updates:,}  loss {event.loss:.2f}  {speed}  ETA {left}"
        case Validated():
            what = (
                f"validated at {event.update:,}" if not event.averaged else f"mean of the last {event.averaged} validated weights"
            )
            return f"{what}: {_figures(event)}" + ("  (best so far)" if event.best else "")
        case Skipped():
            more = len(event.origins) - NAMED
            lines = ", ".join(event.origins[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
            figures = f"loss {event.loss:.4g}, gradient {event.gradient:.4g}"
            return f"update {event.update:,} was not finite ({figures}) and changed nothing; it comes from {lines}"
        case Finished(reason="interrupted"):
            return f"stopped at update {event.update:,}, all saved; the same command goes on from there"
        case Finished():
            return f"finished at update {event.update:,} after {duration(event.seconds)}: {event.reason}"


def _started(event: Started) -> str:
    processes = "1 process" if event.world == 1 else f"{event.world} processes"
    begin = "training" if event.update == 0 else f"going on after update {event.update:,}"
    passed = "".join(f"\ncheckpoint {name} is damaged and was passed over" for name in event.damaged)
    return f"{begin}: {event.parameters:,} parameters, {event.precision}, {processes}{passed}"


def _figures(event: Validated) -> str:
    return "  ".join(_figure(name, event.metrics) for name in event.metrics)


def _figure(name: str, metrics: dict[str, float]) -> str:
    return METRICS.get(name, f"{name} {{:.4g}}").format(metrics[name])


def seconds_left(event: Stepped, train: TrainConfig) -> float:
    """Until the first of the limits, at the pace of the run so far. Stopping early is not foreseen."""
    limits = [(train.max_updates - event.update) * event.seconds / event.update]
    if train.max_epochs is not None:
        limits.append((train.max_epochs - event.epoch) * event.seconds / event.epoch)
    if train.max_minutes is not None:
        limits.append(60 * train.max_minutes - event.seconds)
    return max(0.0, min(limits))


def done(event: Stepped, train: TrainConfig) -> float:
    """The share of the run's time that has passed."""
    return event.seconds / (event.seconds + seconds_left(event, train))


def duration(seconds: float) -> str:
    """4:10, or 1:04:10."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
