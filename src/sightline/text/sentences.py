"""Where a sentence ends, and how a text that is too long for a model is cut. No language is asked for.

In doubt there is no end: two sentences in one part are translated well, half a sentence is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

FULL_STOPS = ".!?…‼⁇⁈⁉"  # end a sentence when white space follows, and with it no small letter
SURE_STOPS = "。！？｡．।॥؟۔։።၊။។᙮"  # nothing else is written with them, so no space need follow
OPENERS = "\"'“‘«‹„‚»›([{¿¡「『（【《〈"
CLAUSE_ENDS = ";:,،؛、，；："

# “ ‘ « » open in one language and close in another: what opens touches the word after it. French sets a space before ».
_CLOSER = r"[\"'”’)\]}」』）】》〉]|[“‘«‹»›](?=[\s,;:)\]]|$)|[ \u00a0\u202f]»(?=[\s,;:)\]]|$)"
_STOP = re.compile(rf"([{FULL_STOPS}{SURE_STOPS}]+)((?:{_CLOSER})*)")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_SPACE = re.compile(r"\s*")
_CLAUSE = re.compile(rf"[{CLAUSE_ENDS}](?:(?<=[、，；：])|\s)\s*")
_GAP = re.compile(r"\s+")
_LAST_WORD = re.compile(r"[\w.]+$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")  # J. or U.S. or z.B.
_LONGEST_ABBREVIATION = 12

# Words whose full stop belongs to them, in small letters: before anything (by language), and before a number.
_ABBREVIATIONS = """
mr mrs ms dr prof rev hon gen col capt lt sgt gov sen rep st mt ft messrs vs cf al eq resp approx viz
mm mme mmes mlle mlles mgr pr av bd boul chap éd env
hr fr frl nr bzw ggf evtl inkl exkl zzgl vgl bspw ca mio mrd tel str dipl ing abs abschn
sr sra srta sres dra ud uds dña avda pág págs núm sig dott avv arch
dhr mevr drs bijv bl.a t.ex inż np tzn tzv např ул тов см
"""
_BEFORE_NUMBERS = """
no nos nr nº p pp pg vol fig figs art sec ch ed jan feb mar apr jun jul aug sep sept oct nov dec
"""
_ALWAYS, _WITH_NUMBER = frozenset(_ABBREVIATIONS.split()), frozenset(_BEFORE_NUMBERS.split())


def split_sentences(text: str) -> list[str]:
    """The sentences of a text; white space stays with the sentence before it, so that joining them gives the text."""
    return _cut_at(text, _sentence_ends(text))


def split_long(text: str, fits: Callable[[str], bool]) -> list[str]:
    """The fewest parts that fit, cut at sentence ends; joining them gives the text.

    A sentence that does not fit by itself is cut at commas and the like, failing that between words, failing that anywhere.
    `fits` must hold for what is part of a text that fits, and for every single character.
    """
    return _fit(text, fits, (split_sentences, _clauses, _words, _clusters, list))


def _fit(text: str, fits: Callable[[str], bool], cutters: Sequence[Callable[[str], list[str]]]) -> list[str]:
    """Cut with the first cutter and join again what fits together; what is still too long goes to the next one."""
    if not cutters:
        raise ValueError(f"not even the character {text!r} fits")
    units, parts, start = cutters[0](text), [], 0
    while start < len(units):
        count = _how_many(units, start, fits)
        if count:
            parts.append("".join(units[start : start + count]))
        else:
            parts.extend(_fit(units[start], fits, cutters[1:]))
        start += max(count, 1)
    return parts


def _how_many(units: Sequence[str], start: int, fits: Callable[[str], bool]) -> int:
    """How many units from `start` on fit together: doubling, then halving, as `fits` may be dear."""

    def together(count: int) -> bool:
        return fits("".join(units[start : start + count]))

    left = len(units) - start
    good, bad = 0, 1
    while bad <= left and together(bad):
        good, bad = bad, min(2 * bad, left) if bad < left else left + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if together(middle) else (good, middle)
    return good


def _cut_at(text: str, ends: Iterator[int]) -> list[str]:
    parts, start = [], 0
    for end in ends:
        if start < end < len(text):
            parts.append(text[start:end])
            start = end
    return [*parts, text[start:]] if text else []


def _sentence_ends(text: str) -> Iterator[int]:
    """Where the next sentence begins, from left to right; white space belongs to the sentence before."""
    cased = any(character.isupper() for character in text)
    marks = [*_STOP.finditer(text), *_PARAGRAPH.finditer(text)]
    for mark in sorted(marks, key=re.Match[str].start):
        space = _SPACE.match(text, mark.end())
        assert space is not None
        if mark.re is _PARAGRAPH or _is_end(text, mark, space.end(), cased):
            yield space.end()


def _is_end(text: str, stop: re.Match[str], beyond: int, cased: bool) -> bool:
    """Whether a sentence ends with this stop; `beyond` is where the text goes on after white space."""
    mark, closer = stop.groups()
    following = text[beyond : beyond + 4].lstrip(OPENERS)[:1]
    if mark[-1] in SURE_STOPS:
        return not _goes_on(mark, closer, following)
    if beyond == stop.end() or (cased and following.islower()):
        return False
    return mark != "." or closer != "" or not _belongs_to_word(text, stop.start(), following)


def _goes_on(mark: str, closer: str, following: str) -> bool:
    """A decimal number in wide characters; a quotation inside a sentence, 「行く。」と言った。"""
    if mark == "．" and following.isdecimal():
        return True
    if following == "" or following in CLAUSE_ENDS:
        return following != ""
    return closer != "" and "HIRAGANA" in unicodedata.name(following, "")


def _belongs_to_word(text: str, stop: int, following: str) -> bool:
    """Abbreviations, initials, and numbers below 100: ordinals in many languages, or the number of a list's item."""
    last = _LAST_WORD.search(text[max(0, stop - _LONGEST_ABBREVIATION) : stop])
    if last is None:
        return False
    word = last.group()
    if word.isdecimal():
        return len(word) <= 2
    small = word.lower()
    return _INITIALS.fullmatch(word) is not None or small in _ALWAYS or (small in _WITH_NUMBER and following.isdecimal())


def _clauses(text: str) -> list[str]:
    return _cut_at(text, (match.end() for match in _CLAUSE.finditer(text)))


def _words(text: str) -> list[str]:
    return _cut_at(text, (match.end() for match in _GAP.finditer(text)))


def _clusters(text: str) -> list[str]:
    """Characters with the marks that sit on them."""
    starts = (
        i
        for i, character in enumerate(text)
        if not unicodedata.category(character).startswith("M") and character != "\u200d" and text[i - 1] != "\u200d"
    )
    return _cut_at(text, starts)
