"""The loop's own promises: limits, the best model, moving averages, clipping, and updates that are not finite."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tiny_run import CONFIG, Run, configured, fingerprint, make_model
from torch import Tensor, nn

from sightline.errors import UserError
from sightline.models.store import weights
from sightline.nn.noise import Noise
from sightline.train.events import Event, Finished, Skipped, Started, Stepped, Validated
from sightline.train.loop import SKIPS_IN_A_ROW


def told(run: Run, kind: type[Event]) -> list[Event]:
    return [event for event in run.events if isinstance(event, kind)]


def judged(run: Run, figures: list[float]) -> None:
    """Give these figures, one after the other."""
    series = iter(figures)
    run.loop.judge = lambda model: {"loss": next(series), "bleu": 0.0}


def test_it_learns(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(max_updates=150, validate_every=50))
    before = run.loss_of(run.loop.model)["loss"]
    run.go()
    assert run.loss_of(run.loop.model)["loss"] < before - 0.5


def test_what_is_told(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(max_updates=12))
    run.go()
    story = [(type(event), event.update) for event in run.events]
    updates = [(Stepped, 4), (Validated, 6), (Stepped, 8), (Stepped, 12), (Validated, 12)]
    assert story == [(Started, 0), *updates, (Finished, 12)]
    stepped = run.events[1]
    assert isinstance(stepped, Stepped)
    assert stepped.epoch == pytest.approx(4 / run.task.batches(0))
    assert stepped.learning_rate == pytest.approx(0.01 * 4 / 5)
    assert stepped.tokens_per_second > 0


def test_a_report_is_the_mean_since_the_last(tmp_path: Path) -> None:
    often, rarely = Run(tmp_path / "often", configured(log_every=1)), Run(tmp_path / "rarely", configured(log_every=8))
    often.go()
    rarely.go()
    singles = [event.loss for event in told(often, Stepped) if isinstance(event, Stepped)]
    means = [event.loss for event in told(rarely, Stepped) if isinstance(event, Stepped)]
    assert means == pytest.approx([np.mean(singles[at : at + 8]) for at in (0, 8, 16)])


@pytest.mark.parametrize(
    ("train", "reason", "update"),
    [
        ({"max_updates": 5}, "5 updates", 5),
        ({"max_epochs": 2}, "2 epochs", 14),
        ({"max_minutes": 1e-9}, "1e-09 minutes", 1),
        ({"max_updates": 5, "max_epochs": 1}, "5 updates", 5),
    ],
)
def test_whichever_limit_comes_first(train: dict[str, float], reason: str, update: int, tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(**train))
    assert run.go() == reason
    assert run.loop.progress.update == update
    assert run.kept, "even a short run leaves a model"


def test_the_best_is_kept_and_patience_ends_the_run(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(max_updates=100, validate_every=2, patience=3))
    judged(run, [3.0, 2.0, 2.5, 2.0, 2.1])
    seen: list[str] = []
    judge = run.loop.judge
    run.loop.judge = lambda model: seen.append(fingerprint(model)) or judge(model)  # type: ignore[func-returns-value]
    assert run.go() == "no better model in 3 validations"
    assert run.loop.progress.update == 10
    assert [event.best for event in told(run, Validated) if isinstance(event, Validated)] == [True, True, False, False, False]
    assert [(update, weights, figures["loss"]) for update, weights, figures in run.kept] == [(2, seen[0], 3.0), (4, seen[1], 2.0)]
    assert run.loop.progress.best == -2.0


def test_a_better_one_restores_patience(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(max_updates=100, validate_every=2, patience=2))
    judged(run, [3.0, 3.1, 2.0, 3.1, 3.2])
    run.go()
    assert run.loop.progress.update == 10


def test_no_patience_means_never_early(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(validate_every=2, patience=0))
    judged(run, [1.0] * 12)
    assert run.go() == "24 updates"


def test_judged_by_another_figure_larger_is_better(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(max_updates=9, validate_every=3, judge="bleu"))
    figures = iter([{"loss": 1.0, "bleu": 10.0}, {"loss": 0.1, "bleu": 9.0}, {"loss": 2.0, "bleu": 11.0}])
    run.loop.judge = lambda model: next(figures)
    run.go()
    assert [update for update, *_ in run.kept] == [3, 9]


def test_a_figure_that_is_no_number_is_never_the_best(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(validate_every=6))
    judged(run, [math.nan, 3.0, math.nan, 2.0])
    run.go()
    assert [update for update, *_ in run.kept] == [12, 24]


def test_a_moving_average_is_its_definition_and_is_what_is_judged(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(ema=0.75, max_updates=6))
    mean = {name: tensor.detach().clone() for name, tensor in weights(run.loop.model).items()}
    step = run.loop._step

    def watched() -> None:
        step()
        for name, tensor in weights(run.loop.model).items():
            mean[name] = 0.75 * mean[name] + 0.25 * tensor.detach()

    run.loop._step = watched  # type: ignore[method-assign]
    run.go()
    assert run.loop.ema is not None
    for name, tensor in weights(run.loop.ema).items():
        torch.testing.assert_close(tensor.data, mean[name], rtol=1e-5, atol=1e-6)
    assert run.kept[-1][1] == fingerprint(run.loop.ema) != fingerprint(run.loop.model)


@pytest.mark.parametrize("clip", [0.0, 1e-3, 1e9])
def test_clipping(clip: float, tmp_path: Path) -> None:
    """A gradient above the limit is shortened to it; the norm that is told is the one before."""
    run = Run(tmp_path / "run", replace(configured(max_updates=1, log_every=1), optimiser=replace(CONFIG.optimiser, clip=clip)))
    lengths: list[float] = []
    step = run.loop._step

    def watched() -> None:
        lengths.append(float(torch.stack([p.grad.norm() for p in run.loop.model.parameters() if p.grad is not None]).norm()))
        step()

    run.loop._step = watched  # type: ignore[method-assign]
    run.go()
    (event,) = told(run, Stepped)
    assert isinstance(event, Stepped)
    assert lengths == pytest.approx([1e-3 if clip == 1e-3 else event.gradient], rel=1e-3)
    assert event.gradient > 1e-2


class PoisonedTask:
    """A task in which some samples give a loss, or a gradient, that is not finite."""

    def __init__(self, run: Run, poison: Callable[[Tensor], Tensor], *samples: int) -> None:
        self.inner, self.poison, self.samples = run.task, poison, samples

    @property
    def fingerprint(self) -> str:
        return self.inner.fingerprint

    def batches(self, epoch: int) -> int:
        return self.inner.batches(epoch)

    def rows(self, epoch: int, index: int) -> NDArray[np.int64]:
        return self.inner.rows(epoch, index)

    def tokens(self, rows: NDArray[np.int64]) -> int:
        return self.inner.tokens(rows)

    def shares(self, rows: NDArray[np.int64], count: int) -> list[NDArray[np.int64]]:
        return self.inner.shares(rows, count)

    def loss(self, model: nn.Module, rows: NDArray[np.int64], epoch: int, noise: Noise | None) -> Tensor:
        loss = self.inner.loss(model, rows, epoch, noise)
        return self.poison(loss) if set(self.samples) & set(rows.tolist()) else loss

    def origins(self, rows: NDArray[np.int64]) -> list[str]:
        return self.inner.origins(rows)


def infinite_gradient(loss: Tensor) -> Tensor:
    return loss + (loss - loss).sqrt()  # adds nothing, but the root is infinitely steep there


POISONS: dict[str, Callable[[Tensor], Tensor]] = {
    "nan": lambda loss: loss * math.nan,
    "infinite": lambda loss: loss + math.inf,
    "gradient": infinite_gradient,
}


def poisoned(folder: Path, how: str, *samples: int, **train: object) -> Run:
    run = Run(folder, configured(**train))
    task = PoisonedTask(run, POISONS[how], *samples)
    run.loop.task = task
    run.loop.gradient.objective.task = run.loop.gradient.task = task  # type: ignore[assignment]
    return run


@pytest.mark.parametrize("how", POISONS)
@pytest.mark.parametrize("accumulate", [1, 2])
def test_an_update_that_is_not_finite_changes_nothing_and_names_its_lines(how: str, accumulate: int, tmp_path: Path) -> None:
    first = Run(tmp_path / "whole").task.rows(0, 2)
    guilty = sorted(int(sample) for sample in first[:2])
    run = poisoned(tmp_path / "run", how, *guilty, max_updates=7, log_every=1, accumulate=accumulate, ema=0.5)
    prints: list[str] = []
    update = run.loop._update
    optimiser = run.loop.optimiser

    def watched(wish: object) -> bool:
        wanted = update(wish)  # type: ignore[arg-type]
        moments = sorted(float(state["exp_avg"].sum()) for state in optimiser.state.values())
        prints.append(f"{fingerprint(run.loop.model)} {moments} {fingerprint(run.loop.ema or nn.Identity())}")
        return wanted

    run.loop._update = watched  # type: ignore[method-assign]
    run.go()
    (event,) = told(run, Skipped)
    assert isinstance(event, Skipped)
    assert event.update == 3
    assert sorted(event.origins) == sorted(f"tiny.tsv:{sample + 1}" for sample in guilty)
    assert not (math.isfinite(event.loss) and math.isfinite(event.gradient))
    assert prints[2] == prints[1], "the bad update left the weights, the moments and the average alone"
    assert len(set(prints)) == 6
    assert run.loop.progress.skipped == 0
    for tensor in weights(run.loop.model).values():
        assert tensor.isfinite().all()
    assert [event.update for event in told(run, Stepped)] == [1, 2, 4, 5, 6, 7]
    assert all(math.isfinite(event.loss) for event in told(run, Stepped) if isinstance(event, Stepped))


def test_lines_that_fail_only_together_are_all_named(tmp_path: Path) -> None:
    run = poisoned(tmp_path / "run", "nan", max_updates=1)
    rows = run.task.rows(0, 0)
    run.loop.task.samples = tuple(rows)  # type: ignore[attr-defined]
    run.loop.task.poison = lambda loss: loss * (math.nan if float(loss.detach()) > 100 else 1.0)  # type: ignore[attr-defined]
    run.go()
    (event,) = told(run, Skipped)
    assert isinstance(event, Skipped)
    assert event.origins == tuple(run.task.origins(rows))


def test_many_in_a_row_end_the_run(tmp_path: Path) -> None:
    run = poisoned(tmp_path / "run", "nan", *range(60), max_updates=100)
    before = fingerprint(run.loop.model)
    with pytest.raises(UserError, match=rf"{SKIPS_IN_A_ROW} updates in a row.*tiny.tsv:\d+.*train.precision=fp32"):
        run.go()
    assert len(told(run, Skipped)) == SKIPS_IN_A_ROW
    assert fingerprint(run.loop.model) == before


def test_many_but_not_in_a_row_do_not(tmp_path: Path) -> None:
    run = poisoned(tmp_path / "run", "nan", *range(0, 60, 30), max_updates=140, patience=0)
    assert run.go() == "140 updates"
    assert len(told(run, Skipped)) >= SKIPS_IN_A_ROW


def test_the_noise_of_an_update_is_its_own(tmp_path: Path) -> None:
    """The same sentences a second time meet other dropout, and another seed other dropout at once."""
    loop = Run(tmp_path / "run").loop
    rows = loop.task.rows(0, 0)
    again = Run(tmp_path / "other", replace(CONFIG, seed=2)).loop
    losses = [
        float(which.gradient.loss(which.gradient.objective, rows, 0, update, "fp32").detach())
        for which, update in ((loop, 0), (loop, 1), (again, 0))
    ]
    for one, other in itertools.combinations(losses, 2):
        assert one != pytest.approx(other, rel=1e-5)
    assert losses[0] == float(loop.gradient.loss(loop.gradient.objective, rows, 0, 0, "fp32").detach())


def test_different_seeds_of_the_model_are_different_models() -> None:
    assert fingerprint(make_model(seed=0)) == fingerprint(make_model(seed=0)) != fingerprint(make_model(seed=1))
