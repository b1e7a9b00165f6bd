"""Scores by the length of the source: where a system without attention shows its bottleneck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sightline.errors import UserError
from sightline.evaluate.bootstrap import RESAMPLES, SEED
from sightline.evaluate.score import Score, Statistics
from sightline.evaluate.significance import difference

QUARTILES = 4


@dataclass(frozen=True, slots=True)
class Bucket:
    """The sentences whose sources have between `shortest` and `longest` words."""

    shortest: int
    longest: int
    indices: tuple[int, ...]

    def label(self) -> str:
        """Its bounds in words."""
        return f"{self.shortest} words" if self.shortest == self.longest else f"{self.shortest}–{self.longest} words"


def length_buckets(sources: Sequence[str], count: int = QUARTILES) -> list[Bucket]:
    """About equal shares of the sentences, from short to long sources.

    Sentences of one length stay together, so shares differ a little, and a corpus with few lengths has fewer buckets.
    """
    if count < 1:
        raise UserError(f"{count} length buckets; take at least 1")
    if not sources:
        raise UserError("there is no source sentence to sort by length; give at least one")
    lengths = np.array([len(source.split()) for source in sources])
    ordered = np.sort(lengths)
    last_of_share = -(-len(lengths) * np.arange(1, count + 1) // count) - 1
    upper = np.unique(ordered[last_of_share])
    place = np.searchsorted(upper, lengths)
    members = [np.flatnonzero(place == bucket) for bucket in range(len(upper))]
    return [Bucket(int(lengths[each].min()), int(lengths[each].max()), tuple(each.tolist())) for each in members]


def score_by_length(
    statistics: Statistics, buckets: Sequence[Bucket], *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[Score]:
    """One system's score in each bucket."""
    return [_within(statistics, bucket).score(resamples, seed) for bucket in buckets]


def difference_in_bucket(
    baseline: Statistics, system: Statistics, bucket: Bucket, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Score:
    """System minus baseline on the sentences of one bucket, with its paired bootstrap interval."""
    return difference(_within(baseline, bucket), _within(system, bucket), resamples=resamples, seed=seed)


def _within(statistics: Statistics, bucket: Bucket) -> Statistics:
    if bucket.indices[-1] >= len(statistics.rows):
        raise UserError(f"the bucket has sentence {bucket.indices[-1] + 1}, but only {len(statistics.rows)} are scored")
    return statistics.only(bucket.indices, f"{bucket.shortest}-{bucket.longest} source words, {len(bucket.indices)} sentences")
