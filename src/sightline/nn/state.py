"""The two nouns that flow: what an encoder hands over, and all that a decoder remembers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from sightline.nn.noise import Noise

Tree: TypeAlias = Tensor | tuple[Any, ...] | None  # of trees again, which a checker at run time cannot be told


class Memory(NamedTuple):
    """What an encoder hands over."""

    states: Float[Tensor, "B S D"]
    mask: Bool[Tensor, "B S"]  # True where there is a token
    summary: Float[Tensor, "B D"]  # last state, or the masked mean

    def rows(self, index: Int[Tensor, " N"]) -> Memory:
        """The memories of some sentences."""
        return Memory(self.states[index], self.mask[index], self.summary[index])


def map_tensors(change: Callable[[Tensor], Tensor], tree: Tree) -> Tree:
    """The same tree with every tensor changed."""
    if isinstance(tree, Tensor):
        return change(tree)
    if isinstance(tree, tuple):
        return tuple(map_tensors(change, branch) for branch in tree)
    return tree


@dataclass(frozen=True, slots=True)
class State:
    """All that a decoder remembers. Batch is axis 0 of every tensor: that is the whole contract."""

    fixed: Tree = field(default=())  # from the source; the beams of one sentence share it, so it is never reordered
    live: Tree = field(default=())  # changes every step
    length: int = 0  # how many tokens it has read
    noise: Noise | None = None  # dropout's random numbers; None: no dropout

    def repeat(self, times: int) -> State:
        """Every sentence `times` over, its copies side by side: the start of a beam."""
        return self._map_both(lambda tensor: tensor.repeat_interleave(times, 0))

    def reorder(self, rows: Int[Tensor, " N"]) -> State:
        """Continue from other hypotheses of the same sentences."""
        return replace(self, live=map_tensors(lambda tensor: tensor[rows], self.live))

    def select(self, rows: Int[Tensor, " N"]) -> State:
        """Keep some rows only: finished sentences leave the batch."""
        return self._map_both(lambda tensor: tensor[rows])

    def _map_both(self, change: Callable[[Tensor], Tensor]) -> State:
        noise = None if self.noise is None else replace(self.noise, keys=change(self.noise.keys))
        return replace(self, fixed=map_tensors(change, self.fixed), live=map_tensors(change, self.live), noise=noise)


def masked_mean(states: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, "B D"]:
    """Mean over real tokens; a row without any gives zeros."""
    weight = mask.unsqueeze(-1).to(states.dtype)
    return (states * weight).sum(1) / weight.sum(1).clamp(min=1)


def last_state(states: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, "B D"]:
    """The state of every row's last real token."""
    last = (mask.sum(1) - 1).clamp(min=0)
    return states[torch.arange(len(states), device=states.device), last]
