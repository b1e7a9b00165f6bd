"""Faults in looking: masks, weights, positions, and those who watch."""

from __future__ import annotations

import copy
from typing import Any

import torch
from laws import watching
from laws.planting import Fault, replaced, several
from torch import Tensor, nn

from sightline.models import recurrent, transformer
from sightline.nn import attention, positions
from sightline.nn.positions import Learned, Rotary, Sinusoidal
from sightline.nn.scores import Additive

SINUSOIDAL = "Transformer, pre-norm, sinusoidal"
ADDITIVE = "GRU, bidirectional, additive"
STEPPING = ("stream", "replay", "score", "enumeration")

_rotate, _sinusoidal, _learned = Rotary.rotate, Sinusoidal.embed, Learned.embed
_weights = attention.attention_weights


def _from_the_first_key(queries: int, keys: int, device: torch.device) -> Tensor:
    return torch.arange(keys, device=device) - torch.arange(queries, device=device)[:, None]


def _one_too_many(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    return torch.ones(1, 1, queries, keys, dtype=torch.bool, device=device).tril(keys - queries + 1)


def _mask_after_softmax(q: Tensor, k: Tensor, mask: Tensor | None, bias: Tensor | None, *rest: Any) -> Tensor:
    weights: Tensor = _weights(q, k, None, bias, *rest)
    return weights if mask is None else weights.masked_fill(~mask, 0.0)


class _LastPage(list[Tensor]):
    """A notebook in which every note is written over the one before."""

    def append(self, note: Tensor) -> None:
        self[:] = [note]


def _watch_last(model: nn.Module) -> tuple[nn.Module, dict[str, list[Tensor]]]:
    seen, notebook = attention.watch(model)
    pages: dict[str, list[Tensor]] = {}
    for name, module in seen.named_modules():
        if isinstance(module, attention.Attention):
            module.notes = pages[name.removesuffix(".attention")] = _LastPage()
    return seen, pages if notebook else notebook


def _everything(mask: Tensor) -> Tensor:
    return torch.ones_like(mask)[:, None, None, :]


def _equal_energies(self: Additive, q: Tensor, k: Tensor) -> Tensor:
    return q.new_zeros(*q.shape[:-1], k.size(-2))


FAULTS: tuple[Fault, ...] = (
    Fault(
        "rotary positions begin anew with every piece",
        "Transformer, pre-norm, rotary",
        STEPPING,
        replaced(Rotary, "rotate", lambda self, x, offset: _rotate(self, x, 0)),
    ),
    Fault(
        "sinusoidal positions begin anew with every piece",
        SINUSOIDAL,
        STEPPING,
        replaced(Sinusoidal, "embed", lambda self, x, offset: _sinusoidal(self, x, 0)),
    ),
    Fault(
        "learned positions begin anew with every piece",
        "Transformer, pre-norm, learned",
        STEPPING,
        replaced(Learned, "embed", lambda self, x, offset: _learned(self, x, 0)),
    ),
    Fault(
        "ALiBi measures from the first key, not from the last",
        "Transformer, pre-norm, ALiBi",
        STEPPING,
        replaced(positions, "distances", _from_the_first_key),
    ),
    Fault(
        "relative positions measure from the first key, not from the last",
        "Transformer, pre-norm, relative",
        STEPPING,
        replaced(positions, "distances", _from_the_first_key),
    ),
    Fault(
        "positions are left out",
        SINUSOIDAL,
        ("copy",),
        replaced(Sinusoidal, "embed", lambda self, x, offset: x),
    ),
    Fault(
        "the causal diagonal is off by one",
        SINUSOIDAL,
        ("causal", "stream", "shares", "replay", "score"),
        replaced(transformer, "causal", _one_too_many),
    ),
    Fault(
        "the fused path loses the mask where there is a bias",
        "Transformer, pre-norm, ALiBi",
        ("causal", "watch", "company"),
        replaced(attention, "_joined", lambda mask, bias, dtype: mask if bias is None else bias.to(dtype)),
    ),
    Fault(
        "the explicit path forgets the mask",
        SINUSOIDAL,
        ("watch", "shares"),
        replaced(attention, "attention_weights", lambda q, k, mask, *rest: _weights(q, k, None, *rest)),
    ),
    Fault(
        "the mask comes after the softmax",
        "LSTM, bidirectional, bilinear",
        ("shares", "company"),
        replaced(attention, "attention_weights", _mask_after_softmax),
    ),
    Fault(
        "padding of the source is not masked",
        SINUSOIDAL,
        ("shares", "company"),
        several(replaced(transformer, "over_keys", _everything), replaced(recurrent, "over_keys", _everything)),
    ),
    Fault(
        "the twin is the model itself",
        SINUSOIDAL,
        ("watch",),
        replaced(attention, "twin", lambda module: module),
    ),
    Fault(
        "the twin has weights of its own",
        ADDITIVE,
        ("watch",),
        replaced(attention, "twin", copy.deepcopy),
    ),
    Fault(
        "the notebook keeps the last piece only",
        ADDITIVE,
        ("replay",),
        replaced(watching, "watch", _watch_last),
    ),
    Fault(
        "every source token looks equally good",
        ADDITIVE,
        ("gradient", "reverse"),
        replaced(Additive, "forward", _equal_energies),
    ),
)
