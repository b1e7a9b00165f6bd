"""Alignment error: by hand, by properties, and on real gold links."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.evaluate.alignment import (
    Gold,
    Links,
    Symmetry,
    aer,
    alignment_scores,
    alignment_statistics,
    diagonal,
    symmetrise,
)
from sightline.evaluate.link_files import read_gold
from sightline.evaluate.significance import compare
from sightline.text.lines import read_lines

DATA = Path(os.environ.get("SIGHTLINE_DATA", Path(__file__).parents[2] / ".." / "shared" / "data")) / "word_align_gold_awesome"
METHODS: list[Symmetry] = ["intersection", "grow-diag", "grow-diag-final-and", "grow-diag-final", "union"]

links = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


def line(*pairs: tuple[int, int]) -> Links:
    return frozenset(pairs)


def test_scores_by_hand() -> None:
    gold = [Gold.of([(0, 0), (1, 1)], [(1, 2)]), Gold.of([(0, 0)])]
    predicted = [line((0, 0), (1, 2), (2, 2)), line((0, 0))]  # |A| 4, |S| 3, |A∩S| 2, |A∩P| 3, |P| 4
    values = {score.name: score.value for score in alignment_scores(predicted, gold, resamples=40)}
    half = 100 / (0.5 / (3 / 4) + 0.5 / (3 / 4))
    assert values == pytest.approx({"AER": 100 * (1 - 5 / 7), "precision": 75, "recall": 200 / 3, "F½": half, "links": 4})


def test_sums_are_over_the_corpus_and_not_means_of_sentences() -> None:
    gold = [Gold.of([(0, 0)]), Gold.of([(i, i) for i in range(9)])]
    predicted = [line((0, 1)), frozenset((i, i) for i in range(9))]
    assert aer(predicted, gold) == pytest.approx(100 * (1 - 18 / 20))


def test_no_link_at_all_is_the_worst() -> None:
    scores = alignment_scores([frozenset(), frozenset()], [Gold.of([(0, 0)]), Gold.of([(1, 1)])], resamples=40)
    assert [score.value for score in scores] == [100, 0, 0, 0, 0]
    # Nor does a resample break in which there is neither a link nor a sure one to find.
    rate = alignment_scores([frozenset(), frozenset()], [Gold.of([(0, 0)]), Gold.of([])], resamples=100)[0]
    assert (rate.low, rate.value, rate.high) == (100, 100, 100)


@settings(deadline=None)
@given(st.lists(st.tuples(links, links, links), min_size=1, max_size=4))
def test_rates_are_bounded_and_agree(rows: list[tuple[Links, Links, Links]]) -> None:
    gold = [Gold.of({*sure, (0, 0)}, possible) for _, sure, possible in rows]
    predicted = [found for found, _, _ in rows]
    rate, precision, recall, both, count = (statistics.value() for statistics in alignment_statistics(predicted, gold))
    assert 0 <= rate <= 100
    assert 0 <= recall <= 100
    assert count == sum(map(len, predicted))
    assert aer(predicted, gold) == rate
    # AER lies between the losses of precision and of recall: it is their mean, weighted by |A| and |S|.
    if count:
        sure = sum(len(each.sure) for each in gold)
        assert rate == pytest.approx(100 - (precision * count + recall * sure) / (count + sure))
    assert 0 <= both <= 100
    assert aer([each.sure for each in gold], gold) == pytest.approx(0)
    assert aer([each.possible for each in gold], gold) == pytest.approx(0)


@settings(deadline=None)
@given(st.lists(st.tuples(links, links), min_size=1, max_size=4))
def test_sides_may_be_swapped(rows: list[tuple[Links, Links]]) -> None:
    def swapped(each: Links) -> Links:
        return frozenset((target, source) for source, target in each)

    gold = [Gold.of({*sure, (0, 0)}) for _, sure in rows]
    there = aer([found for found, _ in rows], gold)
    assert aer([swapped(found) for found, _ in rows], [Gold(swapped(s), swapped(p)) for s, p in gold]) == there


def test_the_interval_meets_all_resamples() -> None:
    gold = [Gold.of([(i, i) for i in range(4)]) for _ in range(4)]
    predicted = [frozenset((i, i) for i in range(right)) | {(0, 3)} for right in (1, 2, 3, 4)]
    rates = [aer([predicted[i] for i in draw], [gold[i] for i in draw]) for draw in itertools.product(range(4), repeat=4)]
    score = alignment_scores(predicted, gold, resamples=5000)[0]
    assert (score.low, score.high) == pytest.approx(tuple(np.quantile(rates, [0.025, 0.975])), abs=3)
    assert score.recipe == "gold:16S+0P|bs:5000|seed:12345|sentences:4|average:micro|unit:percent"


def test_two_aligners_are_compared_in_pairs() -> None:
    gold = [Gold.of([(i, i) for i in range(5)]) for _ in range(30)]
    right, wrong = ([frozenset((i, min(4, i + shift)) for i in range(5)) for _ in gold] for shift in (0, 1))
    found = compare(alignment_statistics(wrong, gold)[0], alignment_statistics(right, gold)[0], trials=500)
    assert found.verdict() == "the system is better in AER"


def test_mistakes_are_named() -> None:
    with pytest.raises(UserError, match="1 alignments but 2 gold lines"):
        aer([frozenset()], [Gold.of([(0, 0)])] * 2)
    with pytest.raises(UserError, match="no sure link"):
        aer([line((0, 0))], [Gold.of([], [(0, 0)])])
    with pytest.raises(UserError, match="no sure link"):
        aer([], [])
    with pytest.raises(UserError, match="'grow' is not known; choose one of intersection, union, grow-diag"):
        symmetrise(line(), line(), "grow")  # type: ignore[arg-type]


def test_diagonal_runs_from_end_to_end() -> None:
    assert diagonal(3, 3) == line((0, 0), (1, 1), (2, 2))
    assert diagonal(5, 3) == line((0, 0), (2, 1), (4, 2))
    assert diagonal(1, 3) == line((0, 0), (0, 1), (0, 2))
    assert diagonal(4, 1) == line((0, 0))
    assert diagonal(0, 2) == diagonal(2, 0) == line()


@settings(deadline=None)
@given(links, links)
def test_methods_take_more_and_more_of_the_union(forward: Links, backward: Links) -> None:
    common, grown, free, final, union = (symmetrise(forward, backward, method) for method in METHODS)
    assert forward & backward == common <= grown <= free <= union == forward | backward
    assert grown <= final <= union
    # The final step leaves no word of the union alone, and with "and" no link whose two words are.
    assert [{link[side] for link in final} for side in (0, 1)] == [{link[side] for link in union} for side in (0, 1)]
    taken = [{link[side] for link in free} for side in (0, 1)]
    assert all(source in taken[0] or target in taken[1] for source, target in union)
    for alike in METHODS:
        assert symmetrise(forward, forward, alike) == forward


@settings(deadline=None)
@given(links, links)
def test_only_the_final_step_asks_which_direction_came_first(forward: Links, backward: Links) -> None:
    for method in METHODS[:2]:
        assert symmetrise(forward, backward, method) == symmetrise(backward, forward, method)


def test_grow_diag_asks_for_one_free_word() -> None:
    forward, backward = line((0, 0), (0, 1), (3, 3)), line((0, 0), (1, 1), (5, 3))
    # (0, 1): a neighbour of (0, 0), word 0 of the source has a link, word 1 of the target has none: in. Then (1, 1) for source 1.
    assert symmetrise(forward, backward, "grow-diag") == line((0, 0), (0, 1), (1, 1))
    # (3, 3) has no neighbour: left to the final step; (5, 3) then has one free word.
    assert symmetrise(forward, backward, "grow-diag-final-and") == line((0, 0), (0, 1), (1, 1), (3, 3))
    assert symmetrise(forward, backward, "grow-diag-final") == line((0, 0), (0, 1), (1, 1), (3, 3), (5, 3))


def test_grow_diag_goes_on_from_what_it_has_taken() -> None:
    chain = [(i, i) for i in range(6)]
    assert symmetrise(line(*chain), line(chain[3]), "grow-diag") == line(*chain)
    # Both words of (1, 1) are taken in the end, so it stays out although it has neighbours.
    assert (1, 1) not in symmetrise(line((1, 0), (0, 1)), line((1, 0), (0, 1), (1, 1)), "grow-diag")


@pytest.mark.skipif(not DATA.is_dir(), reason="needs word_align_gold_awesome under SIGHTLINE_DATA")
def test_real_gold_counts_and_the_error_of_the_diagonal() -> None:
    pairs = [(text or "").split("|||") for _, text, _ in read_lines(DATA / "enfr.src-tgt.gz")]
    sizes = [(len(source.split()), len(target.split())) for source, target in pairs]
    gold = read_gold(DATA / "enfr.gold.gz", sizes)
    assert len(gold) == 447
    assert sum(len(each.sure) for each in gold) == 4038
    assert sum(len(each.possible - each.sure) for each in gold) == 13_400
    score = alignment_scores([diagonal(*size) for size in sizes], gold)[0]
    assert round(score.value, 1) == 53.1
    assert score.low is not None
    assert score.high is not None
    assert 1 < (score.high - score.low) / 2 < 3
