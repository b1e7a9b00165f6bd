"""The batch order: every sample once, within the budget, the same whoever asks, little padding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sightline.data.batches import BatchOrder, by_length, share
from sightline.errors import UserError

LONGEST = 30
pairs = st.lists(st.tuples(st.integers(0, LONGEST), st.integers(0, LONGEST)), min_size=1, max_size=120)
budgets = st.integers(LONGEST + 1, 400)


def lengths_of(sides: list[tuple[int, int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    table = np.array(sides, np.int32).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def epoch(order: BatchOrder, number: int) -> list[list[int]]:
    return [order.batch(number, index).tolist() for index in range(order.count(number))]


def alike(samples: int, seed: int = 0) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Lengths like those of image captions: about 14 and 15 ids, correlation about 0.85."""
    chance = np.random.RandomState(seed)
    common = chance.normal(14.5, 4.6, samples)
    sides = [np.clip(np.round(common + chance.normal(0, 1.9, samples)), 3, 45) for _ in range(2)]
    return sides[0].astype(np.int32), sides[1].astype(np.int32)


@given(pairs, budgets, st.integers(0, 2**64 - 1), st.integers(0, 1000), st.one_of(st.none(), st.integers(1, 9)))
def test_every_sample_once_and_no_batch_over_the_budget(
    sides: list[tuple[int, int]], tokens: int, seed: int, number: int, rows: int | None
) -> None:
    source, target = lengths_of(sides)
    batches = epoch(BatchOrder(source, target, tokens, seed, max_sentences=rows), number)
    assert sorted(sample for batch in batches for sample in batch) == list(range(len(sides)))
    for batch in batches:
        assert len(batch) * (source[batch].max() + 1) <= tokens
        assert len(batch) * (target[batch].max() + 1) <= tokens
        assert rows is None or len(batch) <= rows


@given(pairs, budgets, st.integers(0, 99), st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_order_depends_on_seed_and_epoch_alone(
    sides: list[tuple[int, int]], tokens: int, seed: int, asked_before: list[int]
) -> None:
    fresh, used = (BatchOrder(*lengths_of(sides), tokens, seed) for _ in range(2))
    for number in asked_before:
        used.batch(number, used.count(number) - 1)
    assert epoch(used, 3) == epoch(fresh, 3)


def test_the_order_never_changes_between_versions() -> None:
    """A run resumed after an upgrade must see the same batches: change this only with the format of checkpoints."""
    source, target = alike(40)
    order = BatchOrder(source, target, 100, seed=7)
    assert [batch[:3] for batch in epoch(order, 2)[:4]] == [[7, 27, 34], [9, 6, 1], [22, 15, 16], [11, 24, 3]]


def test_epochs_seeds_and_companions_differ() -> None:
    source, target = alike(3000)
    order = BatchOrder(source, target, 512, seed=1)
    first, second = epoch(order, 0), epoch(order, 1)
    assert first != second
    assert first != epoch(BatchOrder(source, target, 512, seed=2), 0)
    mates = [{frozenset((a, b)) for batch in batches for a in batch for b in batch if a < b} for batches in (first, second)]
    assert len(mates[0] & mates[1]) < 0.4 * len(mates[0])


def test_batches_come_in_no_order_of_length() -> None:
    source, target = alike(20_000)
    means = [target[batch].mean() for batch in epoch(BatchOrder(source, target, 512, seed=3), 0)]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.15
    assert abs(np.corrcoef(means[:-1], means[1:])[0, 1]) < 0.15


def test_little_padding_and_full_batches() -> None:
    source, target = alike(29_000)
    order = BatchOrder(source, target, 2048, seed=1)
    batches = [order.batch(0, index) for index in range(order.count(0))]
    for side in (source, target):
        padded = sum(len(batch) * (int(side[batch].max()) + 1) for batch in batches)
        assert 1 - (side + 1).sum() / padded < 0.05
    assert len(batches) < 1.12 * (np.maximum(source, target) + 1).sum() / 2048


def test_a_batch_outside_the_epoch_is_an_error() -> None:
    order = BatchOrder(*alike(50), 200, seed=1)
    for outside in (-1, order.count(0)):
        with pytest.raises(IndexError, match="of epoch 0"):
            order.batch(0, outside)


def test_a_sentence_longer_than_a_batch_is_named_with_the_way_out() -> None:
    source, target = np.array([3, 4, 5], np.int32), np.array([3, 100, 4], np.int32)
    with pytest.raises(UserError, match=r"news.tsv:2: 101 tokens .* whole batch of 100 \(1 such in all\); allow more tokens"):
        BatchOrder(source, target, 100, 1, name=lambda sample: f"news.tsv:{sample + 1}")
    assert BatchOrder(source, target, 101, 1).count(0) >= 2


def test_nothing_to_train_on_is_said() -> None:
    with pytest.raises(UserError, match="no sentence to train on"):
        BatchOrder(*lengths_of([]), 100, 1)
    with pytest.raises(UserError, match="max_sentences is 0"):
        BatchOrder(*lengths_of([(1, 1)]), 100, 1, max_sentences=0)


@given(st.integers(0, 40), st.integers(1, 5), st.integers(1, 4))
def test_shares_of_all_ranks_and_parts_are_the_batch(rows: int, world: int, parts: int) -> None:
    batch = np.arange(100, 100 + rows)
    shares = [share(batch, rank, world, part, parts) for rank in range(world) for part in range(parts)]
    assert sorted(np.concatenate(shares).tolist()) == batch.tolist()
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize(("rank", "part"), [(2, 0), (-1, 0), (0, 3), (0, -1)])
def test_a_rank_or_part_that_does_not_exist_is_an_error(rank: int, part: int) -> None:
    with pytest.raises(ValueError, match="rank"):
        share(np.arange(9), rank, 2, part, 3)


@given(st.lists(st.integers(0, 60), max_size=80), st.integers(1, 200), st.one_of(st.none(), st.integers(1, 9)))
def test_by_length_is_complete_sorted_and_bounded(sizes: list[int], tokens: int, rows: int | None) -> None:
    lengths = np.array(sizes, np.int32)
    batches = by_length(lengths, tokens, rows)
    line = [sample for batch in batches for sample in batch.tolist()]
    assert sorted(line) == list(range(len(sizes)))
    assert [sizes[sample] for sample in line] == sorted(sizes, reverse=True)
    for batch in batches:
        assert len(batch) == 1 or len(batch) * (lengths[batch].max() + 1) <= tokens
        assert rows is None or len(batch) <= rows


def test_large_batches_have_an_even_number_of_rows() -> None:
    """So that the shapes of products, and sizes in memory, are few."""
    lengths = np.full(3000, 9, np.int32)
    order = BatchOrder(lengths, lengths, 1500, seed=1)
    counts = sorted(len(order.batch(0, index)) for index in range(order.count(0)))
    assert counts[-1] == 144  # 150 would fit
    assert all(count % 16 == 0 for count in counts[1:])  # one has what is left
