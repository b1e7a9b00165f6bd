"""English verb and noun forms: tables for the irregular, rules for the rest."""

from __future__ import annotations

from dataclasses import dataclass

from sightline.data.grammar.words_irregular import ENGLISH_DOUBLING, ENGLISH_ING, ENGLISH_PAST
from sightline.data.grammar.words_nouns import ENGLISH_PLURALS

_PAST = dict(line.split() for line in ENGLISH_PAST.strip().splitlines())


@dataclass(frozen=True, slots=True)
class EnglishForms:
    """eat, eats, ate, eating."""

    base: str
    third: str
    past: str
    progressive: str


def inflect(base: str) -> EnglishForms:
    """All forms of a verb that the grammar uses; `be`, `can` and `must` are the writer's own business."""
    doubled = base + base[-1] if base in ENGLISH_DOUBLING else base
    consonant_y = base.endswith("y") and base[-2] not in "aeiou"
    past = _PAST.get(base) or (base[:-1] + "ied" if consonant_y else doubled.removesuffix("e") + "ed")
    drops_e = base.endswith("e") and not base.endswith(("ee", "oe", "ye"))
    progressive = ENGLISH_ING.get(base) or (base[:-1] if drops_e else doubled) + "ing"
    third = "has" if base == "have" else base[:-1] + "ies" if consonant_y else base + ("es" if _hisses(base) else "s")
    return EnglishForms(base, third, past, progressive)


def plural(noun: str) -> str:
    """The plural of a noun; of several words, that of the last."""
    before, space, last = noun.rpartition(" ")
    return before + space + _plural_word(last)


def _plural_word(word: str) -> str:
    if word in ENGLISH_PLURALS:
        return ENGLISH_PLURALS[word]
    if word.endswith("man"):
        return word.removesuffix("man") + "men"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if _hisses(word) else "s")


def _hisses(word: str) -> bool:
    return word.endswith(("s", "x", "z", "ch", "sh", "do", "go", "to", "ro")) and word not in ("photo", "piano")
