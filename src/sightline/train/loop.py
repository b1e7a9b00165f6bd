"""The loop: next batch, loss, gradient, step; now and then validate, keep the best, save.

What a run computes is a function of its config and data alone: the order of batches and the numbers dropout draws are
functions of (seed, epoch, update, sample), so a run that was stopped anywhere ends with the same weights.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from sightline.data.batches import share
from sightline.errors import UserError
from sightline.models.seq2seq import parameter_count
from sightline.nn.noise import Noise
from sightline.tasks.interface import Task
from sightline.train.average import Snapshots
from sightline.train.checkpoint import Checkpoints, Progress, everything, restore
from sightline.train.config import RunConfig
from sightline.train.events import Finished, Listener, Skipped, Started, Stepped, Validated
from sightline.train.optimiser import make_optimiser, make_schedule
from sightline.train.precision import products_in
from sightline.train.ranks import Ranks
from sightline.train.signals import StopWish

SKIPS_IN_A_ROW = 20  # then the run is sick, not the batch
Judge = Callable[[nn.Module], Mapping[str, float]]
Keeper = Callable[[nn.Module, Mapping[str, float], int], None]


class Objective(nn.Module):
    """Model and task as one module, so that a distributed wrapper sees one forward pass from rows to loss."""

    def __init__(self, model: nn.Module, task: Task) -> None:
        super().__init__()
        self.model, self.task = model, task

    def forward(self, rows: NDArray[np.int64], epoch: int, noise: Noise | None) -> Tensor:
        if len(rows) == 0:  # fewer sentences than processes: take part in the exchange with a gradient of zero
            return torch.stack([p.sum() for p in self.model.parameters()]).sum() * 0.0
        return self.task.loss(self.model, rows, epoch, noise)


@dataclass(slots=True)
class Meter:
    """What happened since the last report."""

    loss: float = 0.0
    gradient: float = 0.0
    updates: int = 0
    tokens: int = 0
    seconds: float = 0.0


class Loop:
    """One run. `judge` gives a model's figures, `keep` writes the best one down, `tell` hears what happens."""

    def __init__(
        self,
        model: nn.Module,
        task: Task,
        config: RunConfig,
        precision: Literal["fp32", "bf16"],
        folder: Path,
        judge: Judge,
        keep: Keeper,
        tell: Callable[[Progress], Listener],
        ranks: Ranks,
    ) -> None:
        self.model, self.task, self.config, self.precision = model, task, config, precision
        self.judge, self.keep, self.ranks = judge, keep, ranks
        self.device = next(model.parameters()).device
        self.optimiser = make_optimiser(model, config.optimiser)
        self.rate = make_schedule(config.optimiser, config.model.dim, config.train.max_updates)
        self.ema = copy.deepcopy(model) if config.train.ema else None
        self.checkpoints = Checkpoints(folder / "checkpoints")
        self.snapshots = Snapshots(folder / "snapshots", config.train.average)
        found = self.checkpoints.latest()
        self.progress = Progress() if found is None else restore(found, model, self.optimiser, self.ema)
        self.tell = tell(self.progress)
        objective = Objective(model, task)
        self.objective = DistributedDataParallel(objective) if ranks.world > 1 else objective
        self.meter = Meter()

    def run(self) -> str:
        """Until a limit is reached or somebody asks to leave. Returns the reason."""
        if self.progress.finished:
            return self.progress.finished
        train, saved = self.config.train, time.monotonic()
        parameters = parameter_count(self.model)
        damaged = tuple(self.checkpoints.damaged)
        self.tell(Started(self.progress.update, train.max_updates, parameters, self.precision, self.ranks.world, damaged))
        with StopWish() as wish:
            while not (reason := self._reason_to_stop()):
                begun = time.monotonic()
                wanted = self._update(wish.wanted)
                self._count(time.monotonic() - begun)
                due = self.progress.update % train.validate_every == 0
                if due:
                    self._validate()
                if due or time.monotonic() - saved > 60 * train.checkpoint_minutes:
                    self._save()
                    saved = time.monotonic()
                if wanted:
                    break
        return self._end(reason or "interrupted")

    def _reason_to_stop(self) -> str:
        train, now = self.config.train, self.progress
        if now.update >= train.max_updates:
            return f"{train.max_updates:,} updates"
        if train.max_epochs is not None and now.epoch >= train.max_epochs:
            return f"{train.max_epochs:,} epochs"
        if train.patience and now.since_best >= train.patience:
            return f"no better model in {train.patience} validations"
        if train.max_minutes is not None and self._leader_seconds() >= 60 * train.max_minutes:
            return f"{train.max_minutes:g} minutes"
        return ""

    def _leader_seconds(self) -> float:
        """All processes must agree on when time is up, so that one clock counts."""
        return self.ranks.total(self.progress.seconds if self.ranks.leads else 0.0)[0]

    def _update(self, stop: bool) -> bool:
        """One step, or none if it is not finite. True when some process was asked to stop."""
        epoch, update = self.progress.epoch, self.progress.update
        rows = self.task.rows(epoch, self.progress.index)
        tokens = self.task.tokens(rows)
        self.optimiser.zero_grad(set_to_none=True)
        own = self._gradients(rows, epoch, update, tokens)
        loss, stops = self.ranks.total(own / tokens, float(stop))
        gradient = self._clipped_norm()
        self.progress = self.progress.stepped(self.task.batches(epoch))
        if math.isfinite(loss) and math.isfinite(gradient):
            self._step()
            self.progress = replace(self.progress, skipped=0)
            self.meter.loss += loss
            self.meter.gradient += gradient
            self.meter.updates += 1
        else:
            self._skip(rows, epoch, update, loss, gradient)
        self.meter.tokens += tokens
        return stops > 0

    def _gradients(self, rows: NDArray[np.int64], epoch: int, update: int, tokens: int) -> float:
        """Gradients of the mean over the tokens of all processes and parts. Returns this process's summed loss."""
        parts, world, total = self.config.train.accumulate, self.ranks.world, 0.0
        for part in range(parts):
            mine = share(rows, self.ranks.rank, world, part, parts)
            with self._exchange_only(at_last=part == parts - 1):
                loss = self._loss(self.objective, mine, epoch, update)
                (loss * (world / tokens)).backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        return total

    def _loss(self, objective: nn.Module, rows: NDArray[np.int64], epoch: int, update: int) -> Tensor:
        noise = Noise.of(self.config.seed, update, torch.from_numpy(rows).to(self.device))
        with products_in(self.precision, self.device):
            loss: Tensor = objective(rows, epoch, noise)
        return loss

    def _exchange_only(self, at_last: bool) -> AbstractContextManager[object]:
        """Processes exchange gradients once per update."""
        if isinstance(self.objective, DistributedDataParallel) and not at_last:
            return self.objective.no_sync()
        return nullcontext()

    def _clipped_norm(self) -> float:
        limit = self.config.optimiser.clip or math.inf
        return float(nn.utils.clip_grad_norm_(self.model.parameters(), limit))

    def _step(self) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate(self.progress.update)
        self.optimiser.step()
        if self.ema is not None:
            decay = self.config.train.ema
            for mean, now in zip(self.ema.parameters(), self.model.parameters(), strict=True):
                mean.data.lerp_(now.data, 1 - decay)

    def _skip(self, rows: NDArray[np.int64], epoch: int, update: int, loss: float, gradient: float) -> None:
        """A non-finite update never reaches the weights; say which lines it comes from."""
        self.progress = replace(self.progress, skipped=self.progress.skipped + 1)
        objective = Objective(self.model, self.task)
        with torch.no_grad():
            guilty = [i for i in rows if not math.isfinite(float(self._loss(objective, np.array([i]), epoch, update)))]
        origins = tuple(self.task.origins(np.array(guilty or rows)))
        self.tell(Skipped(self.progress.update, loss, gradient, origins))
        if self.progress.skipped >= SKIPS_IN_A_ROW:
            raise UserError(
                f"{SKIPS_IN_A_ROW} updates in a row were not finite, the last from {origins[0]}; "
                "lower optimiser.learning_rate or set train.precision=fp32 and start the same command again"
            )

    def _count(self, seconds: float) -> None:
        self.progress = replace(self.progress, seconds=self.progress.seconds + seconds)
        self.meter.seconds += seconds
        meter, now = self.meter, self.progress
        if now.update % self.config.train.log_every or not meter.updates:
            return
        epoch = now.epoch + now.index / self.task.batches(now.epoch)
        loss, gradient = meter.loss / meter.updates, meter.gradient / meter.updates
        speed = meter.tokens / meter.seconds
        self.tell(Stepped(now.update, epoch, loss, self.rate(now.update), gradient, speed, now.seconds))
        self.meter = Meter()

    def _validate(self) -> None:
        candidate = self.model if self.ema is None else self.ema
        if self.ranks.leads:
            self.snapshots.keep(candidate, self.progress.update)
        self.progress = replace(self.progress, snapshots=self.snapshots.after(self.progress.snapshots, self.progress.update))
        self._judge(candidate)

    def _judge(self, candidate: nn.Module) -> None:
        """Is this the best so far? Then it is the model."""
        begun = time.monotonic()
        figures = self.ranks.from_leader(dict(self.judge(candidate)) if self.ranks.leads else None)
        assert isinstance(figures, dict)
        name = self.config.train.judge
        figure = -figures["loss"] if name == "loss" else figures[name]
        better = self.progress.best is None or figure > self.progress.best
        seconds = self.progress.seconds + time.monotonic() - begun
        if better:
            if self.ranks.leads:
                self.keep(candidate, figures, self.progress.update)
            self.progress = replace(self.progress, best=figure, best_update=self.progress.update, since_best=0)
        else:
            self.progress = replace(self.progress, since_best=self.progress.since_best + 1)
        self.progress = replace(self.progress, seconds=seconds)
        self.tell(Validated(self.progress.update, figures, better, seconds))

    def _save(self) -> None:
        if self.ranks.leads:
            self.checkpoints.save(self.progress, everything(self.model, self.optimiser, self.ema))

    def _end(self, reason: str) -> str:
        if reason != "interrupted":
            if self.progress.update % self.config.train.validate_every:
                self._validate()
            if self.snapshots.count > 1 and len(self.progress.snapshots) > 1:
                # Only the leading process has the snapshots on its disk, and it alone judges.
                self._judge(self.snapshots.mean(self.model, self.progress.snapshots) if self.ranks.leads else self.model)
            self.progress = replace(self.progress, finished=reason)
        self._save()
        self.ranks.wait()
        self.tell(Finished(self.progress.update, reason, self.progress.seconds))
        return reason
