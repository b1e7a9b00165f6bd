"""Schedules against their formulas, steps against steps by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from sightline.train.config import OptimiserConfig, TrainConfig
from sightline.train.optimiser import make_optimiser, make_schedule


@pytest.mark.parametrize("update", [1, 2, 100, 3999, 4000, 4001, 100_000])
def test_inverse_sqrt_is_the_published_formula(update: int) -> None:
    """dim^-0.5 · min(step^-0.5, step · warmup^-1.5)"""
    rate = make_schedule(OptimiserConfig(warmup=4000), dim=512, updates=100_000)
    assert rate(update) == pytest.approx(512**-0.5 * min(update**-0.5, update * 4000**-1.5), rel=1e-12)


def test_a_learning_rate_is_the_peak_of_every_schedule() -> None:
    for schedule in ("inverse_sqrt", "cosine", "constant"):
        rate = make_schedule(OptimiserConfig(learning_rate=0.3, warmup=10, schedule=schedule), 16, 100)
        assert [rate(update) for update in (1, 5, 10)] == pytest.approx([0.03, 0.15, 0.3])
        assert max(rate(update) for update in range(1, 101)) == pytest.approx(0.3)


def test_cosine_falls_along_half_a_wave_to_nothing() -> None:
    rate = make_schedule(OptimiserConfig(learning_rate=2.0, warmup=20, schedule="cosine"), 16, 100)
    for update in range(20, 101):
        assert rate(update) == pytest.approx(1 + math.cos(math.pi * (update - 20) / 80), abs=1e-12)
    assert rate(60) == pytest.approx(1.0)
    assert rate(100) == pytest.approx(0.0, abs=1e-12)
    assert rate(120) == pytest.approx(0.0, abs=1e-12)


def test_constant_stays() -> None:
    rate = make_schedule(OptimiserConfig(learning_rate=2.0, warmup=3, schedule="constant"), 16, 100)
    assert [rate(update) for update in (3, 4, 1000)] == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("warmup", [0, 1])
def test_no_warm_up_begins_at_the_peak(warmup: int) -> None:
    assert make_schedule(OptimiserConfig(learning_rate=2.0, warmup=warmup), 16, 100)(1) == 2.0


class Two(nn.Module):
    """A matrix and a bias."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(1)
        self.matrix = nn.Parameter(torch.randn(3, 2, generator=generator))
        self.bias = nn.Parameter(torch.randn(2, generator=generator))


CONFIG = OptimiserConfig(beta1=0.8, beta2=0.9, epsilon=1e-3)
GRADIENTS = [1.0, -0.5, 3.0]


def stepped(config: OptimiserConfig, rate: float = 0.1) -> Two:
    """After three steps with gradients that are multiples of the first weights."""
    model = Two()
    begin = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    optimiser = make_optimiser(model, config)
    for factor in GRADIENTS:
        for name, parameter in model.named_parameters():
            parameter.grad = begin[name] * factor
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.step()
    return model


def by_hand(config: OptimiserConfig, begin: torch.Tensor, decay: float, rate: float = 0.1) -> torch.Tensor:
    weight, first, second, momentum = begin.double(), torch.zeros(()), torch.zeros(()), None
    for step, factor in enumerate(GRADIENTS, 1):
        gradient = begin.double() * factor
        if config.kind == "adamw":
            weight = weight - rate * decay * weight
        else:
            gradient = gradient + decay * weight
        if config.kind == "sgd":
            momentum = gradient if momentum is None else config.beta1 * momentum + gradient
            weight = weight - rate * momentum
            continue
        first = config.beta1 * first + (1 - config.beta1) * gradient
        second = config.beta2 * second + (1 - config.beta2) * gradient**2
        unbiased = first / (1 - config.beta1**step), second / (1 - config.beta2**step)
        weight = weight - rate * unbiased[0] / (unbiased[1].sqrt() + config.epsilon)
    return weight.float()


@pytest.mark.parametrize("kind", ["adam", "adamw", "sgd"])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_steps_are_those_made_by_hand_and_decay_spares_the_bias(kind: str, decay: float) -> None:
    config = replace(CONFIG, kind=kind, weight_decay=decay)
    made = stepped(config)
    torch.testing.assert_close(made.matrix.data, by_hand(config, Two().matrix.data, decay), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(made.bias.data, by_hand(config, Two().bias.data, 0.0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (lambda: OptimiserConfig(learning_rate=0.0), "learning_rate=0.0"),
        (lambda: OptimiserConfig(warmup=-1), "negative"),
        (lambda: TrainConfig(tokens=0), "tokens=0"),
        (lambda: TrainConfig(ema=1.0), "ema=1.0"),
        (lambda: TrainConfig(average=-1), "average=-1"),
        (lambda: TrainConfig(checkpoint_minutes=-0.5), "checkpoint_minutes=-0.5"),
        (lambda: TrainConfig(max_epochs=0), "max_epochs=0"),
        (lambda: TrainConfig(max_minutes=0), "max_minutes=0"),
        (lambda: TrainConfig(judge="bleu", validate_sentences=0), "judge='bleu'"),
    ],
)
def test_settings_that_make_no_sense_name_themselves(make: object, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        make()  # type: ignore[operator]
