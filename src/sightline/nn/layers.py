"""Feed-forward, residual connection, embedding, output layer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from sightline.nn.linear import LayerNorm, Linear
from sightline.nn.noise import Dropout, Noise

ActivationName: TypeAlias = Literal["relu", "gelu", "gelu_tanh", "swish"]
NormOrder: TypeAlias = Literal["pre", "post"]


def activate(name: ActivationName, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The non-linearity of this name."""
    match name:
        case "relu":
            return F.relu(x)
        case "gelu":
            return F.gelu(x)
        case "gelu_tanh":
            return F.gelu(x, approximate="tanh")
        case "swish":
            return F.silu(x)


class FeedForward(nn.Module):
    """Every position on its own through a wider layer and back."""

    def __init__(self, dim: int, hidden: int, activation: ActivationName = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        self.wide, self.back = Linear(dim, hidden), Linear(hidden, dim)
        self.activation, self.dropout = activation, Dropout(dropout)

    def forward(self, x: Float[Tensor, "B T D"], noise: Noise | None) -> Float[Tensor, "B T D"]:
        relu = self.activation == "relu"
        inside = self.wide(x, relu=relu)
        out: Tensor = self.back(self.dropout(inside if relu else activate(self.activation, inside), noise))
        return out


class Residual(nn.Module):
    """x + f(x) with its norm: after the sum as published (post), or on the way into f (pre)."""

    def __init__(self, dim: int, dropout: float, order: NormOrder) -> None:
        super().__init__()
        self.norm, self.dropout, self.order = LayerNorm(dim), Dropout(dropout), order

    def forward(self, x: Float[Tensor, "B T D"], f: Callable[[Tensor], Tensor], noise: Noise | None) -> Float[Tensor, "B T D"]:
        pre = self.order == "pre"
        total = self.dropout.add(x, f(self.norm(x, into_products=True) if pre else x), noise)
        return total if pre else self.norm(total)


class Embedding(nn.Module):
    """A vector per token, times √dim where the recipe says so (it balances embeddings against positions)."""

    def __init__(self, vocabulary: int, dim: int, scaled: bool = False) -> None:
        super().__init__()
        self.table, self.scale = nn.Embedding(vocabulary, dim), math.sqrt(dim) if scaled else 1.0

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        vectors: Tensor = self.table(tokens)
        return vectors * self.scale


class OutputLayer(nn.Module):
    """From features to logits over the vocabulary; its weight may be an embedding's."""

    def __init__(self, dim: int, vocabulary: int, weight: nn.Parameter | None = None) -> None:
        super().__init__()
        self.project = nn.Linear(dim, vocabulary, bias=False)
        if weight is not None:
            self.project.weight = weight

    @property
    def weight(self) -> Float[Tensor, "V D"]:
        """A row per word."""
        return self.project.weight

    def forward(self, features: Float[Tensor, "*rows D"]) -> Float[Tensor, "*rows V"]:
        logits: Tensor = self.project(features)
        return logits
