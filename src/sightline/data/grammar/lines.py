"""A sentence being written in one language, and the links between two that were written from one tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

from sightline.data.grammar.conjugate import elides

Mark = tuple[int, int, bool]  # a unit, the position of a word that says it, and whether that is sure

_ELIDED = {
    "le": "l'", "la": "l'", "je": "j'", "ne": "n'", "me": "m'", "te": "t'", "se": "s'", "que": "qu'", "de": "d'",
    "ce": "cet", "ma": "mon", "ta": "ton", "sa": "son",
}  # fmt: skip


class Link(NamedTuple):
    """To which unit a word belongs in the tree of the sentence: its head's, the relation, its lemma and class."""

    head: int
    relation: str
    lemma: str
    tag: str


@final
class French:
    """French words with their dependencies. Elision happens as the next word is put."""

    __slots__ = ("forms", "links", "marks", "place", "references")

    def __init__(self) -> None:
        self.forms: list[str] = []
        self.marks: list[Mark] = []
        self.links: list[Link] = []
        self.place: dict[int, int] = {}  # unit -> position of its chief word
        self.references: list[tuple[int, int]] = []  # position of a pronoun, unit of its antecedent

    def put(self, form: str, unit: int, sure: bool, link: Link) -> int:
        """Write a word; returns where it stands."""
        forms = self.forms
        position = len(forms)
        if position and forms[-1] in _ELIDED and elides(form):
            forms[-1] = _ELIDED[forms[-1]]
        forms.append(form)
        self.marks.append((unit, position, sure))
        self.links.append(link)
        return position


@final
class English:
    """English words. `a` becomes `an` as the next word is put."""

    __slots__ = ("forms", "marks")

    def __init__(self) -> None:
        self.forms: list[str] = []
        self.marks: list[Mark] = []

    def put(self, form: str, unit: int, sure: bool) -> None:
        """Write a word."""
        forms = self.forms
        position = len(forms)
        if position and forms[-1] == "a" and _starts_with_vowel(form):
            forms[-1] = "an"
        forms.append(form)
        self.marks.append((unit, position, sure))


def aligned(source: Sequence[Mark], target: Sequence[Mark]) -> tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]:
    """The sure and the merely possible links: words that say the same unit; sure if both say it surely."""
    by_unit: dict[int, list[tuple[int, bool]]] = {}
    for unit, position, certain in target:
        by_unit.setdefault(unit, []).append((position, certain))
    sure: list[tuple[int, int]] = []
    possible: list[tuple[int, int]] = []
    for unit, position, certain in source:
        for other, also in by_unit.get(unit, ()):
            (sure if certain and also else possible).append((position, other))
    surely = frozenset(sure)
    return surely, frozenset(possible) - surely


def _starts_with_vowel(word: str) -> bool:
    return word[0] in "aeio" or (word[0] == "u" and not word.startswith(("uni", "use"))) or word.startswith("hon")
