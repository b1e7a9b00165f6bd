"""A run that was stopped anywhere, however often, ends with the same weights and has told the same story."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_run import CONFIG, OPTIMISER, RECURRENT, Run, configured
from torch import nn

from sightline.train.config import OptimiserConfig, RunConfig
from sightline.train.events import Event, Finished, Listener, Started, Stepped, Validated

SGD = replace(CONFIG, optimiser=OptimiserConfig(kind="sgd", learning_rate=0.1, warmup=2))
KINDS: dict[str, RunConfig] = {
    "plain": CONFIG,
    "ema": configured(ema=0.9),
    "averaging": configured(average=3),
    "ema and averaging": configured(ema=0.9, average=2),
    "accumulation": configured(accumulate=3),
    "adamw": replace(CONFIG, optimiser=replace(OPTIMISER, kind="adamw", weight_decay=0.1)),
    "cosine": replace(CONFIG, optimiser=replace(OPTIMISER, schedule="cosine")),
    "momentum": SGD,
    "no momentum": replace(SGD, optimiser=replace(SGD.optimiser, beta1=0.0)),
    "recurrent": replace(CONFIG, model=RECURRENT),
    "bf16": configured(precision="bf16"),
}
EPOCH = 7  # batches of the tiny corpus


class Killed(BaseException):
    """Nothing in the program can catch it."""


class KillAt:
    """Ends the process when it tells this event of this update: `Stepped` before a step's end, `Validated` before saving."""

    def __init__(self, kind: type[Event], update: int) -> None:
        self.kind, self.update = kind, update

    def __call__(self, event: Event) -> None:
        if isinstance(event, self.kind) and event.update == self.update:
            raise Killed


def uninterrupted(folder: Path, config: RunConfig) -> dict[str, object]:
    run = Run(folder / "whole", config)
    assert run.go() == "24 updates"
    return run.result


def stopped_at(folder: Path, config: RunConfig, updates: list[int]) -> Run:
    """Asked to leave after each of these updates, by a task that hears the signal while it gives out the rows."""
    for update in updates:
        run = Run(folder, config)
        rows = run.task.rows

        def ask(epoch: int, index: int, run: Run = run, rows=rows, update: int = update):  # type: ignore[no-untyped-def]
            if run.loop.progress.update == update - 1:
                signal.raise_signal(signal.SIGTERM)
            return rows(epoch, index)

        run.task.rows = ask  # type: ignore[method-assign]
        assert run.go() == "interrupted"
        assert run.loop.progress.update == update
    return Run(folder, config)


@pytest.mark.parametrize("kind", KINDS)
def test_stopping_and_starting_again_changes_nothing(kind: str, tmp_path: Path) -> None:
    config = KINDS[kind]
    expected = uninterrupted(tmp_path, config)
    # in the middle of an epoch and of a report, at an epoch's border, right at a validation, just after it
    run = stopped_at(tmp_path / "stopped", config, [3, EPOCH, 12, 13, 3 * EPOCH])
    assert run.loop.progress.update == 3 * EPOCH
    assert run.go() == "24 updates"
    assert run.result == expected


def test_the_tiny_epoch_has_the_length_the_stops_are_chosen_for(tmp_path: Path) -> None:
    assert Run(tmp_path / "run").task.batches(0) == EPOCH


@pytest.mark.parametrize("kind", ["plain", "ema and averaging", "momentum"])
@pytest.mark.parametrize("minutes", [0.0, 100.0])  # a checkpoint after every update, or at validations only
def test_a_kill_anywhere_changes_nothing(kind: str, minutes: float, tmp_path: Path) -> None:
    config = replace(KINDS[kind], train=replace(KINDS[kind].train, checkpoint_minutes=minutes))
    expected = uninterrupted(tmp_path, config)
    for killer in (KillAt(Stepped, 4), KillAt(Stepped, 8), KillAt(Validated, 12), KillAt(Stepped, 16), KillAt(Validated, 24)):
        run = Run(tmp_path / "killed", config, also_tell=killer)
        with pytest.raises(Killed):
            run.go()
    run = Run(tmp_path / "killed", config)
    run.go()
    assert run.result == expected


