"""Where a token stands. A scheme acts in one of three places and does nothing in the others.

`offset` is the position of the first token: forgetting it when stepping is the classic bug, and the streaming law sees it.
"""

from __future__ import annotations

import math
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from sightline.errors import UserError

PositionName: TypeAlias = Literal["none", "sinusoidal", "learned", "rotary", "alibi", "relative"]


@runtime_checkable
class Position(Protocol):
    """Three places to act."""

    def embed(self, x: Float[Tensor, "B T D"], offset: int) -> Float[Tensor, "B T D"]:
        """On the embeddings."""
        ...

    def rotate(self, x: Float[Tensor, "B H T d"], offset: int) -> Float[Tensor, "B H T d"]:
        """On queries and keys."""
        ...

    def bias(self, q: Float[Tensor, "B H T d"], keys: int) -> Float[Tensor, "#B H T {keys}"] | None:
        """On the scores; the last query stands at the last key."""
        ...


class NoPosition(nn.Module):
    """Nothing: a bag of words, but for what a causal mask gives away."""

    def embed(self, x: Float[Tensor, "B T D"], offset: int) -> Float[Tensor, "B T D"]:
        return x

    def rotate(self, x: Float[Tensor, "B H T d"], offset: int) -> Float[Tensor, "B H T d"]:
        return x

    def bias(self, q: Float[Tensor, "B H T d"], keys: int) -> None:
        return None


def angles(dim: int, length: int, offset: int, device: torch.device) -> Float[Tensor, "{length} {dim}//2"]:
    """position · 10000^(-2i/dim): one turn in 2π tokens for the first pair of channels, ever slower after it."""
    rates = torch.exp(torch.arange(0, dim, 2, device=device) * (-math.log(10000.0) / dim))
    return torch.arange(offset, offset + length, device=device)[:, None] * rates


class Sinusoidal(nn.Module):
    """Sines and cosines added to the embeddings (Vaswani et al. 2017)."""

    def embed(self, x: Float[Tensor, "B T D"], offset: int) -> Float[Tensor, "B T D"]:
        turn = angles(x.size(-1), x.size(-2), offset, x.device)
        return x + torch.stack((turn.sin(), turn.cos()), -1).flatten(-2).to(x.dtype)

    def rotate(self, x: Float[Tensor, "B H T d"], offset: int) -> Float[Tensor, "B H T d"]:
        return x

    def bias(self, q: Float[Tensor, "B H T d"], keys: int) -> None:
        return None


class Learned(nn.Module):
    """A vector per position added to the embeddings, for at most `reach` positions."""

    def __init__(self, dim: int, reach: int) -> None:
        super().__init__()
        self.table = nn.Embedding(reach, dim)

    def embed(self, x: Float[Tensor, "B T D"], offset: int) -> Float[Tensor, "B T D"]:
        end = offset + x.size(-2)
        if end > self.table.num_embeddings:
            raise UserError(
                f"{end} tokens are more than the {self.table.num_embeddings} positions that this model has learned; "
                "shorten the text, or train a model with more"
            )
        return x + self.table.weight[offset:end].to(x.dtype)

    def rotate(self, x: Float[Tensor, "B H T d"], offset: int) -> Float[Tensor, "B H T d"]:
        return x

    def bias(self, q: Float[Tensor, "B H T d"], keys: int) -> None:
        return None


class Rotary(nn.Module):
    """Queries and keys turned by their position, so that their product depends on the distance (Su et al. 2021)."""

    def embed(self, x: Float[Tensor, "B T D"], offset: int) -> Float[Tensor, "B T D"]:
        return x

    def rotate(self, x: Float[Tensor, "B H T d"], offset: int) -> Float[Tensor, "B H T d"]:
        turn = angles(x.size(-1), x.size(-2), offset, x.device)
        cos, sin = turn.cos().to(x.dtype), turn.sin().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)

    def bias(self, q: Float[Tensor, "B H T d"], keys: int) -> None:
        return None


def distances(queries: int, keys: int, device: torch.device) -> Int[Tensor, "{queries} {keys}"]:
    """Key position minus query position."""
    return torch.arange(keys, device=device) - torch.arange(keys - queries, keys, device=device)[:, None]


class Alibi(nn.Module):
    """A penalty that grows with the distance, steeper in some heads than in others (Press et al. 2022)."""

    slopes: Tensor

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(_alibi_slopes(heads)), persistent=False)

    def embed(self, x: Float[Tensor, "B T D"], offset: int) -> Float[Tensor, "B T D"]:
        return x

    def rotate(self, x: Float[Tensor, "B H T d"], offset: int) -> Float[Tensor, "B H T d"]:
        return x

    def bias(self, q: Float[Tensor, "B H T d"], keys: int) -> Float[Tensor, "1 H T {keys}"]:
        return -self.slopes[None, :, None, None] * distances(q.size(-2), keys, q.device).abs()


def _alibi_slopes(heads: int) -> list[float]:
    """2^(-8/n), 2^(-16/n), …; for a count that is no power of two, the paper fills up from twice the power below it."""
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    between = [2 ** (-4 * (head + 1) / power) for head in range(0, 2 * (heads - power), 2)]
    return slopes + between


class Relative(nn.Module):
    """A learned vector per clipped distance, matched with the query (the key term of Shaw et al. 2018)."""

    def __init__(self, head_dim: int, reach: int = 16) -> None:
        super().__init__()
        self.table, self.reach = nn.Embedding(2 * reach + 1, head_dim), reach

    def embed(self, x: Float[Tensor, "B T D"], offset: int) -> Float[Tensor, "B T D"]:
        return x

    def rotate(self, x: Float[Tensor, "B H T d"], offset: int) -> Float[Tensor, "B H T d"]:
        return x

    def bias(self, q: Float[Tensor, "B H T d"], keys: int) -> Float[Tensor, "B H T {keys}"]:
        clipped = distances(q.size(-2), keys, q.device).clamp(-self.reach, self.reach) + self.reach
        # All distances first, then the wanted one per key: (B H T 2·reach+1) is smaller than a vector per pair.
        every = q @ self.table.weight.to(q.dtype).t() / math.sqrt(q.size(-1))
        return every.gather(-1, clipped.expand(*every.shape[:2], -1, -1))


def make_position(name: PositionName, dim: int, heads: int, reach: int) -> Position:
    """The scheme of this name; `reach` bounds what a learned table covers."""
    match name:
        case "none":
            return NoPosition()
        case "sinusoidal":
            return Sinusoidal()
        case "learned":
            return Learned(dim, reach)
        case "rotary":
            return Rotary()
        case "alibi":
            return Alibi(heads)
        case "relative":
            return Relative(dim // heads)
