"""The Transformer (Vaswani et al. 2017): nothing but looking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from sightline.nn.attention import MultiHead
from sightline.nn.layers import ActivationName, Embedding, FeedForward, NormOrder, Residual
from sightline.nn.linear import LayerNorm
from sightline.nn.masks import causal, over_keys
from sightline.nn.noise import Dropout, Noise, noise_at
from sightline.nn.positions import Position
from sightline.nn.state import Memory, State, Tree, masked_mean


@dataclass(frozen=True, slots=True)
class Sizes:
    """What every layer of a stack has in common."""

    dim: int
    heads: int
    hidden: int
    norm: NormOrder = "post"
    activation: ActivationName = "relu"
    dropout: float = 0.1
    attention_dropout: float = 0.0
    hidden_dropout: float = 0.0


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, sizes: Sizes, position: Position) -> None:
        super().__init__()
        self.attend = MultiHead(sizes.dim, sizes.heads, position, sizes.attention_dropout)
        self.feed = FeedForward(sizes.dim, sizes.hidden, sizes.activation, sizes.hidden_dropout)
        self.add_attended = Residual(sizes.dim, sizes.dropout, sizes.norm)
        self.add_fed = Residual(sizes.dim, sizes.dropout, sizes.norm)

    def forward(self, x: Float[Tensor, "B S D"], mask: Bool[Tensor, "B 1 1 S"], noise: Noise | None) -> Float[Tensor, "B S D"]:
        def look(y: Tensor) -> Tensor:
            return self.attend(y, *self.attend.keys(y), mask, noise=noise)  # type: ignore[no-any-return]

        x = self.add_attended(x, look, noise)
        out: Tensor = self.add_fed(x, lambda y: self.feed(y, noise), noise)
        return out


class TransformerEncoder(nn.Module):
    """A stack of layers in which every token looks at every other."""

    def __init__(
        self, embedding: Embedding, layers: Sequence[EncoderLayer], position: Position, dim: int, dropout: float, norm: NormOrder
    ) -> None:
        super().__init__()
        self.embedding, self.position, self.dropout = embedding, position, Dropout(dropout)
        self.layers = nn.ModuleList(layers)
        self.norm = LayerNorm(dim) if norm == "pre" else nn.Identity()  # post-norm has normalised already

    def forward(self, tokens: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"], noise: Noise | None = None) -> Memory:
        x = self.dropout(self.position.embed(self.embedding(tokens), 0), noise)
        for layer in self.layers:
            x = layer(x, over_keys(mask), noise)
        x = self.norm(x)
        return Memory(x, mask, masked_mean(x, mask))


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the source where there is one, feed-forward."""

    def __init__(self, sizes: Sizes, position: Position, crosses: bool) -> None:
        super().__init__()
        self.attend = MultiHead(sizes.dim, sizes.heads, position, sizes.attention_dropout)
        self.add_attended = Residual(sizes.dim, sizes.dropout, sizes.norm)
        self.cross = MultiHead(sizes.dim, sizes.heads, dropout=sizes.attention_dropout) if crosses else None
        self.add_crossed = Residual(sizes.dim, sizes.dropout, sizes.norm) if crosses else None
        self.feed = FeedForward(sizes.dim, sizes.hidden, sizes.activation, sizes.hidden_dropout)
        self.add_fed = Residual(sizes.dim, sizes.dropout, sizes.norm)

    def forward(
        self, x: Float[Tensor, "B T D"], past: Tree, source: Tree, source_mask: Tree, offset: int, noise: Noise | None
    ) -> tuple[Float[Tensor, "B T D"], Tree]:
        """`past` and `source` are keys and values: of the target so far, and of the source."""
        kept: list[Tensor] = []

        def look_back(y: Tensor) -> Tensor:
            kept.extend(_joined(past, self.attend.keys(y, offset)))
            mask = causal(y.size(1), kept[0].size(-2), y.device)
            return self.attend(y, *kept, mask, offset, noise)  # type: ignore[no-any-return]

        x = self.add_attended(x, look_back, noise)
        cross, add_crossed = self.cross, self.add_crossed
        if cross is not None and add_crossed is not None:
            x = add_crossed(x, lambda y: cross(y, *source, source_mask, noise=noise), noise)  # type: ignore[misc]
        x = self.add_fed(x, lambda y: self.feed(y, noise), noise)
        return x, tuple(kept)


def _joined(past: Tree, new: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    if past is None:
        return new
    k, v = past
    return torch.cat((k, new[0]), -2), torch.cat((v, new[1]), -2)


class TransformerDecoder(nn.Module):
    """A stack of layers in which every token looks at the tokens before it and at the source."""

    def __init__(
        self, embedding: Embedding, layers: Sequence[DecoderLayer], position: Position, dim: int, dropout: float, norm: NormOrder
    ) -> None:
        super().__init__()
        self.embedding, self.position, self.dropout = embedding, position, Dropout(dropout)
        self.layers = nn.ModuleList(layers)
        self.norm = LayerNorm(dim) if norm == "pre" else nn.Identity()

    def start(self, memory: Memory | None, noise: Noise | None = None) -> State:
        nothing_yet = tuple(None for _ in self.layers)
        if memory is None:
            return State((None, nothing_yet), nothing_yet, noise=noise)
        sources = tuple(layer.cross.keys(memory.states) for layer in self.layers)  # type: ignore[union-attr,operator]
        return State((over_keys(memory.mask), sources), nothing_yet, noise=noise)

    def forward(self, tokens: Int[Tensor, "B T"], state: State) -> tuple[Float[Tensor, "B T D"], State]:
        noise, offset = noise_at(state.noise, state.length), state.length
        x = self.dropout(self.position.embed(self.embedding(tokens), offset), noise)
        (mask, sources), live = state.fixed, []  # type: ignore[misc]
        for layer, past, source in zip(self.layers, state.live, sources, strict=True):  # type: ignore[arg-type]
            x, now = layer(x, past, source, mask, offset, noise)
            live.append(now)
        return self.norm(x), State(state.fixed, tuple(live), offset + tokens.size(1), state.noise)
