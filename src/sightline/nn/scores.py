"""How well a query fits a key. A score is any callable (B H T d), (B H S d) -> (B H T S).

A score that transforms its keys says so with a method `keys`: that part is done once per sentence, not once per step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

Score: TypeAlias = Callable[[Tensor, Tensor], Tensor]
ScoreName: TypeAlias = Literal["dot", "scaled_dot", "bilinear", "additive"]


@runtime_checkable
class PreparesKeys(Protocol):
    """A score whose keys are transformed once, before any query comes."""

    def keys(self, k: Float[Tensor, "B H S d"]) -> Float[Tensor, "B H S d"]: ...


def dot(q: Float[Tensor, "B H T d"], k: Float[Tensor, "B H S d"]) -> Float[Tensor, "B H T S"]:
    """q·k (Luong et al. 2015)."""
    return q @ k.transpose(-1, -2)


def scaled_dot(q: Float[Tensor, "B H T d"], k: Float[Tensor, "B H S d"]) -> Float[Tensor, "B H T S"]:
    """q·k / √d: unit variance whatever d is (Vaswani et al. 2017)."""
    return dot(q, k) / math.sqrt(q.size(-1))


class Bilinear(nn.Module):
    """qᵀWk ("general", Luong et al. 2015)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Linear(dim, dim, bias=False)

    def keys(self, k: Float[Tensor, "B H S d"]) -> Float[Tensor, "B H S d"]:
        """Wk."""
        prepared: Tensor = self.weight(k)
        return prepared

    def forward(self, q: Float[Tensor, "B H T d"], k: Float[Tensor, "B H S d"]) -> Float[Tensor, "B H T S"]:
        return dot(q, k)


class Additive(nn.Module):
    """vᵀtanh(Wq + Uk) (Bahdanau et al. 2015)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim, bias=False)
        self.energy = nn.Linear(dim, 1, bias=False)

    def keys(self, k: Float[Tensor, "B H S d"]) -> Float[Tensor, "B H S d"]:
        """Uk."""
        prepared: Tensor = self.key(k)
        return prepared

    def forward(self, q: Float[Tensor, "B H T d"], k: Float[Tensor, "B H S d"]) -> Float[Tensor, "B H T S"]:
        pairs = torch.tanh(self.query(q).unsqueeze(-2) + k.unsqueeze(-3))
        energies: Tensor = self.energy(pairs)
        return energies.squeeze(-1)


def make_score(name: ScoreName, dim: int) -> Score:
    """The score of this name for queries and keys of `dim` channels."""
    match name:
        case "dot":
            return dot
        case "scaled_dot":
            return scaled_dot
        case "bilinear":
            return Bilinear(dim)
        case "additive":
            return Additive(dim)
