"""Paired tests: against sacreBLEU's, against all swaps, and against chance itself."""

import itertools
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from sightline.errors import UserError
from sightline.evaluate import significance
from sightline.evaluate.metrics import sentence_statistics
from sightline.evaluate.score import Statistics
from sightline.evaluate.significance import compare, difference


def mean(sums: np.ndarray) -> float:
    return float(sums[0] / sums[1])


def of(values: list[float] | np.ndarray, name: str = "mean") -> Statistics:
    return Statistics(name, np.stack([np.asarray(values, dtype=float), np.ones(len(values))], axis=1), mean, "what:test")


def theirs(corpus: Any, kind: str, worse: list[str]) -> Any:
    systems = [("bad", worse), ("good", corpus.good)]
    test = PairedTest(systems, {"BLEU": BLEU(), "chrF2": CHRF()}, [corpus.references], test_type=kind, n_samples=2000)
    return test()[1]


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_randomisation_gives_sacrebleus_p(corpus: Any, metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    mixed = [*corpus.good[:100], *corpus.bad[100:]]  # close enough for a p-value that is not at an end
    baseline, system = (sentence_statistics(lines, corpus.references, metric) for lines in (mixed, corpus.good))
    ours = compare(baseline, system, trials=2000)
    result = theirs(corpus, "ar", mixed)[ours.system.name][1]
    assert ours.p_randomisation.value == pytest.approx(result.p_value, abs=0.003)
    assert 0.001 < ours.p_randomisation.value < 0.5


def test_bootstrap_concludes_as_sacrebleu_and_doubles_its_one_sided_p(corpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    worse = [*corpus.good[:95], *corpus.bad[95:]]
    for lines, significant in ((corpus.bad, True), (worse, None)):
        baseline, system = (sentence_statistics(each, corpus.references) for each in (lines, corpus.good))
        ours = compare(baseline, system, resamples=2000, trials=500)
        result = theirs(corpus, "bs", lines)["BLEU"][1]
        assert ours.p_bootstrap.value == pytest.approx(2 * result.p_value, abs=0.03)
        assert ours.system.low is not None
        assert ours.system.high is not None
        assert (ours.system.high - ours.system.low) / 2 == pytest.approx(result.ci, abs=1e-6)
        if significant:
            assert ours.significant
            assert result.p_value < 0.05
            assert ours.p_bootstrap.value < 0.05


def test_randomisation_meets_all_swaps() -> None:
    one, other = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0]), np.array([2.0, 0.0, 3.5, 2.0, 3.0, 5.0, 2.5])
    observed = abs(one.mean() - other.mean())
    swapped = [
        abs(np.where(mask, one, other).mean() - np.where(mask, other, one).mean())
        for mask in itertools.product([True, False], repeat=len(one))
    ]
    exact = np.mean(np.array(swapped) >= observed - 1e-9)
    found = compare(of(other), of(one), trials=20_000).p_randomisation.value
    assert found == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5)


def test_bootstrap_meets_all_resamples() -> None:
    gains = np.array([3.0, -1.0, 2.0, -2.0, 2.0])
    means = np.array([np.mean(draw) for draw in itertools.product(gains, repeat=len(gains))])
    exact = 2 * min(np.mean(means <= 1e-9), np.mean(means >= -1e-9))
    found = compare(of(np.zeros(5)), of(gains), resamples=20_000, trials=1)
    assert found.p_bootstrap.value == pytest.approx(exact, abs=0.02)
    assert found.difference.value == pytest.approx(0.8)
    assert (found.difference.low, found.difference.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=0.21)


def test_no_finite_number_of_trials_makes_chance_impossible() -> None:
    found = compare(of(np.zeros(40)), of(np.full(40, 9.0)), resamples=100, trials=100)
    assert found.p_randomisation.value == pytest.approx(1 / 101)
    assert found.p_bootstrap.value == pytest.approx(2 / 101)


def test_a_system_does_not_differ_from_itself(corpus: Any) -> None:
    same = sentence_statistics(corpus.good, corpus.references)
    found = compare(same, same, trials=200, resamples=100)
    assert (found.difference.value, found.difference.low, found.difference.high) == (0, 0, 0)
    assert found.p_bootstrap.value == found.p_randomisation.value == 1.0
    assert found.verdict() == "no significant difference in BLEU"


def test_pairing_is_kept() -> None:
    """Sentences differ much, systems by the same bit on each: only a paired test sees it."""
    hard = np.random.default_rng(0).normal(0, 100, 50)
    found = difference(of(hard), of(hard + 1.0))
    assert (found.low, found.high) == pytest.approx((1.0, 1.0))


def test_chance_alone_is_significant_in_one_case_of_twenty() -> None:
    draw = np.random.default_rng(11)
    systems = [(of(draw.normal(size=60)), of(draw.normal(size=60))) for _ in range(600)]
    found = [compare(one, other, resamples=100, trials=100) for one, other in systems]
    for p_values in ([each.p_bootstrap.value for each in found], [each.p_randomisation.value for each in found]):
        assert 0.02 < np.mean(np.array(p_values) < 0.05) < 0.085  # a one-sided p would give 0.10


def test_the_order_of_systems_turns_the_sign_alone(corpus: Any) -> None:
    bad, good = (sentence_statistics(lines, corpus.references) for lines in (corpus.bad, corpus.good))
    there, back = compare(bad, good, trials=500), compare(good, bad, trials=500)
    assert there.difference.value == -back.difference.value > 0
    assert (there.difference.low, there.difference.high) == (-back.difference.high, -back.difference.low)
    assert there.p_bootstrap.value == back.p_bootstrap.value
    assert there.p_randomisation.value == back.p_randomisation.value


def test_verdicts_know_which_way_is_up(corpus: Any) -> None:
    for metric in ("bleu", "ter"):
        bad, good = (sentence_statistics(lines, corpus.references, metric) for lines in (corpus.bad, corpus.good))
        name = good.name
        assert compare(bad, good, trials=500).verdict() == f"the system is better in {name}"
        assert compare(good, bad, trials=500).verdict() == f"the system is worse in {name}"


def test_every_number_has_its_recipe() -> None:
    found = compare(of([1.0, 2.0]), of([2.0, 4.0]), resamples=50, trials=60, seed=3)
    assert found.difference.recipe == "what:test|bs:50|seed:3|paired:yes"
    assert found.p_bootstrap.recipe == "what:test|bs:50|seed:3|sides:2"
    assert found.p_randomisation.recipe == "what:test|ar:60|seed:3|sides:2"


def test_chunks_only_split_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = of([1.0, 5.0, 2.0, 0.0]), of([2.0, 7.0, 1.0, 3.0])
    exact = compare(one, other, trials=5000).p_randomisation.value
    monkeypatch.setattr(significance, "_CELLS", 40)
    assert compare(one, other, trials=5000).p_randomisation.value == pytest.approx(exact, abs=0.03)


def test_unlike_scores_are_not_compared(corpus: Any) -> None:
    bleu = sentence_statistics(corpus.good, corpus.references)
    with pytest.raises(UserError, match="made in different ways"):
        compare(bleu, sentence_statistics(corpus.good, corpus.references, lowercase=True))
    with pytest.raises(UserError, match="120 sentences of the baseline but 2 of the system"):
        difference(bleu, sentence_statistics(corpus.good[:2], corpus.references[:2]))
    with pytest.raises(UserError, match="0 random trials"):
        compare(bleu, bleu, trials=0)
    with pytest.raises(UserError, match="10 resamples are too few"):
        compare(bleu, bleu, resamples=10)
