"""bf16 products: close to fp32, with weights, gradients and loss still in fp32, and only where a probe says it pays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny_run import CONFIG, Run, configured

from sightline.errors import UserError
from sightline.train import precision
from sightline.train.events import Stepped
from sightline.train.precision import best_device, product_rate, products_in, resolve

CPU = torch.device("cpu")
QUIET = replace(CONFIG, model=replace(CONFIG.model, dropout=0.0))


@pytest.mark.parametrize(("speedup", "expected"), [(1.0, "fp32"), (1.29, "fp32"), (1.31, "bf16"), (8.0, "bf16")])
def test_auto_takes_bf16_only_where_it_pays(speedup: float, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "product_rate", lambda dtype: speedup if dtype is torch.bfloat16 else 1.0)
    assert resolve("auto", CPU) == expected
    assert resolve("fp32", CPU) == "fp32"
    assert resolve("bf16", CPU) == "bf16"


def test_the_probe_measures() -> None:
    assert product_rate(torch.float32, size=64, repeats=2) > 1e6
    assert resolve("auto", CPU) in ("fp32", "bf16")


def test_products_are_in_bf16_and_gradients_are_not() -> None:
    x, w = torch.ones(2, 3), torch.ones(3, 3, requires_grad=True)
    with products_in("bf16", CPU):
        product = x @ w
        assert product.dtype == torch.bfloat16
    product.sum().backward()  # type: ignore[no-untyped-call]
    assert w.grad is not None
    assert w.grad.dtype == torch.float32
    with products_in("fp32", CPU):
        assert (x @ w).dtype == torch.float32


def test_the_loss_is_close_and_the_weights_stay_in_fp32(tmp_path: Path) -> None:
    full, half = (Run(tmp_path / kind, configured(precision=kind, max_updates=1)) for kind in ("fp32", "bf16"))
    rows = full.task.rows(0, 0)
    gradients = [run.loop.gradient for run in (full, half)]
    exact, rounded = (
        float(gradient.loss(gradient.objective, rows, 0, 0, precision).detach())
        for gradient, precision in zip(gradients, ("fp32", "bf16"), strict=True)
    )
    assert rounded == pytest.approx(exact, rel=0.02)
    assert rounded != exact
    half.go()
    for parameter in half.loop.model.parameters():
        assert parameter.dtype == torch.float32
        assert parameter.grad is not None
        assert parameter.grad.dtype == torch.float32
    for state in half.loop.optimiser.state.values():
        assert {value.dtype for value in state.values()} == {torch.float32}


def test_training_in_bf16_learns_as_in_fp32(tmp_path: Path) -> None:
    losses = {}
    for kind in ("fp32", "bf16"):
        run = Run(tmp_path / kind, replace(QUIET, train=configured(precision=kind, max_updates=120, log_every=20).train))
        run.go()
        losses[kind] = [event.loss for event in run.events if isinstance(event, Stepped)]
    assert losses["bf16"] == pytest.approx(losses["fp32"], rel=0.02)
    assert losses["bf16"][-1] < losses["bf16"][0] - 0.5


def test_a_card_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert best_device("auto") == best_device("cpu") == CPU
    with pytest.raises(UserError, match=r"train\.device=cuda.*train\.device=auto"):
        best_device("cuda")


def test_each_process_takes_its_own_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert best_device("cpu") == CPU
    assert best_device("auto") == torch.device("cuda", 0)
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert best_device("auto") == torch.device("cuda", 1)
    monkeypatch.setenv("LOCAL_RANK", "2")
    with pytest.raises(UserError, match=r"2 CUDA cards.*train\.device=cpu"):
        best_device("auto")
