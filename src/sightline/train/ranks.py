"""One process or several. Everything here is PyTorch's own engine; started by `torchrun`, a run finds its peers by itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True, slots=True)
class Ranks:
    """Which of how many processes this is."""

    rank: int = 0
    world: int = 1

    @property
    def leads(self) -> bool:
        """True in the one process that writes and prints."""
        return self.rank == 0

    def total(self, *values: float) -> list[float]:
        """Each value, summed over all processes."""
        if self.world == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64, device="cuda" if dist.get_backend() == "nccl" else "cpu")
        dist.all_reduce(tensor)
        return [float(value) for value in tensor]

    def wait(self) -> None:
        """Until all processes have come here."""
        if self.world > 1:
            dist.barrier()

    def from_leader(self, value: object) -> object:
        """What the leading process holds."""
        if self.world == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box)
        return box[0]


@contextmanager
def joined() -> Iterator[Ranks]:
    """The processes that `torchrun` started, joined over gloo; or this one alone."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield Ranks()
        return
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield Ranks(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
