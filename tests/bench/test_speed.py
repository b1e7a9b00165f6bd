"""What the comparison with peers computes and writes: ratios, parts, tables between their marks, names of weights."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from bench.__main__ import divided
from bench.speed import decoding, results, sweep, tables, training
from bench.speed.curve import time_to
from bench.speed.envs import LOCKS, OF
from bench.speed.jobs import Failed, Ran, run
from bench.speed.pegasus import from_pegasus, to_pegasus
from bench.speed.results import Spread, merged, plain, ratio
from bench.speed.setups import OURS, Recipe, Setup, Trained, our_ticks
from sightline.models.build import build
from sightline.models.config import ModelConfig, TransformerConfig
from sightline.models.store import weights


def test_a_ratio_is_taken_in_each_round_by_itself() -> None:
    assert ratio({0: 30.0, 1: 10.0, 2: 44.0}, {0: 10.0, 1: 5.0, 2: 11.0, 3: 1.0}) == Spread(3.0, 2.0, 4.0)
    with pytest.raises(ValueError, match="no round"):
        ratio({0: 1.0}, {1: 1.0})


def trained(seconds: list[float], tokens: int = 100) -> Trained:
    return Trained([(second, tokens) for second in seconds], Ran(9.0, 1 << 20, ""), Path(), seconds[0], 5)


def test_the_rate_leaves_the_first_updates_out() -> None:
    run_of_four = trained([10.0, 11.0, 11.5, 12.0])
    assert run_of_four.rate(2) == 200.0
    assert run_of_four.rate(1) == 150.0
    assert run_of_four.seconds(4) == 2.0


def row(system: str, precision: str, rates: dict[int, float]) -> training.Row:
    return training.Row(Setup(system, precision), rates, [trained([1.0, 2.0])])


def test_the_best_of_ours_stands_against_the_best_peer() -> None:
    ours = [row(OURS, "bf16", {0: 80.0, 1: 90.0}), row(OURS, "fp32", {0: 20.0, 1: 20.0})]
    theirs = [
        row("eole", "bf16", {0: 20.0, 1: 30.0}),
        row("eole", "fp32", {0: 8.0, 1: 8.0}),
        row("joeynmt", "fp32", {0: 10.0, 1: 10.0}),
    ]
    found = training.ratios(ours, theirs)
    assert found["train_vs_best_peer"] == Spread(3.5, 3.0, 4.0)
    assert found["train_vs_joeynmt"] == Spread(8.5, 8.0, 9.0)
    assert found["train_fp32_vs_best_peer_fp32"] == Spread(2.0, 2.0, 2.0)


def test_each_peer_takes_its_best_settings_and_its_best_without_bf16() -> None:
    slow, fast = Setup("eole", "fp32"), Setup("eole", "bf16")
    rows = [{"setup": each.key, "tokens_per_second": plain(Spread.of([rate]))} for each, rate in ((slow, 1.0), (fast, 2.0))]
    chosen = training.peer_setups({"train": {"eole": [*rows, {"setup": Setup("eole").key, "trouble": "no"}]}})
    assert [each for each in chosen if each.system == "eole"] == [fast, slow]
    assert training.AS_INSTALLED in chosen


def test_a_peer_far_below_its_ratio_elsewhere_is_seen() -> None:
    base = training.Row(training.AS_INSTALLED, {0: 100.0, 1: 200.0})
    good, bad = (training.Row(setup, {0: rate}) for setup, rate in zip(list(training.ELSEWHERE)[:2], (115.0, 80.0), strict=True))
    assert [line["slow"] for line in training.beside_elsewhere([base, good, bad])] == [False, True]
    assert training.beside_elsewhere([good, bad]) == []


def part(ratios: dict[str, float]) -> dict[str, Any]:
    return results.part({"ratios": {name: plain(Spread.of([value])) for name, value in ratios.items()}, "rows": []}, {})


def test_a_part_takes_the_place_of_its_predecessor_and_of_nothing_else() -> None:
    told = merged({}, "train", part({"train_vs_best_peer": 2.0, "train_vs_eole": 3.0}))
    told = merged(told, "decode", part({"greedy_batch_vs_ctranslate2": 1.5}))
    assert told["ratios"] == {"train_vs_best_peer": 2.0, "greedy_batch_vs_ctranslate2": 1.5}
    told = merged(told, "train", part({"train_vs_best_peer": 4.0}))
    assert told["ratios"] == {"train_vs_best_peer": 4.0, "greedy_batch_vs_ctranslate2": 1.5}
    assert "train_vs_eole" not in told["ratios_with_spread"]
    assert json.loads(json.dumps(told)) == told


def test_text_around_the_marks_stays() -> None:
    page = tables.filled("# Speed\n\nBefore.\n", "train", "one")
    page = page.replace(tables.mark("train"), f"Above.\n\n{tables.mark('train')}") + "\nAfter.\n"
    page = tables.filled(tables.filled(page, "decode", "d"), "train", "two")
    assert (
        page.index("Before.") < page.index("Above.") < page.index("two") < page.index("After.") < page.index("d\n" + tables.END)
    )
    assert "one" not in page
    assert page.count(tables.END) == 2


def test_a_table_has_the_spread_and_the_failures() -> None:
    good = row("transformers", "fp32", {0: 2000.0, 1: 2400.0}).told()
    bad = training.Row(Setup("eole"), trouble="did not end").told()
    whole = tables.training({**part({"train_vs_best_peer": 2.0}), "rows": [good, bad]})
    assert "| transformers, fp32, stock, sdpa | 2,200 (2,000–2,400) | 1.00 |" in whole
    assert "- eole, fp32, stock, sdpa: did not end" in whole


def test_the_fastest_settings_of_a_sweep_are_chosen_for_each_kind_of_work() -> None:
    tried = [
        {"settings": {"batch": 32}, "variables": {}, "rates": {"beam5_batch": 2.0, "greedy_batch": 5.0}},
        {"settings": {"batch": 64}, "variables": {"A": "1"}, "rates": {"beam5_batch": 3.0, "greedy_batch": 4.0}},
        {"settings": {"batch": 1}, "variables": {}, "trouble": "no"},
    ]
    best = sweep._best(tried)
    assert best["beam5_batch"] == {"settings": {"batch": 64}, "variables": {"A": "1"}}
    chosen = decoding.choices(best, {"batch": 7}, {"batch": 1}, compute="x")
    assert chosen["greedy_batch"] == {"settings": {"batch": 32, "compute": "x"}, "variables": {}}
    assert chosen["greedy_single"]["settings"] == {"batch": 1, "compute": "x"}


def test_the_time_to_a_quality_lies_between_two_measurements() -> None:
    curve = [{"seconds": 10.0, "bleu": 10.0}, {"seconds": 20.0, "bleu": 30.0}]
    assert time_to(curve, 20.0) == 15.0
    assert time_to(curve, 31.0) is None


def test_our_updates_are_read_off_the_metrics(tmp_path: Path) -> None:
    events = [{"event": "started"}, *({"event": "stepped", "tokens_per_second": rate} for rate in (50.0, 200.0))]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    assert our_ticks(tmp_path / "metrics.jsonl", [100, 100]) == [(2.0, 100), (2.5, 100)]


def test_a_process_that_fails_or_does_not_end_says_so() -> None:
    with pytest.raises(Failed, match=r"exit code 3: (.|\n)*away"):
        run([sys.executable, "-c", "print('away'); raise SystemExit(3)"], {}, 60.0)
    with pytest.raises(Failed, match="did not end"):
        run([sys.executable, "-c", "import signal; signal.pause()"], {}, 0.3)
    ran = run([sys.executable, "-c", "import os; print(os.environ['A'], os.environ.get('OMP_NUM_THREADS'))"], {"A": "b"}, 60.0)
    assert ran.said == "b None\n"
    assert math.isnan(ran.signed)
    assert 0 <= ran.disturbed <= 1.5


def test_weights_go_to_pegasus_and_come_back() -> None:
    stack = TransformerConfig(layers=2, heads=2, hidden=12, norm="pre")
    model = build(ModelConfig(stack, stack, dim=8, tie="all"), 11, 11, seed=3)
    for parameter in model.parameters():
        parameter.data = torch.randn_like(parameter)
    ours = weights(model)
    theirs = to_pegasus(ours, 8)
    assert sum(tensor.numel() for tensor in theirs.values()) == sum(tensor.numel() for tensor in ours.values())
    assert theirs["model.shared.weight"][:, :4].equal(next(iter(ours.values()))[:, ::2])
    back = from_pegasus(theirs, ours, 8)
    assert back.keys() == ours.keys()
    assert all(back[name].equal(tensor) for name, tensor in ours.items())


def test_what_follows_one_timing_is_its_own() -> None:
    known = ["kill_resume", "prepare", "speed"]
    assert divided(["prepare", "speed"], known) == (["prepare", "speed"], [])
    assert divided(["speed", "train", "--rounds", "5"], known) == (["speed"], ["train", "--rounds", "5"])
    assert divided(["sped"], known) == (["sped"], [])
    assert divided([], known) == ([], [])


@pytest.mark.parametrize("name", sorted(set(OF.values())))
def test_every_environment_is_pinned(name: str) -> None:
    lines = [line for line in (LOCKS / f"{name}.lock").read_text("utf-8").splitlines() if line and not line.startswith("#")]
    assert lines
    assert all(line.count("==") == 1 and "+" not in line for line in lines)
    if name == "torch":
        assert "torch==2.13.0" in lines


def test_everybody_trains_the_same_model() -> None:
    config = Recipe(1).config().model
    assert sum(tensor.numel() for tensor in build(config, 8000, 8000).parameters()) == 7_578_624
