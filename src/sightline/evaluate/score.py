"""A number and how it came about, as one object; and the per-sentence counts that the number is a function of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sightline.errors import UserError
from sightline.evaluate.bootstrap import RESAMPLES, SEED, Formula, Rows, interval, resampled_sums, scores_of


@dataclass(frozen=True, slots=True)
class Score:
    """A figure that may be printed: it has a recipe, and an interval where one can be given (a p-value has none)."""

    name: str
    value: float
    low: float | None
    high: float | None
    recipe: str  # fields `key:value` joined by `|`, as in sacreBLEU's signatures

    def __post_init__(self) -> None:
        if not self.name or not self.recipe.strip():
            raise ValueError(f"a bare number, {self.name or 'nameless'} = {self.value}: say in its recipe how it was made")
        if (self.low is None) != (self.high is None):
            raise ValueError(f"{self.name}: an interval has two ends, not [{self.low}, {self.high}]")
        if not all(math.isfinite(number) for number in (self.value, self.low or 0.0, self.high or 0.0)):
            raise ValueError(f"{self.name}: {self.value} [{self.low}, {self.high}] is not a number")

    def __str__(self) -> str:
        return f"{self.name} {self.number()}  {self.recipe}"

    def number(self, digits: int = 2) -> str:
        """The value with its interval."""
        text = f"{self.value:.{digits}f}"
        return text if self.low is None or self.high is None else f"{text} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """What a corpus score is made of, sentence by sentence: enough for intervals and paired tests without scoring again."""

    name: str
    rows: Rows
    formula: Formula
    recipe: str
    lower_is_better: bool = False

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or not len(self.rows):
            raise ValueError(f"{self.name}: counts for at least one sentence, not an array of shape {self.rows.shape}")

    def value(self) -> float:
        """The score of the whole corpus."""
        return self.formula(self.rows.sum(axis=0))

    def score(self, resamples: int = RESAMPLES, seed: int = SEED) -> Score:
        """The score of the whole corpus with its 95 % bootstrap interval."""
        check_resamples(resamples)
        low, high = interval(scores_of(resampled_sums(self.rows, resamples, seed), self.formula))
        return Score(self.name, self.value(), low, high, with_resampling(self.recipe, "bs", resamples, seed))

    def only(self, indices: Sequence[int], what: str) -> Statistics:
        """The same for some of the sentences; `what` says in the recipe which."""
        return replace(self, rows=self.rows[np.asarray(indices, dtype=np.int64)], recipe=f"{self.recipe}|only:{what}")


def check_resamples(resamples: int) -> None:
    """A share of 1/40 is cut off at each end, so fewer than 40 resamples have no 95 % interval."""
    if resamples < 40:
        raise UserError(f"{resamples} resamples are too few for a 95 % interval; take at least 40, better {RESAMPLES}")


def with_resampling(recipe: str, kind: str, times: int, seed: int) -> str:
    """The recipe with how often and with which seed was drawn, in the place where sacreBLEU writes it."""
    first, *rest = recipe.split("|")
    return "|".join([first, f"{kind}:{times}", f"seed:{seed}", *rest])
