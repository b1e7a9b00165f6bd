"""One process or several. Everything here is PyTorch's own engine; started by `torchrun`, a run finds its peers by itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist

T = TypeVar("T")

PATIENCE = timedelta(days=1)  # the others wait while one prepares a large corpus, or translates to validate


@dataclass(frozen=True, slots=True)
class Ranks:
    """Which of how many processes this is."""

    rank: int = 0
    world: int = 1

    @property
    def leads(self) -> bool:
        """True in the one process that writes and prints."""
        return self.rank == 0

    @property
    def first_here(self) -> bool:
        """True in one process of each machine."""
        return self.world == 1 or os.environ.get("LOCAL_RANK", "0") == "0"

    def total(self, *values: float) -> list[float]:
        """Each value, summed over all processes."""
        if self.world == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(tensor)
        return [float(value) for value in tensor]

    def wait(self) -> None:
        """Until all processes have come here."""
        self.total(0.0)

    def from_leader(self, value: T) -> T:
        """What the leading process holds."""
        if self.world == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, device=torch.device("cpu"))
        return box[0]


@contextmanager
def joined() -> Iterator[Ranks]:
    """The processes that `torchrun` started, joined: tensors on a card over NCCL, all else over gloo. Or this one alone."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield Ranks()
        return
    engine = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() and dist.is_nccl_available() else "gloo"
    dist.init_process_group(engine, timeout=PATIENCE)
    try:
        ranks = Ranks(dist.get_rank(), dist.get_world_size())
        yield ranks
        ranks.wait()  # who leaves first would close connections that others still use
    finally:
        dist.destroy_process_group()
