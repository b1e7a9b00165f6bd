"""The loop: next batch, loss, gradient, step; now and then validate, keep the best, save.

What a run computes is a function of its config and data alone: the order of batches and the numbers dropout draws are
functions of (seed, epoch, update, sample), so a run that was stopped anywhere ends with the same weights.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from torch import nn

from sightline.errors import UserError
from sightline.models.seq2seq import parameter_count
from sightline.tasks.interface import Task
from sightline.train.average import Snapshots
from sightline.train.checkpoint import Checkpoints, Meter, Progress, everything, from_leader, read, restore
from sightline.train.config import RunConfig
from sightline.train.events import Event, Finished, Listener, Skipped, Started, Stepped, Validated
from sightline.train.gradient import Gradient
from sightline.train.optimiser import make_optimiser, make_schedule
from sightline.train.ranks import Ranks
from sightline.train.signals import StopWish

SKIPS_IN_A_ROW = 20  # then the run is sick, not the batch
Judge = Callable[[nn.Module], Mapping[str, float]]
Keeper = Callable[[nn.Module, Mapping[str, float], int], None]


class Loop:
    """One run. `judge` gives a model's figures, `keep` writes the best one down, `tell` gives who hears what happens.

    Of several processes only the leading one calls them.
    """

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
        self.model, self.task, self.config = model, task, config
        self.judge, self.keep, self.ranks = judge, keep, ranks
        self.device = next(model.parameters()).device
        self.optimiser = make_optimiser(model, config.optimiser)
        self.rate = make_schedule(config.optimiser, config.model.dim, config.train.max_updates)
        self.ema = copy.deepcopy(model) if config.train.ema else None
        self.checkpoints = Checkpoints(folder / "checkpoints")
        self.snapshots = Snapshots(folder / "snapshots", config.train.average)
        self.progress = self._resume(precision)
        self.listener = tell(self.progress) if ranks.leads else None
        self.gradient = Gradient(model, task, config.seed, config.train.accumulate, ranks)
        self.lapped = time.monotonic()

    def _resume(self, precision: Literal["fp32", "bf16"]) -> Progress:
        """Where the newest checkpoint stands, everything put back as it was there. The leading process alone needs the disk."""
        data = self._one_data()
        found = self.checkpoints.latest() if self.ranks.leads else None
        saved = from_leader(read(found) if found else None, self.ranks)
        progress = Progress(precision=self.ranks.from_leader(precision), data=data)
        if saved is None:
            return progress
        if saved.progress.data != data:
            raise UserError(
                f"{self.checkpoints.folder.parent}: the data in this folder is not what this run began with; put the text it was "
                "prepared from back as it was, or choose another folder to begin anew"
            )
        restore(saved, self.model, self.optimiser, self.ema)
        return saved.progress if self.config.train.precision == "auto" else replace(saved.progress, precision=precision)

    def _one_data(self) -> str:
        """The fingerprint of the data; all processes must have the same, or else all of them say so and leave."""
        own, ranks = self.task.fingerprint, self.ranks
        differs = own != ranks.from_leader(own)
        astray = ranks.total(*(float(differs and rank == ranks.rank) for rank in range(ranks.world)))
        if any(astray):
            who = ", ".join(str(rank) for rank, one in enumerate(astray) if one)
            raise UserError(
                f"rank {who}: the data there is not that of rank 0; give all machines the same files and the same version, "
                "and remove the run's data/ where it differs, so that it is prepared anew"
            )
        return own

    def run(self) -> str:
        """Until a limit is reached or somebody asks to leave: the reason. A finished run whose limit was raised goes on."""
        train, saved = self.config.train, time.monotonic()
        if self.progress.finished and (reason := self._reason_to_stop()):
            self._tell(Finished(self.progress.update, reason, self.progress.seconds))
            return reason
        self.progress, self.lapped = replace(self.progress, finished=""), saved
        self._tell_start()
        with StopWish() as wish:
            while not (reason := self._reason_to_stop()):
                wanted = self._update(wish)
                self._report()
                due = self.progress.update % train.validate_every == 0
                if due:
                    self._validate()
                if due or time.monotonic() - saved > 60 * train.checkpoint_minutes:
                    self._save()
                    saved = time.monotonic()
                if wanted:
                    break
            return self._end(reason or "interrupted")

    def rehearse(self, seconds: float, most: int) -> list[tuple[int, float]]:
        """Make updates for about so long, at most so many, and tell nobody: the target tokens and the seconds of each.

        Of a loop on a copy of a model, this says how fast the one on the model itself will be.
        """
        wish, made, begin = StopWish(), list[tuple[int, float]](), time.monotonic()
        while len(made) < most and self.ranks.from_leader(time.monotonic() - begin < seconds):
            tokens, before = self.progress.meter.tokens, time.monotonic()
            self._update(wish)
            made.append((self.progress.meter.tokens - tokens, time.monotonic() - before))
        return made

    def _tell_start(self) -> None:
        now, damaged = self.progress, tuple(self.checkpoints.damaged)
        numbers = parameter_count(self.model)
        self._tell(Started(now.update, self.config.train.max_updates, numbers, now.precision, self.ranks.world, damaged))

    def _tell(self, event: Event) -> None:
        if self.listener is not None:
            self.listener(event)
        self.progress = replace(self.progress, events=self.progress.events + 1)

    def _lap(self) -> float:
        """The seconds since the last lap; all of them count as training."""
        before, self.lapped = self.lapped, time.monotonic()
        self.progress = replace(self.progress, seconds=self.progress.seconds + self.lapped - before)
        return self.lapped - before

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

    def _update(self, wish: StopWish) -> bool:
        """One step, or none if it is not finite. True when some process was asked to stop."""
        epoch, update = self.progress.epoch, self.progress.update
        rows = self.task.rows(epoch, self.progress.index)
        tokens = self.task.tokens(rows)
        self.optimiser.zero_grad(set_to_none=True)
        own = self.gradient.add(rows, epoch, update, tokens, self.progress.precision)
        loss, stops = self.ranks.total(own / tokens, float(wish.wanted))
        gradient = self._clipped_norm()
        self.progress = self.progress.stepped(self.task.batches(epoch))
        meter = replace(self.progress.meter, tokens=self.progress.meter.tokens + tokens)
        if math.isfinite(loss) and math.isfinite(gradient):
            self._step()
            meter = replace(meter, loss=meter.loss + loss, gradient=meter.gradient + gradient, updates=meter.updates + 1)
            self.progress = replace(self.progress, skipped=0, meter=meter)
        else:
            self.progress = replace(self.progress, skipped=self.progress.skipped + 1, meter=meter)
            self._tell_skip(rows, epoch, update, loss, gradient)
        return stops > 0

    def _clipped_norm(self) -> float:
        """The norm of the gradient, which is cut to the limit; one within it is not touched."""
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        norm = nn.utils.get_total_norm(gradients)
        limit = self.config.optimiser.clip
        if limit and norm > limit:
            nn.utils.clip_grads_with_norm_(self.model.parameters(), limit, norm)
        return float(norm)

    def _step(self) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate(self.progress.update)
        self.optimiser.step()
        if self.ema is not None:
            decay = self.config.train.ema
            for mean, now in zip(self.ema.parameters(), self.model.parameters(), strict=True):
                mean.data.lerp_(now.data, 1 - decay)

    def _tell_skip(self, rows: NDArray[np.int64], epoch: int, update: int, loss: float, gradient: float) -> None:
        """A non-finite update never reaches the weights; say which lines it comes from."""
        guilty = [i for i in rows if not self.gradient.is_finite(i, epoch, update, self.progress.precision)]
        origins = tuple(self.task.origins(np.array(guilty or rows)))
        self._tell(Skipped(self.progress.update, loss, gradient, origins))
        if self.progress.skipped >= SKIPS_IN_A_ROW:
            raise UserError(
                f"{SKIPS_IN_A_ROW} updates in a row were not finite, the last from {origins[0]}; "
                "start again with train.precision=fp32, or in another folder with a lower optimiser.learning_rate"
            )

    def _report(self) -> None:
        """Every so often, the means since the last report."""
        meter = self.progress.meter
        meter = replace(meter, seconds=meter.seconds + self._lap())
        self.progress = now = replace(self.progress, meter=meter)
        if now.update % self.config.train.log_every or not meter.updates:
            return
        epoch = now.epoch + now.index / self.task.batches(now.epoch)
        loss, gradient = meter.loss / meter.updates, meter.gradient / meter.updates
        speed = meter.tokens / meter.seconds
        self.progress = replace(now, meter=Meter())
        self._tell(Stepped(now.update, epoch, loss, self.rate(now.update), gradient, speed, now.seconds))

    def _validate(self) -> None:
        candidate = self.model if self.ema is None else self.ema
        before, update = self.progress.snapshots, self.progress.update
        after = self.snapshots.after(before, update)
        if self.ranks.leads:
            self.snapshots.keep(candidate, update)
            self.snapshots.drop_all_but(*before, *after)
        self.progress = replace(self.progress, snapshots=after)
        self._judge(candidate)

    def _judge(self, candidate: nn.Module, averaged: int = 0) -> None:
        """Is this the best so far? Then it is the model."""
        figures = self.ranks.from_leader(dict(self.judge(candidate)) if self.ranks.leads else {})
        name, now = self.config.train.judge, self.progress
        figure = -figures["loss"] if name == "loss" else figures[name]
        better = math.isfinite(figure) and (now.best is None or figure > now.best)
        if better and self.ranks.leads:
            self.keep(candidate, figures, now.update)
        if better:
            self.progress = replace(now, best=figure, since_best=0)
        else:
            self.progress = replace(now, since_best=now.since_best + 1)
        self._lap()
        self._tell(Validated(now.update, figures, better, self.progress.seconds, averaged))

    def _save(self) -> None:
        if self.ranks.leads:
            self.checkpoints.save(self.progress, everything(self.model, self.optimiser, self.ema))
        self._lap()

    def _end(self, reason: str) -> str:
        if reason != "interrupted":
            self._judge_last()
            self.progress = replace(self.progress, finished=reason)
        self._lap()
        self._save()
        self.ranks.wait()
        self._tell(Finished(self.progress.update, reason, self.progress.seconds))
        return reason

    def _judge_last(self) -> None:
        """The last weights, and the mean of the last validated ones.

        Should the run go on under a higher limit, these count neither against its patience nor among its snapshots: it comes
        to the weights of a run with that limit from the start.
        """
        before = self.progress
        if before.update % self.config.train.validate_every:
            self._validate()
        kept = self.progress.snapshots
        if len(kept) > 1:
            # Only the leading process has the snapshots on its disk, and it alone judges.
            self._judge(self.snapshots.mean(self.model, kept) if self.ranks.leads else self.model, len(kept))
        since = min(before.since_best, self.progress.since_best)
        self.progress = replace(self.progress, snapshots=before.snapshots, since_best=since)
