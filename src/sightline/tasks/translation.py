"""Translation: predict each target token from the source and the target tokens before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from sightline.data.batches import BatchOrder, cut_by_length
from sightline.data.encoded import EncodedCorpus
from sightline.models.seq2seq import Seq2Seq
from sightline.nn.losses import SmoothingKind
from sightline.nn.noise import Noise
from sightline.nn.output_loss import output_cross_entropy
from sightline.text.tokenizer import BOS, EOS, PAD, Tokenizer

SideName: TypeAlias = Literal["source", "target"]
SIDES: tuple[SideName, SideName] = ("source", "target")


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentence pairs as tensors, padded with 0."""

    source: Int[Tensor, "B S"]  # ends with EOS
    inputs: Int[Tensor, "B T"]  # the target, shifted: begins with BOS
    real: Int[Tensor, " N"]  # places of the real tokens in the flattened target
    targets: Int[Tensor, " N"]  # the tokens to predict there, EOS included

    def to(self, device: torch.device) -> Batch:
        """The same batch beside the model."""
        return Batch(*(tensor.to(device) for tensor in (self.source, self.inputs, self.real, self.targets)))


def padded(rows: Sequence[Sequence[int] | NDArray[np.integer]]) -> Int[Tensor, "B L"]:
    """Rows of unlike lengths as one tensor."""
    out = np.full((len(rows), max(map(len, rows))), PAD, dtype=np.int64)
    for number, row in enumerate(rows):
        out[number, : len(row)] = row
    return torch.from_numpy(out)


def make_batch(
    sources: Sequence[Sequence[int] | NDArray[np.integer]], targets: Sequence[Sequence[int] | NDArray[np.integer]]
) -> Batch:
    """Pairs of token rows, without BOS and EOS, as a batch."""
    reads, writes = ([np.asarray(row, np.int64) for row in side] for side in (sources, targets))
    source = padded([np.append(row, EOS) for row in reads])
    inputs = padded([np.append(BOS, row) for row in writes])
    outputs = padded([np.append(row, EOS) for row in writes]).flatten()
    real = outputs.ne(PAD).nonzero().squeeze(1)
    return Batch(source, inputs, real, outputs[real])


def real_features(model: Seq2Seq, batch: Batch, noise: Noise | None) -> Float[Tensor, "N D"]:
    """What the output layer reads at the real target tokens: nothing is computed over the vocabulary for padding."""
    features, _ = model.features(batch.inputs, model.begin(batch.source, noise))
    return features.flatten(0, 1).index_select(0, batch.real)


class TranslationTask:
    """An encoded corpus of pairs as training material.

    `longest`: the most pieces that BPE-dropout may cut a sentence into, for a model that can read no more. `seed`: of its cuts.
    """

    def __init__(
        self,
        corpus: EncodedCorpus,
        order: BatchOrder,
        smoothing: float = 0.0,
        smoothing_kind: SmoothingKind = "uniform",
        bpe_dropout: float = 0.0,
        tokenizers: tuple[Tokenizer, Tokenizer] | None = None,
        longest: int | None = None,
        seed: int = 1,
    ) -> None:
        if bpe_dropout and tokenizers is None:
            raise ValueError("BPE-dropout needs the tokenizers to cut the text anew")
        self.corpus, self.order = corpus, order
        self.smoothing, self.smoothing_kind = smoothing, smoothing_kind
        self.bpe_dropout, self.tokenizers = bpe_dropout, tokenizers
        self.longest, self.seed = longest, seed

    @property
    def fingerprint(self) -> str:
        return self.corpus.fingerprint

    def batches(self, epoch: int) -> int:
        return self.order.count(epoch)

    def rows(self, epoch: int, index: int) -> NDArray[np.int64]:
        return self.order.batch(epoch, index)

    def tokens(self, rows: NDArray[np.int64]) -> int:
        # Under BPE-dropout a sentence is cut into more pieces; its usual length still weighs every update alike.
        return int(self.corpus.target_lengths[rows].sum()) + len(rows)

    def shares(self, rows: NDArray[np.int64], count: int) -> list[NDArray[np.int64]]:
        source, target = self.corpus.source_lengths[rows], self.corpus.target_lengths[rows]
        return cut_by_length(rows, target, source + target, count)

    def loss(self, model: nn.Module, rows: NDArray[np.int64], epoch: int, noise: Noise | None) -> Float[Tensor, ""]:
        batch = make_batch(self._cut("source", rows, epoch), self._cut("target", rows, epoch)).to(next(model.parameters()).device)
        seq2seq = cast(Seq2Seq, model)
        features = real_features(seq2seq, batch, noise)
        return output_cross_entropy(features, seq2seq.head.weight, batch.targets, self.smoothing, self.smoothing_kind)

    def origins(self, rows: NDArray[np.int64]) -> list[str]:
        return [self.corpus.origin(int(i)) for i in rows]

    def _cut(self, name: SideName, rows: NDArray[np.int64], epoch: int) -> Sequence[Sequence[int] | NDArray[np.integer]]:
        """One side of the samples, cut anew under BPE-dropout by (seed, epoch, sample, side) alone."""
        usual = [self.corpus.row(name, int(i)) for i in rows]
        if self.bpe_dropout == 0 or self.tokenizers is None:
            return usual
        side = SIDES.index(name)
        # Mixed keys: those of neighbouring seeds, epochs or samples would give one series of numbers, begun at another place.
        # The forks 0 and 1 belong to the model.
        keys = Noise.of(self.seed, epoch, torch.from_numpy(rows)).fork(2 + side).keys.tolist()
        return [self._cut_one(ids, self.tokenizers[side], key) for ids, key in zip(usual, keys, strict=True)]

    def _cut_one(self, ids: NDArray[np.integer], tokenizer: Tokenizer, key: int) -> Sequence[int] | NDArray[np.integer]:
        cut = tokenizer.encode_with_dropout(tokenizer.decode(ids), self.bpe_dropout, key)
        return cut if self.longest is None or len(cut) <= self.longest else ids
