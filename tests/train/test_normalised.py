"""The loss of an update is a mean over its tokens: how the batch is padded, split or accumulated changes nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_run import CONFIG, RECURRENT, SAMPLES, TRANSFORMER, Run, configured, make_corpus, make_model, make_task
from torch import Tensor, nn

from sightline.models.config import ModelConfig
from sightline.models.store import weights
from sightline.nn.noise import Noise
from sightline.train.events import Stepped

MODELS = {"transformer": TRANSFORMER, "recurrent": RECURRENT}
ROWS = np.arange(0, SAMPLES, 3)


def gradients(model: nn.Module, loss: Tensor) -> dict[str, Tensor]:
    named = weights(model)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values())), strict=True))


def same(one: dict[str, Tensor], other: dict[str, Tensor], rtol: float = 1e-6) -> None:
    """Equal to rounding, measured against the largest gradient of each weight."""
    for name, expected in one.items():
        assert (other[name] - expected).abs().max() <= 3 * rtol * expected.abs().max() + 1e-9, name


@pytest.fixture(params=MODELS)
def config(request: pytest.FixtureRequest) -> ModelConfig:
    return MODELS[request.param]


def loss_of(tmp_path: Path, model: nn.Module, rows: np.ndarray, noisy: bool = True) -> Tensor:
    noise = Noise.of(5, 7, torch.from_numpy(rows)) if noisy else None
    return make_task(make_corpus(tmp_path / "corpus")).loss(model, rows, 0, noise)


def test_dropout_is_on(config: ModelConfig, tmp_path: Path) -> None:
    model = make_model(config)
    noisy, quiet = (gradients(model, loss_of(tmp_path, model, ROWS, noisy)) for noisy in (True, False))
    assert max(float((noisy[name] - quiet[name]).abs().max() / quiet[name].abs().max()) for name in quiet) > 0.1


@pytest.mark.parametrize("parts", [2, 3, len(ROWS)])
def test_the_sum_over_parts_is_the_whole(parts: int, config: ModelConfig, tmp_path: Path) -> None:
    """Parts are padded otherwise, down to one sentence alone, which has no padding at all."""
    model = make_model(config)
    whole = loss_of(tmp_path, model, ROWS)
    pieces = torch.stack([loss_of(tmp_path, model, ROWS[part::parts]) for part in range(parts)]).sum()
    assert float(pieces.detach()) == pytest.approx(float(whole.detach()), rel=1e-6)
    same(gradients(model, whole), gradients(model, pieces))


def test_the_order_of_the_batch_changes_nothing(config: ModelConfig, tmp_path: Path) -> None:
    model = make_model(config)
    forward, backward = loss_of(tmp_path, model, ROWS), loss_of(tmp_path, model, ROWS[::-1].copy())
    assert float(backward.detach()) == pytest.approx(float(forward.detach()), rel=1e-6)
    same(gradients(model, forward), gradients(model, backward))


@pytest.mark.parametrize("parts", [2, 5, 50])  # 50: more parts than sentences
def test_accumulation_gives_the_same_gradients(parts: int, config: ModelConfig, tmp_path: Path) -> None:
    def after_one_backward(accumulate: int) -> tuple[float, dict[str, Tensor]]:
        settings = replace(configured(accumulate=accumulate), model=config)
        loop = Run(tmp_path / f"by {accumulate}", settings).loop
        rows = loop.task.rows(0, 0)
        loss = loop.gradient.add(rows, 0, 0, loop.task.tokens(rows), "fp32")
        return loss, {name: parameter.grad for name, parameter in weights(loop.model).items() if parameter.grad is not None}

    (loss, whole), (parted_loss, parted) = after_one_backward(1), after_one_backward(parts)
    assert parted_loss == pytest.approx(loss, rel=1e-6)
    same(whole, parted)


def test_the_gradient_is_that_of_the_mean_over_tokens(tmp_path: Path) -> None:
    loop = Run(tmp_path / "run").loop
    rows = loop.task.rows(0, 0)
    tokens = sum(len(make_corpus(tmp_path / "corpus").target(int(row))) + 1 for row in rows)
    assert loop.task.tokens(rows) == tokens
    mean = loop.task.loss(loop.model, rows, 0, Noise.of(CONFIG.seed, 0, torch.from_numpy(rows))) / tokens
    expected = gradients(loop.model, mean)
    assert loop.gradient.add(rows, 0, 0, tokens, "fp32") == pytest.approx(float(mean.detach()) * tokens, rel=1e-6)
    same(expected, {name: parameter.grad for name, parameter in weights(loop.model).items() if parameter.grad is not None})


def test_accumulation_trains_to_the_same_losses(tmp_path: Path) -> None:
    def losses(accumulate: int) -> list[float]:
        run = Run(tmp_path / f"by {accumulate}", configured(accumulate=accumulate, log_every=1))
        run.go()
        return [event.loss for event in run.events if isinstance(event, Stepped)]

    assert losses(3) == pytest.approx(losses(1), rel=1e-4)  # rounding grows over 24 updates
