"""Batches of about N tokens with little padding, in an order that is a pure function of (seed, epoch).

An epoch's sentences are dealt into strips of about equal target length; inside a strip they stand by source length,
upwards in one strip and downwards in the next, so that neighbours are alike on both sides. Where the strips begin and who
stands beside whom among equals is drawn anew each epoch: a sentence meets different companions each time. The line is
then cut into batches, and the batches are shuffled.

Only the raw bits of the Philox counter generator and a stable sort decide the order. Those are fixed for good, while
numpy may change how `shuffle` or `permutation` use the bits from one version to the next: a run resumed after an upgrade
must still see the same batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError

Lengths = NDArray[np.int32]
Indices = NDArray[np.int64]

_CHUNK = 1 << 20  # sentences whose sort keys are computed at once: bounds the temporaries
_LONGEST = (1 << 16) - 1  # a key has 16 bits for a length; longer ones sort as this
_STRIPS_PER_ROOT = 1.5  # strips = this × √batches: measured to balance the padding of the two sides
_FRACTION_BITS = 20
_EVEN = 16  # sentences; batches of like shapes are computed by code that is there already, in memory that is there already


@dataclass(frozen=True, slots=True)
class _Epoch:
    number: int
    order: NDArray[np.uint32] | Indices  # every sample once
    starts: Indices  # batch k in line is order[starts[k]:starts[k + 1]]
    turns: Indices  # the k-th batch of the epoch is number turns[k] in line


@final
class BatchOrder:
    """Which samples make up batch `index` of epoch `epoch`, whoever asks and whatever was asked before.

    `tokens` bounds the padded size of either side: rows × (longest sentence of that side + 1 for the end mark) ≤ tokens.
    For one-sided text give the same lengths twice. `name` tells a user which sample is too long.
    """

    def __init__(
        self,
        source_lengths: Lengths,
        target_lengths: Lengths,
        tokens: int,
        seed: int,
        *,
        max_sentences: int | None = None,
        name: Callable[[int], str] = "sample {}".format,
    ) -> None:
        if len(source_lengths) != len(target_lengths):
            raise ValueError(f"{len(source_lengths)} source lengths but {len(target_lengths)} target lengths")
        if not len(source_lengths):
            raise UserError("there is no sentence to train on; look at the cleaning summary for what was dropped")
        if max_sentences is not None and max_sentences < 1:
            raise UserError(f"max_sentences is {max_sentences}; a batch needs at least 1")
        self._source, self._target = source_lengths, target_lengths
        self._widths: Lengths = np.maximum(source_lengths, target_lengths) + np.int32(1)
        self._tokens, self._seed, self._rows = tokens, seed, max_sentences or len(source_lengths)
        self._refuse_too_long(name)
        self._strip_size, self._strip_starts, self._strip_weights = self._strips()
        self._last: _Epoch | None = None

    def count(self, epoch: int) -> int:
        """The number of batches in this epoch; it may differ by a few between epochs."""
        return len(self._epoch(epoch).turns)

    def batch(self, epoch: int, index: int) -> Indices:
        """The samples of one batch, in O(batch) once the epoch's order is built."""
        built = self._epoch(epoch)
        if not 0 <= index < len(built.turns):
            raise IndexError(f"batch {index} of epoch {epoch}, which has {len(built.turns)}")
        place = built.turns[index]
        return built.order[built.starts[place] : built.starts[place + 1]].astype(np.int64)

    def _refuse_too_long(self, name: Callable[[int], str]) -> None:
        worst = int(self._widths.argmax())
        if self._widths[worst] > self._tokens:
            many = int((self._widths > self._tokens).sum())
            raise UserError(
                f"{name(worst)}: {self._widths[worst]} tokens with the end mark, more than a whole batch of {self._tokens}"
                f" ({many} such in all); allow more tokens per batch, or clean with a smaller maximum length"
            )

    def _strips(self) -> tuple[int, Indices, Indices]:
        """The target tokens in one strip; for each target length, the tokens before it and at it."""
        histogram = np.bincount(self._target).astype(np.int64)
        weights = histogram * (np.arange(len(histogram)) + 1)
        ends = np.cumsum(weights)
        batches = max(1.0, float(self._widths.sum(dtype=np.int64)) / self._tokens, len(self._target) / self._rows)
        strips = min(max(1, round(_STRIPS_PER_ROOT * batches**0.5)), _LONGEST - 1)
        return int(ends[-1]) // strips + 1, ends - weights, weights

    def _epoch(self, epoch: int) -> _Epoch:
        last = self._last  # read once: another thread may replace it meanwhile
        if last is None or last.number != epoch:
            last = self._last = self._build(epoch)
        return last

    def _build(self, epoch: int) -> _Epoch:
        generator = np.random.Philox(key=np.array([self._seed, epoch], dtype=np.uint64))
        order = self._line_up(generator)
        starts = _cut(self._widths[order], self._tokens, self._rows, _EVEN)
        turns = np.argsort(generator.random_raw(len(starts) - 1), kind="stable")
        return _Epoch(epoch, order, starts, turns)

    def _line_up(self, generator: np.random.Philox) -> NDArray[np.uint32] | Indices:
        """All samples by (strip, source length, chance)."""
        phase = int(generator.random_raw()) % self._strip_size
        keys = np.empty(len(self._target), np.uint64)
        for begin in range(0, len(keys), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            source, target = self._source[part], self._target[part]
            chance = generator.random_raw(len(target))
            # Sentences of one length are spread over the strips that share it, each at a random place.
            within = ((chance >> np.uint64(64 - _FRACTION_BITS)).astype(np.int64) * self._strip_weights[target]) >> _FRACTION_BITS
            strip = (self._strip_starts[target] + within + phase) // self._strip_size
            length = np.minimum(source, _LONGEST).astype(np.int64)
            snake = np.where(strip & 1, _LONGEST - length, length)
            keys[part] = ((strip << 48) | (snake << 32)).astype(np.uint64) | (chance & np.uint64(0xFFFFFFFF))
        order = np.argsort(keys, kind="stable")
        return order.astype(np.uint32) if len(order) <= np.iinfo(np.uint32).max else order


def share(batch: Indices, rank: int, world: int, part: int = 0, parts: int = 1) -> Indices:
    """What rank `rank` of `world` takes of a global batch in accumulation step `part` of `parts`; together, all of it.

    Rows are dealt like cards, so every share has about the same lengths; a share is empty if the batch is too small.
    """
    if not (0 <= rank < world and 0 <= part < parts):
        raise ValueError(f"rank {rank} of {world}, part {part} of {parts}")
    return batch[rank * parts + part :: world * parts]


def cut_by_length(rows: Indices, lengths: Lengths, costs: Lengths, count: int) -> list[Indices]:
    """These rows in at most `count` parts of about equal cost; like lengths stand together, so that little is padded."""
    if count == 1 or not len(rows):
        return [rows] if len(rows) else []
    order = np.argsort(lengths, kind="stable")
    own = costs[order] + 1
    sums = np.cumsum(own)
    bounds = np.searchsorted(sums - own / 2, sums[-1:] * np.arange(1, count) / count)
    if len(rows) >= 2 * _EVEN * count:  # fewer would be divided too unevenly
        bounds = np.round(bounds / (_EVEN // 2)).astype(np.int64) * (_EVEN // 2)
    return [part for part in np.split(rows[order], bounds) if len(part)]


def by_length(lengths: Lengths, tokens: int, max_sentences: int | None = None) -> list[Indices]:
    """Batches for decoding and validating: longest first, so that a lack of memory shows at once; no chance in it.

    rows × (longest + 1) ≤ tokens, but a sentence longer than that still gets a batch, of its own.
    """
    order = np.argsort(-lengths.astype(np.int64), kind="stable")
    widths = np.minimum(lengths[order] + np.int32(1), np.int32(tokens))
    starts = _cut(widths, tokens, max_sentences or max(1, len(order)))
    return [order[a:b] for a, b in pairwise(starts)]


def _cut(widths: Lengths, tokens: int, rows: int, even: int = 1) -> Indices:
    """Where batches start in a line of sentences, each batch as long as rows × widest ≤ tokens allows; then the end.

    Batches of many rows have a multiple of `even`.
    """
    counting = np.arange(1, min(rows, tokens, max(1, len(widths))) + 1)
    starts, begin = [0], 0
    while begin < len(widths):
        most = min(rows, tokens // int(widths[begin]))
        widest = np.maximum.accumulate(widths[begin : begin + most])
        count = int(np.searchsorted(widest * counting[: len(widest)], tokens, side="right"))
        begin += count - count % even if count >= 4 * even else count
        starts.append(begin)
    return np.array(starts, np.int64)
