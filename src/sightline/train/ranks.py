"""One process or several. Everything here is PyTorch's own engine; started by `torchrun`, a run finds its peers by itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

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
        """What the leading process holds, made of what JSON can say: PyTorch's own way to send values is pickle."""
        if self.world == 1:
            return value
        said = bytearray(json.dumps(value).encode())
        (size,) = self.total(float(len(said)) if self.leads else 0.0)
        letters = torch.frombuffer(said, dtype=torch.uint8) if self.leads else torch.empty(int(size), dtype=torch.uint8)
        dist.broadcast(letters, 0)
        heard: T = json.loads(letters.numpy().tobytes())
        return heard

    def tensors_from_leader(self, named: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The tensors that the leading process holds, in memory beside the processor; what the others give is not looked at."""
        if self.world == 1:
            return dict(named)
        told = self.from_leader({name: (str(each.dtype).removeprefix("torch."), each.shape) for name, each in named.items()})
        got = {}
        for name, (dtype, shape) in told.items():
            got[name] = named[name].contiguous() if self.leads else torch.empty(shape, dtype=getattr(torch, dtype))
            dist.broadcast(got[name].view(-1).view(torch.uint8), 0)  # as bytes, which every engine can send
        return got


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
