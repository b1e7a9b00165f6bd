"""Threads that share out an update: each computes the gradient of its own sentences, and they meet once, to add them.

Threads inside an operation meet at the end of each of a thousand short ones, and wait. These wait for each other once, which is
faster and minds another program on the machine less. They are the ranks of one process, without an exchange between processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import torch
from torch import Tensor

T = TypeVar("T")
Gradients = Sequence[Tensor | None]
MOST = 4  # Python's own part of the work is done by one of them at a time


class Crew:
    """So many threads; a crew of one works where it is called."""

    def __init__(self, size: int) -> None:
        self.size, self.threads = size, torch.get_num_threads()
        self.pool = ThreadPoolExecutor(size) if size > 1 else None

    @staticmethod
    def fitting(device: torch.device, world: int) -> Crew:
        """A card works in parallel by itself, and several processes have shared out the work already."""
        alone = device.type == "cpu" and world == 1
        return Crew(min(torch.get_num_threads(), MOST) if alone else 1)

    def gradients(self, work: Callable[[T], tuple[float, Gradients]], shares: Sequence[T]) -> list[tuple[float, Gradients]]:
        """What `work` makes of each share, in their order: a loss and gradients."""
        if self.pool is None:
            return [work(share) for share in shares]

        def alone(place: int, share: T) -> tuple[float, Gradients]:
            each, more = divmod(self.threads, self.size)
            torch.set_num_threads(max(1, each + (place < more)))  # of the thread that says so
            return work(share)

        asked = [self.pool.submit(alone, place, share) for place, share in enumerate(shares)]
        wait(asked)  # all of them, even if one has failed: what they set belongs partly to the whole process
        torch.set_num_threads(self.threads)
        return [each.result() for each in asked]

    def close(self) -> None:
        """The threads end."""
        if self.pool is not None:
            self.pool.shutdown()


def add_gradients(parameters: Sequence[Tensor], several: Sequence[Gradients]) -> None:
    """Add to the gradients that the parameters have; always in this order, so that sums are rounded alike in every run."""
    for gradients in several:
        there = [(p, g) for p, g in zip(parameters, gradients, strict=True) if g is not None]
        sums = [(p.grad, g) for p, g in there if p.grad is not None]
        if sums:
            torch._foreach_add_([before for before, _ in sums], [g for _, g in sums])
        for parameter, gradient in there:
            if parameter.grad is None:
                parameter.grad = gradient.contiguous()  # the fused optimiser does not look at strides
