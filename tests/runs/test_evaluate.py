"""An evaluation compares systems on the same sentences and prints nothing without its recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.decode.options import SearchOptions
from sightline.errors import UserError
from sightline.evaluate.report_text import to_json, to_text
from sightline.runs.evaluate import Contestant, Measure, make_report, recipe_of, score_model

PAIRS = [(f"un chat {n} dort", f"a cat {n} sleeps soundly") for n in range(30)]
RIGHT = tuple(target for _, target in PAIRS)
WRONG = tuple("a dog sleeps here soundly" for _ in PAIRS)


def test_a_better_system_leads_significantly() -> None:
    report = make_report("t", "d", PAIRS, [Contestant("bad", WRONG), Contestant("good", RIGHT)], Measure(), [("search", "x")])
    (bleu, *_) = report.contrasts
    assert (bleu.baseline, bleu.system) == ("bad", "good")
    assert bleu.comparison.significant
    assert bleu.comparison.difference.value > 50
    assert report.buckets
    assert "good" in to_text(report)


def test_a_system_does_not_differ_from_itself() -> None:
    report = make_report("t", "d", PAIRS, [Contestant("a", WRONG), Contestant("b", WRONG)], Measure(), [("search", "x")])
    assert not any(each.comparison.significant for each in report.contrasts)


def test_moses_bleu_is_one_more_figure() -> None:
    report = make_report("t", "d", PAIRS, [Contestant("a", RIGHT)], Measure(moses="en"), [("search", "x")])
    assert len(report.systems[0].scores) == 4
    assert "moses:en" in to_json(report)


def test_the_weights_are_named_by_their_hash(small_run: Path) -> None:
    recipe = dict(recipe_of([small_run / "model"], SearchOptions(beam=2), ["torch fp32", "native int8", "torch fp32"]))
    assert "beam=2" in recipe["search"]
    assert recipe["engine"] == "torch fp32 and native int8"
    assert len(next(value for name, value in recipe.items() if name.startswith("weights")).removeprefix("sha256 ")) == 64


@pytest.mark.parametrize("metric", [0, 1, 2])
def test_a_model_is_scored_from_its_folder(small_run: Path, metric: int) -> None:
    score = score_model(small_run, PAIRS[:3], SearchOptions(beam=1))[metric]
    assert score.recipe.startswith("nrefs:1|bs:1000")


@pytest.mark.parametrize("wrong", [{"tokenize": "13b"}, {"moses": "xx"}])
def test_what_cannot_be_measured_is_told_at_once(wrong: dict[str, str]) -> None:
    with pytest.raises(UserError, match="is not known"):
        Measure(**wrong)
