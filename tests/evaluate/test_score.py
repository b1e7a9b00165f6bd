"""A number is nothing without its recipe."""

import math

import numpy as np
import pytest

from sightline.errors import UserError
from sightline.evaluate.score import Score, Statistics, with_resampling


def mean(sums: np.ndarray) -> float:
    return float(sums[0] / sums[1])


ROWS = np.array([[float(number), 1.0] for number in range(10)])


@pytest.mark.parametrize("recipe", ["", "  "])
def test_a_bare_number_is_refused(recipe: str) -> None:
    with pytest.raises(ValueError, match=r"a bare number, BLEU = 41\.0"):
        Score("BLEU", 41.0, 40.0, 42.0, recipe)


@pytest.mark.parametrize("numbers", [(math.nan, 0.0, 1.0), (1.0, -math.inf, 1.0), (1.0, 0.0, math.nan)])
def test_what_is_not_a_number_is_refused(numbers: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        Score("BLEU", *numbers, "seed:1")


def test_half_an_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="two ends"):
        Score("BLEU", 1.0, 0.0, None, "seed:1")


def test_a_score_says_everything_in_one_line() -> None:
    assert str(Score("BLEU", 41.018, 39.5, 42.5, "nrefs:1|bs:1000")) == "BLEU 41.02 [39.50, 42.50]  nrefs:1|bs:1000"
    assert Score("p", 0.04, None, None, "ar:1").number(3) == "0.040"


def test_statistics_give_the_score_its_interval_and_its_recipe() -> None:
    score = Statistics("mean", ROWS, mean, "what:test|unit:none").score(resamples=400, seed=5)
    assert score.value == 4.5
    assert score.low is not None
    assert score.high is not None
    assert score.low < 4.5 < score.high
    # The standard error of the mean of 0 … 9 is 0.908.
    assert score.high - score.low == pytest.approx(2 * 1.96 * 0.908, rel=0.15)
    assert score.recipe == "what:test|bs:400|seed:5|unit:none"


def test_a_part_is_scored_alone_and_says_so() -> None:
    part = Statistics("mean", ROWS, mean, "what:test").only([7, 9], "the two")
    assert part.value() == 8.0
    assert part.recipe == "what:test|only:the two"


def test_too_few_resamples_are_refused() -> None:
    with pytest.raises(UserError, match="39 resamples are too few"):
        Statistics("mean", ROWS, mean, "what:test").score(resamples=39)


def test_no_sentence_has_no_statistics() -> None:
    with pytest.raises(ValueError, match="at least one sentence"):
        Statistics("mean", np.empty((0, 2)), mean, "what:test")


def test_resampling_stands_where_sacrebleu_writes_it() -> None:
    assert with_resampling("nrefs:1|case:lc", "ar", 10, 2) == "nrefs:1|ar:10|seed:2|case:lc"
