"""Attention is one function: score, mask, normalise, sum. Everything else here is plumbing around it."""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from sightline.nn import kernels
from sightline.nn.linear import Linear
from sightline.nn.noise import Dropout, Noise
from sightline.nn.normalisers import Normaliser, softmax
from sightline.nn.positions import NoPosition, Position
from sightline.nn.scores import PreparesKeys, Score, scaled_dot

AnyModule = TypeVar("AnyModule", bound=nn.Module)


def attend(
    q: Float[Tensor, "B H T d"],
    k: Float[Tensor, "B H S d"],
    v: Float[Tensor, "B H S e"],
    mask: Bool[Tensor, "#B #H #T S"] | None = None,
    bias: Float[Tensor, "#B H T S"] | None = None,
    score: Score = scaled_dot,
    normalise: Normaliser = softmax,
) -> tuple[Float[Tensor, "B H T e"], Float[Tensor, "B H T S"]]:
    """The definition. Returns the context and the weights; a query that may look nowhere gets zeros of both."""
    weights = attention_weights(q, k, mask, bias, score, normalise)
    return weights.to(v.dtype) @ v, weights


def attention_weights(
    q: Float[Tensor, "B H T d"],
    k: Float[Tensor, "B H S d"],
    mask: Bool[Tensor, "#B #H #T S"] | None,
    bias: Float[Tensor, "#B H T S"] | None,
    score: Score,
    normalise: Normaliser,
) -> Float[Tensor, "B H T S"]:
    """Who looks where."""
    scores = score(q, k)
    if bias is not None:
        scores = scores + bias
    if mask is None:
        return normalise(scores)
    # The lowest finite number instead of -inf: a row without any key stays free of NaN, forward and backward.
    weights = normalise(scores.masked_fill(~mask, torch.finfo(scores.dtype).min))
    return weights.masked_fill(~mask, 0.0)


class Attention(nn.Module):
    """`attend`, but fused where nobody watches and the mathematics allows it. Its only parameters are the score's."""

    notes: list[Tensor] | None = None  # set only on a twin made by `watch`

    def __init__(self, score: Score = scaled_dot, normalise: Normaliser = softmax, dropout: float = 0.0) -> None:
        super().__init__()
        self.score, self.normalise, self.dropout = score, normalise, Dropout(dropout)

    def keys(self, k: Float[Tensor, "B H S d"]) -> Float[Tensor, "B H S d"]:
        """What the score makes of the keys once per sentence."""
        return self.score.keys(k) if isinstance(self.score, PreparesKeys) else k

    def forward(
        self,
        q: Float[Tensor, "B H T d"],
        k: Float[Tensor, "B H S d"],
        v: Float[Tensor, "B H S e"],
        mask: Bool[Tensor, "#B #H #T S"] | None = None,
        bias: Float[Tensor, "#B H T S"] | None = None,
        noise: Noise | None = None,
    ) -> Float[Tensor, "B H T e"]:
        """The context. `k` has been through `keys`."""
        plain = self.score is scaled_dot and self.normalise is softmax and (noise is None or self.dropout.rate == 0)
        if plain and self.notes is None and bias is None and kernels.takes_attention(q, k, v, mask):
            return kernels.attention(q, k, v, mask)
        if plain and self.notes is None and not _fused_is_slow(q):
            return F.scaled_dot_product_attention(q, k, v, attn_mask=_joined(mask, bias, q.dtype))
        weights = attention_weights(q, k, mask, bias, self.score, self.normalise)
        if self.notes is not None:
            self.notes.append(weights)
        return self.dropout.weights(weights, noise).to(v.dtype) @ v


def _fused_is_slow(q: Tensor) -> bool:
    """The CPU kernel's backward pass in bf16 takes several times as long as plain products at a sentence's length."""
    return q.device.type == "cpu" and q.dtype == torch.bfloat16 and q.requires_grad


def _joined(mask: Tensor | None, bias: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """One argument for the fused kernel, which takes a boolean mask or an additive one."""
    if bias is None:
        return mask
    bias = bias.to(dtype)
    return bias if mask is None else bias.masked_fill(~mask, -torch.inf)


class MultiHead(nn.Module):
    """Several attentions side by side, each in its own projection of the states (Vaswani et al. 2017)."""

    def __init__(self, dim: int, heads: int, position: Position | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"{dim} channels cannot be shared by {heads} heads: the first must be a multiple of the second")
        self.query, self.key_value = Linear(dim, dim), Linear(dim, 2 * dim)
        self.output = Linear(dim, dim)
        self.attention = Attention(dropout=dropout)
        self.heads, self.position = heads, position if position is not None else NoPosition()

    def split(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T d"]:
        """(B, T, D) -> (B, H, T, D / H)."""
        return torch.unflatten(x, -1, (self.heads, -1)).transpose(1, 2)

    def keys(self, x: Float[Tensor, "B S D"], offset: int = 0) -> tuple[Float[Tensor, "B H S d"], Float[Tensor, "B H S d"]]:
        """Keys and values of these states, the first of which stands at `offset`."""
        k, v = self.key_value(x).chunk(2, -1)
        return self.attention.keys(self.position.rotate(self.split(k), offset)), self.split(v)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        k: Float[Tensor, "B H S d"],
        v: Float[Tensor, "B H S d"],
        mask: Bool[Tensor, "#B #H #T S"] | None,
        offset: int = 0,
        noise: Noise | None = None,
    ) -> Float[Tensor, "B T D"]:
        """What the states at `offset`, `offset + 1`, … find among keys and values."""
        q = self.position.rotate(self.split(self.query(x)), offset)
        context = self.attention(q, k, v, mask, self.position.bias(q, k.size(-2)), noise)
        out: Tensor = self.output(context.transpose(1, 2).flatten(-2))
        return out


def twin(module: AnyModule) -> AnyModule:
    """A copy of the module tree that shares every parameter and buffer with the original."""
    made: dict[int, nn.Module] = {}

    def copied(original: nn.Module) -> nn.Module:
        if id(original) not in made:  # a shared module stays shared
            made[id(original)] = other = copy.copy(original)
            children = {name: child and copied(child) for name, child in original._modules.items()}
            other.__dict__["_modules"] = children
        return made[id(original)]

    copied(module)
    result: AnyModule = made[id(module)]  # type: ignore[assignment]
    return result


def watch(model: AnyModule) -> tuple[AnyModule, dict[str, list[Float[Tensor, "B H T S"]]]]:
    """A twin that writes its attention weights down, and the notebook it writes in, by name of the attending module."""
    seen = twin(model)
    notebook: dict[str, list[Tensor]] = {}
    for name, module in seen.named_modules():
        if isinstance(module, Attention):
            module.notes = notebook[name.removesuffix(".attention")] = []
    return seen, notebook