@pytest.mark.parametrize("minutes", [0.0, 100.0])
def test_a_kill_between_the_last_validations_changes_nothing(minutes: float, tmp_path: Path) -> None:
    config = configured(average=3, max_updates=22, checkpoint_minutes=minutes)
    whole = Run(tmp_path / "whole", config)
    whole.go()
    told = [event for event in whole.events if isinstance(event, Validated)]
    assert [(event.update, event.averaged) for event in told] == [(6, 0), (12, 0), (18, 0), (22, 0), (22, 3)]
    for kind in (Validated, Finished):
        with pytest.raises(Killed):
            Run(tmp_path / "killed", config, also_tell=KillAt(kind, 22)).go()
    run = Run(tmp_path / "killed", config)
    run.go()
    assert run.result == whole.result


def test_early_stopping_counts_across_a_stop(tmp_path: Path) -> None:
    config = configured(patience=2)
    figures = {6: 1.0, 12: 2.0, 18: 2.0, 24: 0.5}

    def start(also_tell: Listener | None = None) -> Run:
        run = Run(tmp_path / "run", config, also_tell=also_tell)
        run.loop.judge = lambda model: {"loss": figures[run.loop.progress.update]}
        return run

    with pytest.raises(Killed):
        start(KillAt(Stepped, 16)).go()
    second = start()
    assert second.loop.progress.since_best == 1
    assert second.go() == "no better model in 2 validations"
    assert second.loop.progress.update == 18


def test_a_finished_run_says_so_again_and_computes_nothing(tmp_path: Path) -> None:
    first = Run(tmp_path / "run")
    first.go()
    again = Run(tmp_path / "run")
    assert again.go() == "24 updates"
    assert [type(event) for event in again.events] == [Finished]
    assert again.result == first.result


@pytest.mark.parametrize("kind", ["plain", "ema", "averaging", "momentum"])
def test_a_raised_limit_goes_on_as_if_it_had_always_been_there(kind: str, tmp_path: Path) -> None:
    config = KINDS[kind]
    expected = uninterrupted(tmp_path, config)
    for limit in (10, 12, 24):  # after a validation of its own, at one that was due, to the end
        run = Run(tmp_path / "raised", replace(config, train=replace(config.train, max_updates=limit)))
        assert run.go() == f"{limit} updates"
    assert isinstance(run.events[0], Started)
    assert run.events[0].update == 12
    assert {**run.result, "metrics": None, "best": None} == {**expected, "metrics": None, "best": None}
    assert [told for told in validations(run) if told[0] % 6 == 0] == validations(Run(tmp_path / "whole", config))


def validations(run: Run) -> list[tuple[object, object]]:
    lines: list[dict[str, object]] = run.result["metrics"]  # type: ignore[assignment]
    return [(line["update"], line["metrics"]) for line in lines if line["event"] == "validated" and not line["averaged"]]


def test_a_raised_patience_goes_on(tmp_path: Path) -> None:
    worse = iter(range(100))

    def judge(model: nn.Module) -> dict[str, float]:
        return {"loss": float(next(worse))}

    assert Run(tmp_path / "run", configured(patience=1), judge=judge).go() == "no better model in 1 validations"
    raised = Run(tmp_path / "run", configured(patience=2), judge=judge)
    assert raised.go() == "no better model in 2 validations"
    assert raised.loop.progress.update == 18


def test_seconds_add_up_over_stops(tmp_path: Path) -> None:
    stopped_at(tmp_path / "run", CONFIG, [8])
    first = Run(tmp_path / "run").loop.progress.seconds
    assert first > 0
    run = Run(tmp_path / "run")
    run.go()
    assert run.loop.progress.seconds > first
    limited = Run(tmp_path / "run", configured(max_updates=100, max_minutes=first / 60))
    assert limited.go().endswith("minutes")


def test_auto_precision_stays_what_it_came_to(tmp_path: Path) -> None:
    """A probe may come out otherwise on the next start; a run does not change its arithmetic half-way."""
    run = Run(tmp_path / "run", configured(precision="auto", max_updates=6))
    run.loop.progress = replace(run.loop.progress, precision="bf16")
    run.go()
    assert Run(tmp_path / "run", configured(precision="auto")).loop.progress.precision == "bf16"
    assert Run(tmp_path / "run", configured(precision="fp32")).loop.progress.precision == "fp32"
