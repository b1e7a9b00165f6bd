"""When two texts are nearly the same, and how keys are made of that.

Two sentences that differ in nothing but capitals, numbers, punctuation and spacing are one sentence for a model: it that
has seen the one in training needs no skill to translate the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

_WORD = ("L", "M", "N")  # categories of letters, marks and numbers


class _Folding(dict[int, str]):
    """A table for `str.translate` that works out each character when it first meets it."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        self[code] = "0" if category == "Nd" else character if category.startswith(_WORD) else " "
        return self[code]


_FOLDING = _Folding()
_NUMBER = re.compile("0(?: ?0)*")  # 1,000 and 12:30 have been cut in two


def near_key(text: str) -> str:
    """What near-duplicates have in common: lower case, every number a 0, no punctuation, single spaces."""
    folded = " ".join(unicodedata.normalize("NFKC", text).lower().translate(_FOLDING).split())
    return _NUMBER.sub("0", folded) if "0" in folded else folded


def hashes(texts: Iterable[str]) -> Keys:
    """64 bits for each text, the same on every machine: in ten million, two unlike texts meet once in 400,000 corpora."""
    return np.frombuffer(b"".join([blake2b(text.encode(), digest_size=8).digest() for text in texts]), "<u8")


def mix(keys: Keys, seed: int) -> Keys:
    """Other numbers, as if drawn at random, one for each key (splitmix64)."""
    start = np.uint64((seed * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF)
    mixed = keys ^ start
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
