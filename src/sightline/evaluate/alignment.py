"""Word alignment as sets of links, its error against gold links, and making one alignment of two directions.

A link is (source word, target word), both from 0. Gold links are sure or possible, and every sure link is possible too
(Och & Ney 2003). With A the links found, S the sure and P the possible ones, all summed over the corpus:

    precision = |A∩P| / |A|     recall = |A∩S| / |S|     AER = 1 - (|A∩S| + |A∩P|) / (|A| + |S|)

AER rewards leaving hard words alone (Fraser & Marcu 2007), so F½, for which every gold link counts alike, stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from sightline.errors import UserError
from sightline.evaluate.bootstrap import RESAMPLES, SEED, Rows
from sightline.evaluate.score import Score, Statistics

Link = tuple[int, int]
Links = frozenset[Link]
Symmetry = Literal["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


class Gold(NamedTuple):
    """The right links of one sentence pair."""

    sure: Links
    possible: Links  # with the sure ones

    @staticmethod
    def of(sure: Iterable[Link], possible: Iterable[Link] = ()) -> Gold:
        """Gold links from the two kinds; the possible ones may or may not repeat the sure ones."""
        certain = frozenset(sure)
        return Gold(certain, certain | frozenset(possible))


def alignment_scores(
    predicted: Sequence[Links], gold: Sequence[Gold], *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[Score]:
    """AER, precision, recall and F½ in per cent, and the number of links, with bootstrap intervals over sentence pairs."""
    return [statistics.score(resamples, seed) for statistics in alignment_statistics(predicted, gold)]


def alignment_statistics(predicted: Sequence[Links], gold: Sequence[Gold]) -> list[Statistics]:
    """The counts behind those five, for intervals and for paired tests between two aligners."""
    rows = _counts(predicted, gold)
    _, sure, _, _, possible = rows.sum(axis=0).astype(int)
    recipe = f"gold:{sure}S+{possible - sure}P|sentences:{len(rows)}"

    def of(name: str, formula: Callable[[Rows], float], how: str, *, lower_is_better: bool = False) -> Statistics:
        return Statistics(name, rows, formula, f"{recipe}|{how}", lower_is_better)

    return [
        of("AER", _aer, "average:micro|unit:percent", lower_is_better=True),
        of("precision", lambda sums: _percent(sums[3], sums[0]), "average:micro|unit:percent"),
        of("recall", lambda sums: _percent(sums[2], sums[1]), "average:micro|unit:percent"),
        of("F½", lambda sums: _percent(2 * sums[3], sums[0] + sums[4]), "average:micro|unit:percent|sure:all"),
        of("links", lambda sums: float(sums[0]), "unit:links found"),
    ]


def aer(predicted: Sequence[Links], gold: Sequence[Gold]) -> float:
    """The alignment error rate alone, in per cent, for choosing among many heads; a number to be reported has a recipe."""
    return _aer(_counts(predicted, gold).sum(axis=0))


def diagonal(source_words: int, target_words: int) -> Links:
    """The links of an aligner that knows lengths only: each target word to the source word on the straight line, ends to ends."""
    if not source_words:
        return frozenset()
    step = (source_words - 1) / max(1, target_words - 1)
    return frozenset((round(target * step), target) for target in range(target_words))


def symmetrise(forward: Links, backward: Links, method: Symmetry = "grow-diag") -> Links:
    """One alignment of two made in opposite directions, both given as (source, target).

    The methods are those of Moses. grow-diag starts from the intersection and takes links of the union that have one of their
    eight neighbours in, as long as the source word *or* the target word has no link yet (some programs ask that of both).
    grow-diag-final then takes, direction after direction, links with a free word and no neighbour; grow-diag-final-and
    takes only those of which *both* words are free.
    """
    if method == "intersection":
        return forward & backward
    if method == "union":
        return forward | backward
    if method not in get_args(Symmetry):
        raise UserError(f"symmetrising by {method!r} is not known; choose one of {', '.join(get_args(Symmetry))}")
    links = _grow(forward & backward, forward | backward)
    if method != "grow-diag":
        both = method == "grow-diag-final-and"
        for direction in (forward, backward):
            _add_free(links, direction, both)
    return frozenset(links)


def _counts(predicted: Sequence[Links], gold: Sequence[Gold]) -> Rows:
    """Sentence by sentence |A|, |S|, |A∩S|, |A∩P|, |P|."""
    if len(predicted) != len(gold):
        raise UserError(f"{len(predicted)} alignments but {len(gold)} gold lines; give one line for each sentence pair")
    rows = np.array(
        [
            (len(found), len(sure), len(found & sure), len(found & possible), len(possible))
            for found, (sure, possible) in zip(predicted, gold, strict=True)
        ],
        dtype=np.float64,
    )
    if not rows.size or not rows[:, 1].sum():
        raise UserError("the gold alignments hold no sure link, so there is nothing to measure against; check the gold file")
    return rows


def _aer(sums: Rows) -> float:
    """No link at all is the worst alignment, as is one that only finds what is not gold."""
    found, sure, right_sure, right_possible, _ = sums
    return 100.0 if not found else float(100.0 * (1.0 - (right_sure + right_possible) / (found + sure)))


def _percent(part: float, whole: float) -> float:
    return float(100.0 * part / whole) if whole else 0.0


def _grow(start: Links, union: Links) -> set[Link]:
    """Take neighbours of taken links, in the order of the source and again from its start, until none is left to take."""
    links = set(start)
    sources, targets = {source for source, _ in links}, {target for _, target in links}
    before = -1
    while before < len(links):
        before = len(links)
        for source, target in (link for link in sorted(union) if link in links):
            for new in ((source + down, target + right) for down, right in _NEIGHBOURS):
                if new in union and (new[0] not in sources or new[1] not in targets):
                    links.add(new)
                    sources.add(new[0])
                    targets.add(new[1])
    return links


def _add_free(links: set[Link], candidates: Links, both: bool) -> None:
    """Take each candidate of which a word, or both words, have no link yet."""
    sources, targets = {source for source, _ in links}, {target for _, target in links}
    for source, target in sorted(candidates):
        free = (source not in sources, target not in targets)
        if all(free) if both else any(free):
            links.add((source, target))
            sources.add(source)
            targets.add(target)
