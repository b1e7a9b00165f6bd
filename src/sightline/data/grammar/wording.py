"""How a line of the word tables says which of its words link: `avoir besoin de~; need`.

Without further marks, as many words on both sides link one by one, and unequally many all with all: `pomme de terre; potato`.
`word:k` puts a word into group k instead (whoever is unmarked is in group 0), and words of the same group link.
`word~` makes all links of the word possible rather than sure. `word/relation` names the dependency relation of a word to the
head of its phrase, the first word without one. `_` in the English is where the object of a verb stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_MARKED = re.compile(r"(?P<form>[^\s:~/]+)(?::(?P<group>\d))?(?P<weak>~)?(?:/(?P<relation>[\w:]+))?")


class Piece(NamedTuple):
    """A word of a wording, the group of words it links with, and whether surely."""

    form: str
    group: int
    sure: bool
    relation: str = ""  # to the head of its phrase; "" for the head


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of both languages for one meaning. `gap` counts the English words before the place of the object."""

    french: tuple[Piece, ...]
    english: tuple[Piece, ...]
    gap: int = -1


def read_wording(french: str, english: str) -> Wording:
    """The wording of two sides in the notation above."""
    words = english.split()
    gap = words.index("_") if "_" in words else -1
    left, right = french.split(), [word for word in words if word != "_"]
    one_by_one = ":" not in french + english and len(left) == len(right)
    return Wording(_pieces(left, one_by_one), _pieces(right, one_by_one), gap)


def _pieces(words: list[str], one_by_one: bool) -> tuple[Piece, ...]:
    pieces = []
    for place, word in enumerate(words):
        found = _MARKED.fullmatch(word)
        if found is None:
            raise ValueError(f"cannot read the word {word!r} of a word table")
        group = place if one_by_one else int(found["group"] or 0)
        pieces.append(Piece(found["form"], group, not found["weak"], found["relation"] or ""))
    return tuple(pieces)
