"""BPE-dropout (Provilkov et al. 2020) without hidden random state: the same text, rate and key give the same pieces."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator
from dataclasses import dataclass

from tokenizers import Tokenizer as LibraryTokenizer

from sightline.errors import UserError
from sightline.text.pipeline import BYTE_NAMES

_MASK = (1 << 64) - 1


def coins(key: int) -> Iterator[float]:
    """Numbers in [0, 1) that depend on the key alone (splitmix64, Steele et al. 2014)."""
    state = key & _MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        yield ((mixed ^ (mixed >> 31)) >> 11) * 2.0**-53


@dataclass(frozen=True, slots=True)
class MergeTable:
    """The merges of a BPE tokenizer, to be applied one by one."""

    library: LibraryTokenizer
    ids: dict[str, int]
    merges: dict[tuple[int, int], tuple[int, int]]  # two neighbours -> (rank, what they become)

    @classmethod
    def of(cls, library: LibraryTokenizer) -> MergeTable:
        """Read the merges out of the library's own description."""
        model = json.loads(library.to_str())["model"]
        ids: dict[str, int] = model["vocab"]
        merges = {(ids[left], ids[right]): (rank, ids[left + right]) for rank, (left, right) in enumerate(model["merges"])}
        return cls(library, ids, merges)

    def encode(self, text: str, rate: float, key: int) -> list[int]:
        """The piece ids of a text when every merge, each time it could be made, is dropped with probability `rate`."""
        if not 0.0 <= rate <= 1.0:
            raise UserError(f"the rate of BPE-dropout must lie between 0 and 1, not {rate}")
        normalizer, pre_tokenizer = self.library.normalizer, self.library.pre_tokenizer
        assert normalizer is not None
        assert pre_tokenizer is not None
        toss = coins(key)
        ids: list[int] = []
        for word, _ in pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(text)):
            ids.extend(self._merge(self._characters(word), rate, toss))
        return ids

    def _characters(self, word: str) -> list[int]:
        """One id per character, or one per byte of a character that has none."""
        ids: list[int] = []
        for character in word:
            known = self.ids.get(character)
            ids.extend([known] if known is not None else [self.ids[BYTE_NAMES[b]] for b in character.encode("utf-8")])
        return ids

    def _merge(self, symbols: list[int], rate: float, toss: Iterator[float]) -> list[int]:
        """Make the best merge that is not dropped, until every possible merge is dropped at once.

        The candidates are tried from the best on, so only as many coins are tossed as decide the step.
        """
        following = [*range(1, len(symbols)), -1]
        before = list(range(-1, len(symbols) - 1))
        queue = [self._candidate(symbols, i, i + 1) for i in range(len(symbols) - 1)]
        heap = [candidate for candidate in queue if candidate is not None]
        heapq.heapify(heap)
        dropped: list[tuple[int, int, int, int]] = []
        while heap:
            candidate = heapq.heappop(heap)
            _, left, old_left, old_right = candidate
            right = following[left]
            if right < 0 or symbols[left] != old_left or symbols[right] != old_right:
                continue  # one of the two has been merged with another meanwhile
            if next(toss) < rate:
                dropped.append(candidate)
                continue
            symbols[left], symbols[right] = self.merges[old_left, old_right][1], -1
            following[left] = following[right]
            if following[left] >= 0:
                before[following[left]] = left
            # After a merge the dropped ones have a new chance, and the merged symbol has new neighbours.
            neighbours = (self._candidate(symbols, before[left], left), self._candidate(symbols, left, following[left]))
            for again in (*dropped, *neighbours):
                if again is not None:
                    heapq.heappush(heap, again)
            dropped.clear()
        return [symbol for symbol in symbols if symbol >= 0]

    def _candidate(self, symbols: list[int], left: int, right: int) -> tuple[int, int, int, int] | None:
        """(rank, place, the two symbols): it sorts by rank, then from the left, and shows whether it is out of date."""
        if left < 0 or right < 0:
            return None
        merge = self.merges.get((symbols[left], symbols[right]))
        return None if merge is None else (merge[0], left, symbols[left], symbols[right])
