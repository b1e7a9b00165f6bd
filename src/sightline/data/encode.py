"""Texts into token ids, fast: a word is cut into pieces once, and then only looked up.

No piece crosses a space (see `text.pipeline`), so the ids of a text are those of its words, end to end.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import final

import numpy as np
from numpy.typing import NDArray

from sightline.data.encoded import Ids, Rows, id_dtype
from sightline.text.tokenizer import Tokenizer

MOST_WORDS = 100_000  # remembered; bounds the memory


@final
class Encoder:
    """A tokenizer and the words it has met."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._numbers, self._starts, self._lengths, self._ids = _nothing(tokenizer)

    def encode(self, texts: Sequence[str]) -> Rows:
        """The ids of the texts, as `Tokenizer.encode_batch` gives them."""
        if self._tokenizer.kind == "words":  # white space of all kinds separates these: left to the library
            return Rows.of(self._tokenizer.encode_batch(texts), self._tokenizer.size)
        words = [text.split(" ") if text else [] for text in texts]
        self._learn(set().union(*words))
        numbers = np.fromiter(map(self._numbers.__getitem__, chain.from_iterable(words)), np.int64)
        ends = np.cumsum(np.concatenate([[0], self._lengths[numbers]]))
        # Each id's place: where its word begins among the known ids, plus how far into the word it is.
        shift = np.repeat(self._starts[numbers] - ends[:-1], self._lengths[numbers])
        ids = self._ids[shift + np.arange(ends[-1])]
        sentences = np.cumsum([0, *map(len, words)])
        return Rows(ids, np.diff(ends[sentences]).astype(np.int32))

    def _learn(self, words: set[str]) -> None:
        """Make all these words known."""
        new = words - self._numbers.keys()
        if len(self._numbers) + len(new) > MOST_WORDS:
            self._numbers, self._starts, self._lengths, self._ids = _nothing(self._tokenizer)
            new = words
        if not new:
            return
        found = self._tokenizer.encode_batch([word or " " for word in new])
        # A text gets a space in front, so what stands between two spaces, nothing, is half of what " " becomes.
        pieces = [ids if word else ids[: len(ids) // 2] for word, ids in zip(new, found, strict=True)]
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        self._numbers.update(zip(new, range(len(self._numbers), len(self._numbers) + len(new)), strict=True))
        self._starts = np.concatenate([self._starts, len(self._ids) + np.cumsum(lengths) - lengths])
        self._lengths = np.concatenate([self._lengths, lengths])
        self._ids = np.concatenate([self._ids, np.fromiter(chain.from_iterable(pieces), self._ids.dtype)])


def _nothing(tokenizer: Tokenizer) -> tuple[dict[str, int], NDArray[np.int64], NDArray[np.int64], Ids]:
    """No words: their numbers, and by number where the ids of each begin, how many they are; and all the ids."""
    return {}, np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, id_dtype(tokenizer.size))


def select(rows: Rows, chosen: NDArray[np.bool_]) -> Rows:
    """Some of the sentences."""
    return Rows(rows.ids[np.repeat(chosen, rows.lengths)], rows.lengths[chosen])
