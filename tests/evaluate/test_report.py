"""A report takes figures with recipes only, and refuses what does not fit together."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from sightline.errors import UserError
from sightline.evaluate.report import BucketRow, Data, EvaluationReport, Example, Heatmap, System
from sightline.evaluate.score import Score


def test_bare_numbers_are_refused_wherever_they_stand(report: EvaluationReport) -> None:
    bare: Any = 41.02
    row = report.buckets[0]
    contrast = report.contrasts[0]
    for changed in (
        {"systems": (System("a", (bare,)), report.systems[1])},
        {"buckets": (replace(row, scores=(bare, *row.scores[1:])),)},
        {"buckets": (replace(row, differences=(bare,)),)},
        {"contrasts": (replace(contrast, comparison=replace(contrast.comparison, p_bootstrap=bare)),)},
    ):
        with pytest.raises(TypeError, match=r"41\.02 is a bare number"):
            replace(report, **changed)  # type: ignore[arg-type]


def test_a_report_without_a_recipe_is_refused(report: EvaluationReport) -> None:
    with pytest.raises(ValueError, match="cannot be done again"):
        replace(report, recipe=())


def test_what_does_not_fit_is_refused(report: EvaluationReport) -> None:
    score = Score("BLEU", 1.0, 0.0, 2.0, "seed:1")
    with pytest.raises(ValueError, match="a bucket has one score for each of the 2 systems"):
        replace(report, buckets=(BucketRow(report.buckets[0].bucket, (score,)),))
    with pytest.raises(ValueError, match="an example has one translation from each of the 2 systems"):
        replace(report, examples=(Example("a", "b", ("c",)),))


@pytest.mark.parametrize(
    ("weights", "links", "message"),
    [
        ([[1.0]], [], "1 rows of 2"),
        ([[1.0, 0.0], [1.0, 0.0]], [], "1 rows of 2"),
        ([[float("nan"), 0.0]], [], "between 0 and 1"),
        ([[-0.1, 0.0]], [], "between 0 and 1"),
        ([[1.2, 0.0]], [], "between 0 and 1"),
        ([[1.0, 0.0]], [(0, 1)], "outside the sentence"),
        ([[1.0, 0.0]], [(2, 0)], "outside the sentence"),
        ([[1.0, 0.0]], [(-1, 0)], "outside the sentence"),
    ],
)
def test_a_map_that_is_none_is_refused(weights: list[list[float]], links: list[tuple[int, int]], message: str) -> None:
    for kind in ("sure", "possible"):
        with pytest.raises(ValueError, match=message):
            Heatmap.of("map", ["a", "b"], ["c"], weights, **{kind: links})
        if not links:
            break


def test_the_digest_is_of_the_text() -> None:
    data = Data.of("test", ["a", "b"], ["c", "é"])
    assert data == Data("test", hashlib.sha256("a\tc\nb\té\n".encode()).hexdigest(), 2)
    assert Data.of("test", ["a", "b"], ["c", "e"]).sha256 != data.sha256
    assert len(Data.of("test", ["\udcff"], ["c"]).sha256) == 64
    with pytest.raises(UserError, match="test: 1 sources but 2 references"):
        Data.of("test", ["a"], ["b", "c"])
