"""French verb forms: tables for the irregular, rules for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sightline.data.grammar.words_irregular import DOUBLING_ER, FRENCH

VOWELS = frozenset("aàâäeéèêëiîïoôöuùûüœæ")  # y is none: de yasmine
ASPIRATED = frozenset({"héros", "hibou", "hiboux", "haricot", "haricots"})  # no elision before these

_PRESENT_ER = ("e", "es", "e", "ons", "ez", "ent")
_PRESENT_IR = ("is", "is", "it", "issons", "issez", "issent")
_PRESENT_RE = ("s", "s", "", "ons", "ez", "ent")
_IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
_FUTURE = ("ai", "as", "a", "ons", "ez", "ont")


class Tense(Enum):
    """The four tenses, by what they become in English, and the infinitive."""

    PRESENT = "present"
    PAST = "passé composé"  # simple past
    IMPERFECT = "imparfait"  # past progressive; of a state, simple past
    FUTURE = "futur"  # will
    INFINITIVE = "infinitive"


@dataclass(frozen=True, slots=True)
class FrenchForms:
    """Six forms per simple tense (je tu il nous vous ils) and the participle (m f, m f in the plural)."""

    infinitive: str
    simple: dict[Tense, tuple[str, ...]]
    participle: tuple[str, str, str, str]


def elides(word: str) -> bool:
    """Whether le, de, que and the like lose their vowel before this word."""
    first = word[0]
    return first in VOWELS or (first == "h" and word not in ASPIRATED)


def conjugate(infinitive: str) -> FrenchForms:
    """All forms of a verb that the grammar uses."""
    present, future, participle = _IRREGULAR.get(infinitive) or _regular(infinitive)
    stem = "ét" if infinitive == "être" else present[3].removesuffix("ons")
    imperfect = tuple(_soften(stem, ending) for ending in _IMPERFECT)
    simple = {
        Tense.PRESENT: present,
        Tense.IMPERFECT: imperfect,
        Tense.FUTURE: tuple(future + ending for ending in _FUTURE),
    }
    return FrenchForms(infinitive, simple, agree(participle))


def agree(masculine: str, feminine: str = "") -> tuple[str, str, str, str]:
    """Masculine, feminine, and both in the plural, of a participle or an adjective."""
    bare = {"dû": "du"}.get(masculine, masculine)
    if not feminine:
        feminine = masculine if masculine.endswith("e") else bare + "e"
    plural = masculine if masculine[-1] in "sx" else bare + ("x" if masculine.endswith("eau") else "s")
    return masculine, feminine, plural, feminine + "s"


def _regular(infinitive: str) -> tuple[tuple[str, ...], str, str]:
    stem, ending = infinitive[:-2], infinitive[-2:]
    if ending == "ir":
        return tuple(stem + end for end in _PRESENT_IR), infinitive, stem + "i"
    if ending == "re":
        return tuple(stem + end for end in _PRESENT_RE), infinitive[:-1], stem + "u"
    strong = _strong_stem(infinitive)
    present = tuple(_soften(strong if place in (0, 1, 2, 5) else stem, end) for place, end in enumerate(_PRESENT_ER))
    # é stays in the future (je préférerai), the other changes reach it (j'achèterai, j'appellerai, je nettoierai)
    future = (stem if "é" in stem[-3:] and strong != stem else strong) + "er"
    return present, future, stem + "é"


def _strong_stem(infinitive: str) -> str:
    """The stem of an -er verb under stress: achète, préfère, appelle, nettoie."""
    stem = infinitive[:-2]
    if stem[-2:] in ("oy", "uy"):
        return stem[:-1] + "i"
    if infinitive in DOUBLING_ER:
        return stem + stem[-1]
    if len(stem) > 2 and stem[-2] in "eé" and stem[-1] not in VOWELS:
        return stem[:-2] + "è" + stem[-1]
    if stem.endswith("éch"):
        return stem[:-3] + "èch"
    return stem


def _soften(stem: str, ending: str) -> str:
    """Keep the sound of c and g before a and o: mangeons, commençais."""
    if ending[0] in "ao" and stem[-1] == "g":
        return stem + "e" + ending
    if ending[0] in "ao" and stem[-1] == "c":
        return stem[:-1] + "ç" + ending
    if stem[-1] == "ç":
        return stem[:-1] + ("ç" if ending[0] in "ao" else "c") + ending
    if stem.endswith("ge") and ending[0] in "ie":
        return stem[:-1] + ending
    return stem + ending


def _irregular() -> dict[str, tuple[tuple[str, ...], str, str]]:
    told = {}
    for line in FRENCH.strip().splitlines():
        infinitive, present, future, participle = (part.strip() for part in line.split(";"))
        stem = infinitive.rpartition("/")[0]
        told[infinitive.replace("/", "")] = (
            tuple(form.replace("-", stem) for form in present.split()),
            future.replace("-", stem),
            participle.replace("-", stem),
        )
    return told


_IRREGULAR = _irregular()
