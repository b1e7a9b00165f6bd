"""Is one system better than another, or were the sentences kind to it? Two paired tests on per-sentence counts.

*Paired bootstrap* (Koehn 2004): both systems are scored on the same resampled corpora; p is the share of resamples in
which the order turns, doubled because either system might have been the better one, and the difference gets an interval.
sacreBLEU's `--paired-bs` prints the one-sided share, about half of it. *Approximate randomisation*: under the hypothesis that
the systems are alike, swapping their translations of a sentence changes nothing; p is the share of random swaps that make a
difference at least as large. It assumes less and is the one to quote.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.evaluate.bootstrap import RESAMPLES, SEED, Formula, Rows, interval, resampled_sums, scores_of
from sightline.evaluate.score import Score, Statistics, check_resamples, with_resampling

TRIALS = 10_000
LEVEL = 0.05

_CELLS = 1 << 21
_ROUNDING = 1e-9  # differences that are equal in exact arithmetic


@dataclass(frozen=True, slots=True)
class Comparison:
    """A system beside a baseline on one metric and the same sentences; the difference is system minus baseline."""

    baseline: Score
    system: Score
    difference: Score
    p_bootstrap: Score
    p_randomisation: Score
    lower_is_better: bool

    @property
    def significant(self) -> bool:
        """Whether the randomisation test refuses chance at the 5 % level."""
        return self.p_randomisation.value < LEVEL

    def verdict(self) -> str:
        """The comparison in words."""
        if not self.significant:
            return f"no significant difference in {self.system.name}"
        better = (self.difference.value < 0) == self.lower_is_better
        return f"the system is {'better' if better else 'worse'} in {self.system.name}"


def compare(
    baseline: Statistics, system: Statistics, *, resamples: int = RESAMPLES, trials: int = TRIALS, seed: int = SEED
) -> Comparison:
    """Both tests on two systems' counts for the same sentences and metric."""
    _check_pair(baseline, system)
    if trials < 1:
        raise UserError(f"{trials} random trials; take at least 1, better {TRIALS}")
    differences = _resampled_differences(baseline, system, resamples, seed)
    bootstrapped = with_resampling(system.recipe, "bs", resamples, seed)
    randomised = with_resampling(system.recipe, "ar", trials, seed)
    p_bootstrap, p_randomisation = _share_turned(differences), _share_as_large(baseline, system, trials, seed)
    return Comparison(
        baseline.score(resamples, seed),
        system.score(resamples, seed),
        _difference(baseline, system, differences, bootstrapped),
        Score("p (paired bootstrap)", p_bootstrap, None, None, f"{bootstrapped}|sides:2"),
        Score("p (approximate randomisation)", p_randomisation, None, None, f"{randomised}|sides:2"),
        system.lower_is_better,
    )


def difference(baseline: Statistics, system: Statistics, *, resamples: int = RESAMPLES, seed: int = SEED) -> Score:
    """System minus baseline with its paired bootstrap interval."""
    _check_pair(baseline, system)
    differences = _resampled_differences(baseline, system, resamples, seed)
    return _difference(baseline, system, differences, with_resampling(system.recipe, "bs", resamples, seed))


def _check_pair(baseline: Statistics, system: Statistics) -> None:
    if baseline.recipe != system.recipe:
        raise UserError(f"scores made in different ways cannot be compared: {baseline.recipe} and {system.recipe}")
    if baseline.rows.shape != system.rows.shape:
        raise UserError(
            f"{len(baseline.rows)} sentences of the baseline but {len(system.rows)} of the system; compare on the same test set"
        )


def _resampled_differences(baseline: Statistics, system: Statistics, resamples: int, seed: int) -> Rows:
    check_resamples(resamples)
    # One seed, one number of sentences: the same sentences are drawn for both.
    of_baseline = scores_of(resampled_sums(baseline.rows, resamples, seed), baseline.formula)
    return scores_of(resampled_sums(system.rows, resamples, seed), system.formula) - of_baseline


def _difference(baseline: Statistics, system: Statistics, differences: Rows, recipe: str) -> Score:
    low, high = interval(differences)
    return Score(f"Δ{system.name}", system.value() - baseline.value(), low, high, f"{recipe}|paired:yes")


def _share_turned(differences: Rows) -> float:
    """Twice the share of resamples on the rarer side of zero; the one added keeps it from being 0 by lack of resamples."""
    rarer = min((differences <= _ROUNDING).sum(), (differences >= -_ROUNDING).sum())
    return min(1.0, 2.0 * (int(rarer) + 1) / (len(differences) + 1))


def _share_as_large(baseline: Statistics, system: Statistics, trials: int, seed: int) -> float:
    observed = abs(system.value() - baseline.value())
    generator = np.random.default_rng(seed)
    step = max(1, _CELLS // len(baseline.rows))
    as_large = 0
    for begin in range(0, trials, step):
        count = min(step, trials - begin)
        kept = generator.integers(2, size=(count, len(baseline.rows)), dtype=bool)
        swapped = _swapped_differences(baseline.rows, system.rows, kept, baseline.formula)
        as_large += int((swapped >= observed - _ROUNDING).sum())
    return (as_large + 1) / (trials + 1)


def _swapped_differences(baseline: Rows, system: Rows, kept: NDArray[np.bool], formula: Formula) -> Rows:
    """How far two mixed systems differ: one takes the baseline's sentences where `kept`, the other takes them elsewhere."""
    one = system.sum(axis=0) + kept.astype(np.float64) @ (baseline - system)
    other = (baseline + system).sum(axis=0) - one
    return np.abs(scores_of(one, formula) - scores_of(other, formula))
