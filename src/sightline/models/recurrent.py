"""Recurrent encoder and decoder: LSTM or GRU, with attention (Bahdanau et al. 2015, Luong et al. 2015) or without.

Without attention the source reaches the decoder through one vector: the bottleneck (Sutskever et al. 2014).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from sightline.nn.attention import Attention
from sightline.nn.layers import Embedding
from sightline.nn.masks import over_keys
from sightline.nn.noise import Dropout, Noise, noise_at
from sightline.nn.state import Memory, State, last_state

CellName: TypeAlias = Literal["lstm", "gru"]


def _one_layer(cell: CellName, inputs: int, hidden: int, bidirectional: bool = False) -> nn.LSTM | nn.GRU:
    kind = nn.LSTM if cell == "lstm" else nn.GRU
    return kind(inputs, hidden, batch_first=True, bidirectional=bidirectional)


class RecurrentEncoder(nn.Module):
    """A stack of recurrent layers, each reading forwards, or forwards and backwards with half the channels each."""

    def __init__(self, embedding: Embedding, dim: int, layers: int, cell: CellName, bidirectional: bool, dropout: float) -> None:
        super().__init__()
        hidden = dim // 2 if bidirectional else dim
        self.embedding, self.dropout = embedding, Dropout(dropout)
        self.layers = nn.ModuleList(_one_layer(cell, dim, hidden, bidirectional) for _ in range(layers))
        self.dropouts = nn.ModuleList(Dropout(dropout) for _ in range(layers))
        self.bidirectional = bidirectional

    def forward(self, tokens: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"], noise: Noise | None = None) -> Memory:
        x = self.dropout(self.embedding(tokens), noise)
        lengths = mask.sum(1).cpu()
        for layer, dropout in zip(self.layers, self.dropouts, strict=True):
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            # Packed, so that the backward reading begins at a sentence's own last token, not in its padding.
            x, _ = pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=tokens.size(1))
            x = dropout(x, noise)
        return Memory(x, mask, self._summary(x, mask))

    def _summary(self, x: Tensor, mask: Tensor) -> Tensor:
        last = last_state(x, mask)
        if not self.bidirectional:
            return last
        half = x.size(-1) // 2  # the backward reading ends at the first token
        return torch.cat((last[:, :half], x[:, 0, half:]), -1)


class RecurrentDecoder(nn.Module):
    """A stack of recurrent layers; the top state looks at the source. `attention=None` is the bottleneck or a language model."""

    def __init__(
        self,
        embedding: Embedding,
        dim: int,
        layers: int,
        cell: CellName,
        attention: Attention | None,
        input_feeding: bool,
        has_source: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.embedding, self.dim, self.cell = embedding, dim, cell
        self.feeds = input_feeding and attention is not None
        self.layers = nn.ModuleList(
            _one_layer(cell, 2 * dim if self.feeds and depth == 0 else dim, dim) for depth in range(layers)
        )
        self.bridge = nn.Linear(dim, layers * dim) if has_source else None
        self.cross = attention
        self.mix = nn.Linear(2 * dim, dim) if attention is not None else None
        self.dropout = Dropout(dropout)
        self.dropouts = nn.ModuleList(Dropout(dropout) for _ in range(layers))

    def start(self, memory: Memory | None, noise: Noise | None = None) -> State:
        if memory is None or self.bridge is None:
            return State((), (None, None, None), noise=noise)
        hidden = torch.unflatten(torch.tanh(self.bridge(memory.summary)), -1, (len(self.layers), self.dim))
        cells = torch.zeros_like(hidden) if self.cell == "lstm" else None
        if self.cross is None:
            return State((), (hidden, cells, None), noise=noise)
        values = memory.states[:, None]
        fed = torch.zeros_like(hidden[:, :1]) if self.feeds else None
        return State((self.cross.keys(values), values, over_keys(memory.mask)), (hidden, cells, fed), noise=noise)

    def forward(self, tokens: Int[Tensor, "B T"], state: State) -> tuple[Float[Tensor, "B T D"], State]:
        x = self.dropout(self.embedding(tokens), noise_at(state.noise, state.length))
        if not self.feeds:
            return self._read(x, state)
        outputs = []
        for step in range(x.size(1)):  # what was seen at a step is read at the next
            fed: Tensor = state.live[2]  # type: ignore[index]
            out, state = self._read(torch.cat((x[:, step : step + 1], fed.to(x.dtype)), -1), state)
            outputs.append(out)
        return torch.cat(outputs, 1), state

    def _read(self, x: Float[Tensor, "B T E"], state: State) -> tuple[Float[Tensor, "B T D"], State]:
        hidden, cells, _ = state.live  # type: ignore[misc]
        noise, after = noise_at(state.noise, state.length), list[tuple[Tensor, Tensor]]()
        for depth, (layer, dropout) in enumerate(zip(self.layers, self.dropouts, strict=True)):
            x, now = layer(x, self._before(depth, hidden, cells))
            after.append(now if self.cell == "lstm" else (now, now))
            x = dropout(x, noise)
        x = self._look(x, state)
        live = (
            torch.cat([h for h, _ in after]).transpose(0, 1),
            torch.cat([c for _, c in after]).transpose(0, 1) if self.cell == "lstm" else None,
            x[:, -1:] if self.feeds else None,
        )
        return x, State(state.fixed, live, state.length + x.size(1), state.noise)

    def _before(self, depth: int, hidden: Tensor | None, cells: Tensor | None) -> Tensor | tuple[Tensor, Tensor] | None:
        if hidden is None:
            return None
        h = hidden[:, depth].unsqueeze(0).contiguous()
        return h if cells is None else (h, cells[:, depth].unsqueeze(0).contiguous())

    def _look(self, x: Float[Tensor, "B T D"], state: State) -> Float[Tensor, "B T D"]:
        if self.cross is None or self.mix is None:
            return x
        k, v, mask = state.fixed  # type: ignore[misc]
        noise = noise_at(state.noise, state.length)
        context = self.cross(x[:, None], k, v, mask, noise=noise)[:, 0]
        return torch.tanh(self.mix(torch.cat((x, context.to(x.dtype)), -1)))
