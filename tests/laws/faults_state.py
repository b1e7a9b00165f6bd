"""Faults in what is remembered: state, noise, batches, folders, checkpoints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from laws.faults_attention import ADDITIVE, SINUSOIDAL
from laws.planting import Fault, Plant, replaced, several
from torch import Tensor, nn

from sightline.decode import search
from sightline.models import recurrent, store, transformer
from sightline.models.combine import Ensemble
from sightline.models.recurrent import RecurrentDecoder
from sightline.models.seq2seq import Seq2Seq
from sightline.models.transformer import TransformerDecoder
from sightline.nn.layers import FeedForward
from sightline.nn.noise import Dropout, Noise, mix
from sightline.nn.state import Memory, State, map_tensors
from sightline.train import checkpoint, loop
from sightline.train.checkpoint import Progress

FEEDING = "LSTM, bidirectional, bilinear, input feeding"

_read_recurrent, _before = RecurrentDecoder.forward, RecurrentDecoder._before
_start, _read_transformer, _encode = TransformerDecoder.start, TransformerDecoder.forward, Seq2Seq.encode
_read_ensemble, _joined = Ensemble.forward, transformer._joined
_pack, _restore, _weights = recurrent.pack_padded_sequence, checkpoint.restore, store.weights


def _fed_nothing(self: RecurrentDecoder, tokens: Tensor, state: State) -> Any:
    hidden, cells, fed = state.live  # type: ignore[misc]
    return _read_recurrent(self, tokens, replace(state, live=(hidden, cells, torch.zeros_like(fed))))  # type: ignore[arg-type]


def _without_cells(self: RecurrentDecoder, depth: int, hidden: Any, cells: Any) -> Any:
    return _before(self, depth, hidden, None if cells is None else torch.zeros_like(cells))


def _centred(self: RecurrentDecoder, tokens: Tensor, state: State) -> Any:
    out, after = _read_recurrent(self, tokens, state)
    return out - out.mean(1, keepdim=True), after


def _window(past: Any, new: tuple[Tensor, Tensor]) -> Any:
    return _joined(past if past is None else tuple(each[:, :, -2:] for each in past), new)


def _kept_on_module() -> Plant:
    def start(self: Any, *arguments: Any) -> State:
        self.kept = _start(self, *arguments)
        return self.kept  # type: ignore[no-any-return]

    def forward(self: Any, tokens: Tensor, state: State) -> Any:
        out, self.kept = _read_transformer(self, tokens, self.kept)
        return out, self.kept

    return several(replaced(TransformerDecoder, "start", start), replaced(TransformerDecoder, "forward", forward))


def _end_to_end(self: State, times: int) -> State:
    return self._map_both(lambda tensor: tensor.repeat(times, *[1] * (tensor.dim() - 1)))


def _first_sources(self: State, rows: Tensor) -> State:
    fixed, live = (
        map_tensors(change, tree)
        for change, tree in (
            (lambda tensor: tensor[: len(rows)], self.fixed),
            (lambda tensor: tensor[rows], self.live),
        )
    )
    return replace(self, fixed=fixed, live=live)


def _padding_and_all(x: Tensor, lengths: Tensor, **rest: Any) -> Any:
    return _pack(x, torch.full_like(lengths, x.size(1)), **rest)


def _by_place(seed: int, update: int, samples: Tensor) -> Noise:
    return Noise(mix(torch.arange(len(samples)) + 1000 * update + seed))


def _from_generator(seed: int, update: int, samples: Tensor) -> Noise:
    return Noise(torch.randint(0, 1 << 62, samples.shape))


def _keys_vary_fastest(self: Dropout, x: Tensor, noise: Noise | None) -> Tensor:
    if noise is None or self.rate == 0:
        return x
    draws = noise.draw(self.site, x.size(2), x.size(1) * x.size(3))
    return x * self._keep(draws.unflatten(-1, (x.size(1), x.size(3))).transpose(1, 2), x.dtype)


def _cut_off(self: Seq2Seq, source: Tensor, noise: Noise | None = None) -> Memory:
    return Memory(*(tensor.detach() for tensor in _encode(self, source, noise)))


def _matrices(model: nn.Module) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in _weights(model).items() if tensor.dim() > 1}


def _tied_left_out(model: nn.Module) -> dict[str, Tensor]:
    """Only what has one name."""
    every = [id(parameter) for _, parameter in model.named_parameters(remove_duplicate=False)]
    return {name: tensor for name, tensor in _weights(model).items() if every.count(id(tensor)) == 1}


def _without_moments(*arguments: Any) -> Progress:
    found = _restore(*arguments)
    arguments[2].state.clear()
    return found


def _order_anew(*arguments: Any) -> Progress:
    return replace(_restore(*arguments), epoch=0, index=0)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "what was fed is lost between pieces",
        FEEDING,
        ("stream", "replay", "score", "enumeration"),
        replaced(RecurrentDecoder, "forward", _fed_nothing),
    ),
    Fault(
        "an LSTM's cells are lost between pieces",
        "language model: LSTM",
        ("stream", "score", "enumeration"),
        replaced(RecurrentDecoder, "_before", _without_cells),
    ),
    Fault(
        "features are centred over the whole target",
        "GRU, unidirectional, without attention",
        ("causal", "stream"),
        replaced(RecurrentDecoder, "forward", _centred),
    ),
    Fault(
        "the cache keeps two keys",
        "language model: Transformer, pre-norm, rotary",
        ("stream", "replay", "score", "enumeration"),
        replaced(transformer, "_joined", _window),
    ),
    Fault("the state is kept on the module", SINUSOIDAL, ("threads", "stream", "score"), _kept_on_module()),
    Fault(
        "an ensemble forgets how far it has read",
        "ensemble: Transformer, LSTM with attention, GRU without",
        ("stream", "score", "enumeration"),
        replaced(Ensemble, "forward", lambda self, tokens, state: _read_ensemble(self, tokens, replace(state, length=0))),
    ),
    Fault("beams are not reordered", SINUSOIDAL, ("score",), replaced(State, "reorder", lambda self, rows: self)),
    Fault("copies of a batch are put end to end", ADDITIVE, ("score", "company"), replaced(State, "repeat", _end_to_end)),
    Fault(
        "the first sources stay when a sentence leaves", ADDITIVE, ("score", "company"), replaced(State, "select", _first_sources)
    ),
    Fault(
        "the search ends with the first finished sentence",
        SINUSOIDAL,
        ("enumeration",),
        replaced(search._Sentence, "done", lambda self, best_alive, options: bool(self.finished) or best_alive == search.NEVER),
    ),
    Fault(
        "padding leaks into the backward reading",
        "LSTM, bidirectional, dot",
        ("company",),
        replaced(recurrent, "pack_padded_sequence", _padding_and_all),
    ),
    Fault(
        "the summary counts padding",
        "Transformer encoder, LSTM decoder",
        ("company",),
        replaced(transformer, "masked_mean", lambda states, mask: states.mean(1)),
    ),
    Fault("dropout goes by the place in the batch", SINUSOIDAL, ("company",), replaced(Noise, "of", staticmethod(_by_place))),
    Fault(
        "dropout draws from a hidden generator",
        ADDITIVE,
        ("resume", "company"),
        replaced(Noise, "of", staticmethod(_from_generator)),
    ),
    Fault(
        "dropout begins anew with every piece",
        SINUSOIDAL,
        ("stream",),
        several(
            replaced(transformer, "noise_at", lambda noise, offset: noise),
            replaced(recurrent, "noise_at", lambda noise, offset: noise),
        ),
    ),
    Fault(
        "dropout of weights depends on how many keys there are",
        SINUSOIDAL,
        ("stream", "company"),
        replaced(Dropout, "weights", _keys_vary_fastest),
    ),
    Fault("no gradient reaches the encoder", SINUSOIDAL, ("gradient",), replaced(Seq2Seq, "encode", _cut_off)),
    Fault(
        "the feed-forward layers are passed by",
        SINUSOIDAL,
        ("gradient",),
        replaced(FeedForward, "forward", lambda self, x, noise: x),
    ),
    Fault("only matrices are saved", SINUSOIDAL, ("save",), replaced(store, "weights", _matrices)),
    Fault("tied parameters are not saved", SINUSOIDAL, ("save",), replaced(store, "weights", _tied_left_out)),
    Fault("the optimiser's moments are not kept", FEEDING, ("resume",), replaced(loop, "restore", _without_moments)),
    Fault("the order of batches begins anew", FEEDING, ("resume",), replaced(loop, "restore", _order_anew)),
)
