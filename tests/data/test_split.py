"""Duplicates, and what is held out: checked against plain sets and loops."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.data import split, spool
from sightline.data.split import DEV, DUPLICATE, TEST, TRAIN, Fates, hold_out, mark_duplicates
from sightline.data.spool import Column


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that a few keys already take several parts and chunks."""
    monkeypatch.setattr(split, "PART", 7)
    monkeypatch.setattr(spool, "CHUNK", 5)


def column(folder: Path, name: str, keys: list[int]) -> Column:
    # Small numbers would all fall into the same rank; spread them as hashes are.
    path = folder / name
    (np.array(keys, np.uint64) * np.uint64(0x9E3779B97F4A7C15)).tofile(path)
    return Column(path, len(keys))


def held(folder: Path, sources: list[int], targets: list[int], dev: int, test: int, seed: int = 1) -> Fates:
    fates = np.zeros(len(sources), np.uint8)
    hold_out(column(folder, "s", sources), column(folder, "t", targets), fates, dev, test, seed)
    return fates


@given(st.lists(st.integers(0, 9), max_size=60))
def test_all_but_the_first_of_equal_pairs_are_duplicates(tmp_path_factory: pytest.TempPathFactory, keys: list[int]) -> None:
    fates = np.zeros(len(keys), np.uint8)
    mark_duplicates(column(tmp_path_factory.mktemp("d"), "p", keys), fates)
    assert [fate == DUPLICATE for fate in fates] == [key in keys[:place] for place, key in enumerate(keys)]


pair_keys = st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), max_size=60)


@given(pair_keys, st.integers(0, 9), st.integers(0, 9), st.integers(0, 3))
def test_groups_never_straddle(
    tmp_path_factory: pytest.TempPathFactory, keys: list[tuple[int, int]], dev: int, test: int, seed: int
) -> None:
    sources, targets = [source for source, _ in keys], [target for _, target in keys]
    fates = held(tmp_path_factory.mktemp("h"), sources, targets, dev, test, seed)
    for source in set(sources):
        assert len({fate for fate, key in zip(fates, sources, strict=True) if key == source}) == 1
    sizes = Counter(sources)
    for fate, wanted in ((DEV, dev), (TEST, test)):
        # A first group may be too large by itself; else there are never more than wanted.
        groups = {source for source, there in zip(sources, fates, strict=True) if there == fate}
        assert (fates == fate).sum() <= wanted or len(groups) == 1
        assert all(sizes[source] <= split.LARGE for source in groups)
        assert not groups or wanted


def test_the_sets_are_filled_exactly_where_there_are_single_pairs(tmp_path: Path) -> None:
    sources = [i // 3 if i < 60 else i for i in range(200)]
    fates = held(tmp_path, sources, list(range(200)), 20, 30)
    assert Counter(fates.tolist()) == {TRAIN: 150, DEV: 20, TEST: 30}


def test_what_is_held_out_depends_on_seed_and_text_not_on_order(tmp_path: Path) -> None:
    keys = list(range(100))
    first, other = held(tmp_path, keys, keys, 10, 10, seed=1), held(tmp_path, keys, keys, 10, 10, seed=2)
    turned = held(tmp_path, keys[::-1], keys[::-1], 10, 10, seed=1)
    assert first.tolist() == turned[::-1].tolist()
    assert first.tolist() != other.tolist()


def test_groups_whose_targets_occur_elsewhere_are_held_out_last(tmp_path: Path) -> None:
    sources = list(range(40))
    targets = [i if i < 12 else 100 + i % 2 for i in range(40)]  # only the first twelve have a target of their own
    assert set(np.flatnonzero(held(tmp_path, sources, targets, 6, 6))) == set(range(12))
    more = held(tmp_path, sources, targets, 10, 10)
    assert Counter(more.tolist()) == {TRAIN: 20, DEV: 10, TEST: 10}
    assert set(range(12)) <= set(np.flatnonzero(more))


def test_a_huge_group_stays_in_training(tmp_path: Path) -> None:
    sources = [0] * 50 + list(range(1, 51))
    fates = held(tmp_path, sources, list(range(100)), 40, 0)
    assert (fates[:50] == TRAIN).all()
    assert (fates == DEV).sum() == 40


def test_dropped_pairs_are_not_held_out(tmp_path: Path) -> None:
    fates = np.full(30, DUPLICATE, np.uint8)
    fates[::3] = TRAIN
    keys = list(range(30))
    hold_out(column(tmp_path, "s", keys), column(tmp_path, "t", keys), fates, 4, 4, 1)
    assert Counter(fates.tolist()) == {DUPLICATE: 20, TRAIN: 2, DEV: 4, TEST: 4}
