"""Weights come out by replay: translate fast, then read (source, translation) once on a twin that notes where it looks.

The pass sees the source and EOS on one side, BOS and the target on the other, so every map of the decoder has a row for
BOS and for each target piece. By the streaming law a row holds what the decoding step saw that read this piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from sightline.data.batches import by_length
from sightline.models.seq2seq import Seq2Seq
from sightline.nn.attention import watch
from sightline.tasks.translation import make_batch

Kind: TypeAlias = Literal["encoder", "decoder", "cross"]
Ids: TypeAlias = Sequence[int] | NDArray[np.integer]
Pair: TypeAlias = tuple[Ids, Ids]

WINDOW = 4  # batches whose sentences are sorted by length together, and whose maps are in memory together


@dataclass(frozen=True, slots=True, eq=False)
class Maps:
    """Every attention of one sentence pair: (heads, looking, looked at), by the name of the module that looks."""

    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]
    weights: Mapping[str, NDArray[np.float32]]


def kind_of(name: str) -> Kind:
    """Who looks at whom: source at source, target at the target before it, or target at source ("cross")."""
    if name.rpartition(".")[2] == "cross":
        return "cross"
    return "encoder" if name.startswith("encoder.") else "decoder"


def size_of(kind: Kind, source_pieces: int, target_pieces: int) -> tuple[int, int]:
    """How many look, at how many: the source has EOS behind it, the target BOS before it."""
    source, target = source_pieces + 1, target_pieces + 1
    return (source if kind == "encoder" else target), (target if kind == "decoder" else source)


def replay(model: Seq2Seq, source_ids: Ids, target_ids: Ids) -> Maps:
    """What the model looked at when it wrote this target, every layer and head; ids come without BOS and EOS."""
    return replay_batch(model, [(source_ids, target_ids)])[0]


def replay_batch(model: Seq2Seq, pairs: Sequence[Pair]) -> list[Maps]:
    """`replay` of several pairs in one pass; padding is trimmed away."""
    batch = make_batch([source for source, _ in pairs], [target for _, target in pairs])
    device = next(model.parameters()).device
    seen, notebook = watch(model)  # a twin per pass: notes of two threads never meet
    with torch.no_grad(), torch.autocast(device.type, enabled=False):
        batch = batch.to(device)
        seen.features(batch.inputs, seen.begin(batch.source))
    arrays = {}
    for name, notes in notebook.items():
        whole = join(notes)
        notes.clear()  # the maps are by far the largest thing here: none is held twice
        expected = size_of(kind_of(name), batch.source.size(1) - 1, batch.inputs.size(1) - 1)
        if whole.shape[2:] != expected:
            raise ValueError(f"{name} noted {tuple(whole.shape[2:])} weights per head where {expected} were expected")
        arrays[name] = whole.float().cpu().numpy()
    return [_trimmed(arrays, row, *pair) for row, pair in enumerate(pairs)]


def join(notes: Sequence[Float[Tensor, "B H _ _"]]) -> Float[Tensor, "B H T S"]:
    """The notes of one module as one map: a module that steps writes row by row, and its earlier rows saw fewer keys."""
    if len(notes) == 1:
        return notes[0]
    widest = notes[-1].size(-1)
    return torch.cat([F.pad(note, (0, widest - note.size(-1))) for note in notes], -2)


def replay_many(model: Seq2Seq, pairs: Iterable[Pair], batch_tokens: int = 2048) -> Iterator[Maps]:
    """`replay` of any number of pairs, in their order, in batches of at most `batch_tokens` tokens a side."""
    window: list[Pair] = []
    size = 0
    for pair in pairs:
        window.append(pair)
        size += _length(pair) + 1
        if size >= WINDOW * batch_tokens:
            yield from _replay_window(model, window, batch_tokens)
            window, size = [], 0
    yield from _replay_window(model, window, batch_tokens)


def _replay_window(model: Seq2Seq, window: Sequence[Pair], batch_tokens: int) -> list[Maps]:
    """Neighbours in length share a batch; the result stands in the order that came in."""
    done: dict[int, Maps] = {}
    for rows in by_length(np.array([_length(pair) for pair in window], np.int32), batch_tokens):
        done.update(zip(rows.tolist(), replay_batch(model, [window[row] for row in rows]), strict=True))
    return [done[row] for row in range(len(window))]


def _length(pair: Pair) -> int:
    return max(map(len, pair))


def _trimmed(arrays: Mapping[str, NDArray[np.float32]], row: int, source: Ids, target: Ids) -> Maps:
    weights = {}
    for name, whole in arrays.items():
        looking, looked_at = size_of(kind_of(name), len(source), len(target))
        weights[name] = whole[row, :, :looking, :looked_at].copy()  # a copy lets go of the batch
    return Maps(tuple(map(int, source)), tuple(map(int, target)), weights)
