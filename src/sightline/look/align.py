"""Word alignment out of attention: each target word is linked to the source word it looks at most.

Which layer, which head and which of the two readings makes most of the difference, so `best_heads` tries them all on
sentences with gold links, chooses there, and reports on other sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.evaluate.alignment import Gold, Links, aer, alignment_scores
from sightline.evaluate.score import Score
from sightline.look.record import NO_CROSS, READINGS, Explanation, Reading


@dataclass(frozen=True, slots=True)
class Look:
    """Which of a model's many attentions is read, and how."""

    name: str
    head: int | None  # None: the mean of all heads
    reading: Reading

    def __str__(self) -> str:
        head = "mean of heads" if self.head is None else f"head {self.head}"
        return f"{self.name}, {head}, {self.reading.replace('_', ' ')}"


@dataclass(frozen=True, slots=True)
class BestHead:
    """The look with the lowest alignment error on dev, and what it scores on test."""

    look: Look
    dev_aer: float  # in per cent; chosen as the lowest of many, so it flatters
    test: tuple[Score, ...]  # AER first, then precision, recall, F½ and the number of links


def alignments(
    explanation: Explanation, name: str, head: int | None = None, reading: Reading = "while_writing"
) -> set[tuple[int, int]]:
    """Links (source word, target word) of one look, as `text.split()` counts; no link where EOS is looked at most."""
    return set(_links(explanation.weights(name, head, reading)))


def links_of_all(explanations: Iterable[Explanation]) -> dict[Look, list[Links]]:
    """The links of every sentence under every look at the source: layer × (head or mean) × reading."""
    found: dict[Look, list[Links]] = {}
    for explanation in explanations:
        if not explanation.crosses:
            raise UserError(NO_CROSS)
        for name in explanation.crosses:
            for reading in READINGS:
                heads = explanation.heads(name, reading)
                for head, weights in [*enumerate(heads), (None, heads.mean(0))]:
                    found.setdefault(Look(name, head, reading), []).append(_links(weights))
    return found


def best_heads(
    dev: Mapping[Look, Sequence[Links]], dev_gold: Sequence[Gold], test: Mapping[Look, Sequence[Links]], test_gold: Sequence[Gold]
) -> dict[Reading, BestHead]:
    """For each reading the look that is best on dev, with its scores on test; the links come from `links_of_all`."""
    errors = {look: aer(links, dev_gold) for look, links in dev.items()}
    best: dict[Reading, BestHead] = {}
    for reading in READINGS:
        look = min((look for look in errors if look.reading == reading), key=errors.__getitem__)
        best[reading] = BestHead(look, errors[look], tuple(alignment_scores(test[look], test_gold)))
    return best


def _links(weights: NDArray[np.float32]) -> Links:
    """The last column is EOS."""
    end = weights.shape[1] - 1
    return frozenset((int(source), target) for target, source in enumerate(weights.argmax(1)) if source != end)
