"""Scores by source length."""

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.evaluate.buckets import difference_in_bucket, length_buckets, score_by_length
from sightline.evaluate.metrics import quick_bleu, sentence_statistics


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 6))
def test_buckets_share_out_all_sentences_by_length(lengths: list[int], count: int) -> None:
    buckets = length_buckets(["w " * length for length in lengths], count)
    assert sorted(index for bucket in buckets for index in bucket.indices) == list(range(len(lengths)))
    assert 1 <= len(buckets) <= count
    for bucket in buckets:
        inside = [lengths[index] for index in bucket.indices]
        assert (min(inside), max(inside)) == (bucket.shortest, bucket.longest)
    assert all(left.longest < right.shortest for left, right in itertools.pairwise(buckets))


def test_different_lengths_make_equal_shares() -> None:
    buckets = length_buckets(["w " * (length + 1) for length in reversed(range(12))])
    assert [bucket.indices for bucket in buckets] == [(9, 10, 11), (6, 7, 8), (3, 4, 5), (0, 1, 2)]
    assert [bucket.label() for bucket in buckets] == ["1–3 words", "4–6 words", "7–9 words", "10–12 words"]


def test_shares_that_do_not_come_out_even_differ_by_one() -> None:
    buckets = length_buckets(["w " * (length + 1) for length in range(10)])
    assert [len(bucket.indices) for bucket in buckets] == [3, 2, 3, 2]


def test_one_length_is_one_bucket() -> None:
    (bucket,) = length_buckets(["a b", "c d", "e f"])
    assert bucket.label() == "2 words"


def test_a_bucket_is_scored_as_if_it_were_alone(corpus: Any) -> None:
    buckets = length_buckets(corpus.sources)
    assert len(buckets) == 4
    for bucket, score in zip(buckets, score_by_length(sentence_statistics(corpus.good, corpus.references), buckets), strict=True):
        alone = quick_bleu([corpus.good[i] for i in bucket.indices], [corpus.references[i] for i in bucket.indices])
        assert score.value == alone
        assert score.low is not None
        assert score.high is not None
        assert score.low <= score.value <= score.high
        assert score.recipe.endswith(f"only:{bucket.shortest}-{bucket.longest} source words, {len(bucket.indices)} sentences")


def test_a_planted_bottleneck_shows_in_the_longest_bucket_alone(corpus: Any) -> None:
    buckets = length_buckets(corpus.sources)
    long = set(buckets[-1].indices)
    forgetful = [" ".join(line.split()[:3]) if i in long else line for i, line in enumerate(corpus.good)]
    whole, cut = (sentence_statistics(lines, corpus.references) for lines in (corpus.good, forgetful))
    leads = [difference_in_bucket(cut, whole, bucket) for bucket in buckets]
    assert [(lead.value, lead.low, lead.high) for lead in leads[:3]] == [(0, 0, 0)] * 3
    assert leads[3].low is not None
    assert leads[3].low > 10
    assert leads[3].recipe.endswith("|paired:yes")
    assert [score.value for score in score_by_length(whole, buckets)][3] - leads[3].value == pytest.approx(
        score_by_length(cut, buckets)[3].value
    )


def test_mistakes_are_named(corpus: Any) -> None:
    with pytest.raises(UserError, match="no source sentence"):
        length_buckets([])
    with pytest.raises(UserError, match="0 length buckets"):
        length_buckets(["a"], 0)
    few = sentence_statistics(corpus.good[:3], corpus.references[:3])
    with pytest.raises(UserError, match="only 3 are scored"):
        score_by_length(few, length_buckets(corpus.sources))
