"""The gradient of an update, whoever computes it: this thread, a crew of threads, or several processes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from sightline.data.batches import share
from sightline.nn.noise import Noise
from sightline.tasks.interface import Task
from sightline.train.crew import Crew, Gradients, add_gradients
from sightline.train.precision import products_in
from sightline.train.ranks import Ranks

Rows = NDArray[np.int64]


class Objective(nn.Module):
    """Model and task as one module, so that a distributed wrapper sees one forward pass from rows to loss."""

    def __init__(self, model: nn.Module, task: Task) -> None:
        super().__init__()
        self.model, self.task = model, task

    def forward(self, rows: Rows, epoch: int, noise: Noise | None) -> Tensor:
        if len(rows) == 0:  # fewer sentences than processes: take part in the exchange with a gradient of zero
            return torch.stack([p.sum() for p in self.model.parameters()]).sum() * 0.0
        return self.task.loss(self.model, rows, epoch, noise)


class Gradient:
    """Of the mean over the tokens of all processes, threads and parts of an update."""

    def __init__(self, model: nn.Module, task: Task, seed: int, parts: int, ranks: Ranks) -> None:
        self.task, self.seed, self.parts, self.ranks = task, seed, parts, ranks
        self.objective = Objective(model, task)
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.device = self.parameters[0].device
        self.crew = Crew.fitting(self.device, ranks.world)
        self.shared = self._shared() if ranks.world > 1 else None

    def _shared(self) -> DistributedDataParallel:
        """The objective whose gradients are those of all processes."""
        wrapped = DistributedDataParallel(self.objective)
        # PyTorch arranges the gradients anew after its first exchange, and sums are rounded by that arrangement. An exchange
        # of nothing settles it, so that the first update after a restart is rounded like any other.
        wrapped(np.empty(0, np.int64), 0, None).backward()
        return wrapped

    def add(self, rows: Rows, epoch: int, update: int, tokens: int, precision: str) -> float:
        """Add the gradient of this update to the parameters. Returns this process's summed loss."""
        total = 0.0
        for part in range(self.parts):
            mine = share(rows, self.ranks.rank, self.ranks.world, part, self.parts)
            if self.shared is None:
                total += self._add_alone(mine, epoch, update, tokens, precision)
            else:
                with self._exchange_only(at_last=part == self.parts - 1):
                    loss = self.loss(self.shared, mine, epoch, update, precision)
                    # DistributedDataParallel takes the mean over processes; times `world`, that is the sum.
                    (loss * (self.ranks.world / tokens)).backward()  # type: ignore[no-untyped-call]
                total += float(loss.detach())
        return total

    def _add_alone(self, rows: Rows, epoch: int, update: int, tokens: int, precision: str) -> float:
        def work(some: Rows) -> tuple[float, Gradients]:
            loss = self.loss(self.objective, some, epoch, update, precision)
            return float(loss.detach()), torch.autograd.grad(loss * (1 / tokens), self.parameters, allow_unused=True)

        found = self.crew.gradients(work, self.task.shares(rows, self.crew.size))
        add_gradients(self.parameters, [gradients for _, gradients in found])
        return sum(loss for loss, _ in found)

    def loss(self, objective: nn.Module, rows: Rows, epoch: int, update: int, precision: str) -> Tensor:
        """Of these samples, summed over their tokens."""
        noise = Noise.of(self.seed, update, torch.from_numpy(rows).to(self.device))
        with products_in(precision, self.device):
            loss: Tensor = objective(rows, epoch, noise)
        return loss

    def is_finite(self, row: int, epoch: int, update: int, precision: str) -> bool:
        """Are this sample's loss and its gradient finite on their own?"""
        loss = self.loss(self.objective, np.array([row]), epoch, update, precision)
        gradients = torch.autograd.grad(loss, self.parameters, allow_unused=True)
        return all(bool(tensor.isfinite().all()) for tensor in (loss, *gradients) if tensor is not None)

    def _exchange_only(self, at_last: bool) -> AbstractContextManager[object]:
        """Processes exchange gradients once per update."""
        return nullcontext() if at_last or self.shared is None else self.shared.no_sync()
