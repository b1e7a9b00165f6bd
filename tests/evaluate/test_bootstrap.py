"""Resampling: the right distribution, the same draws whatever the chunks, the right percentiles."""

import itertools
from collections import Counter

import numpy as np
import pytest

from sightline.evaluate import bootstrap
from sightline.evaluate.bootstrap import interval, resampled_sums, scores_of

ROWS = np.array([[1.0, 2.0], [3.0, 2.0], [4.0, 8.0]])


def test_sums_have_the_distribution_of_all_resamples() -> None:
    exact = Counter(tuple(ROWS[list(draw)].sum(axis=0)) for draw in itertools.product(range(3), repeat=3))
    drawn = Counter(map(tuple, resampled_sums(ROWS, 20_000, seed=1)))
    assert set(drawn) == set(exact)
    for sums, ways in exact.items():
        share = ways / 27
        assert abs(drawn[sums] / 20_000 - share) < 5 * (share * (1 - share) / 20_000) ** 0.5


def test_one_sentence_never_moves() -> None:
    assert (resampled_sums(ROWS[:1], 40, seed=1) == ROWS[0]).all()


@pytest.mark.parametrize("cells", [1, 7, 10])
def test_chunks_change_nothing(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = resampled_sums(ROWS, 50, seed=3)
    monkeypatch.setattr(bootstrap, "_CELLS", cells)
    assert (resampled_sums(ROWS, 50, seed=3) == whole).all()


def test_the_seed_decides() -> None:
    assert (resampled_sums(ROWS, 50, 3) == resampled_sums(ROWS, 50, 3)).all()
    assert (resampled_sums(ROWS, 50, 3) != resampled_sums(ROWS, 50, 4)).any()


def test_interval_is_the_middle_95_per_cent() -> None:
    shuffled = np.random.default_rng(0).permutation(np.arange(1000.0))
    assert interval(shuffled) == (25.0, 974.0)
    assert interval(np.arange(40.0)) == (1.0, 38.0)


def test_scores_are_of_each_row() -> None:
    assert scores_of(ROWS, lambda sums: float(sums[0] / sums[1])).tolist() == [0.5, 1.5, 0.5]
