"""Cross-entropy against PyTorch's and against its definition, with the output layer apart and in one."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from sightline.nn import output_loss
from sightline.nn.losses import cross_entropy, uniform_share
from sightline.nn.output_loss import output_cross_entropy

ROWS, DIM, VOCABULARY = 7, 6, 11


@pytest.fixture
def parts() -> tuple[Tensor, Tensor, Tensor]:
    """Features, weight, targets."""
    generator = torch.Generator().manual_seed(3)
    features, weight = (torch.randn(size, DIM, generator=generator, requires_grad=True) for size in (ROWS, VOCABULARY))
    return features, weight, torch.randint(VOCABULARY, (ROWS,), generator=generator)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
def test_uniform_is_what_pytorch_defines(parts: tuple[Tensor, Tensor, Tensor], smoothing: float) -> None:
    features, weight, targets = parts
    logits = features @ weight.t()
    expected = F.cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)
    torch.testing.assert_close(cross_entropy(logits, targets, smoothing), expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
def test_others_spreads_over_the_other_words_only(parts: tuple[Tensor, Tensor, Tensor], smoothing: float) -> None:
    features, weight, targets = parts
    logits = features @ weight.t()
    wanted = torch.full((ROWS, VOCABULARY), smoothing / (VOCABULARY - 1))
    wanted[range(ROWS), targets] = 1 - smoothing
    expected = -(wanted * logits.log_softmax(-1)).sum()
    torch.testing.assert_close(cross_entropy(logits, targets, uniform_share(smoothing, "others", VOCABULARY)), expected)
    torch.testing.assert_close(output_cross_entropy(features, weight, targets, smoothing, "others"), expected)


@pytest.mark.parametrize("block", [1, 3 * VOCABULARY, 1 << 20])
@pytest.mark.parametrize("kind", ["uniform", "others"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_output_layer_and_loss_in_one(
    parts: tuple[Tensor, Tensor, Tensor], smoothing: float, kind: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Value and both gradients, whatever the size of a block; the loss may be part of a larger sum."""
    assert kind in ("uniform", "others")
    monkeypatch.setattr(output_loss, "BLOCK", block)
    monkeypatch.setattr(output_loss, "FEWEST", 1)
    features, weight, targets = parts
    share = smoothing * VOCABULARY / (VOCABULARY - 1) if kind == "others" else smoothing
    apart = F.cross_entropy(features @ weight.t(), targets, reduction="sum", label_smoothing=share) * 0.3
    expected = torch.autograd.grad(apart, (features, weight))
    in_one = output_cross_entropy(features, weight, targets, smoothing, "others" if kind == "others" else "uniform") * 0.3
    torch.testing.assert_close(in_one, apart)
    for found, wanted in zip(torch.autograd.grad(in_one, (features, weight)), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_weight_used_elsewhere_gets_both_gradients(parts: tuple[Tensor, Tensor, Tensor]) -> None:
    """As with tied embeddings."""
    _, weight, targets = parts
    (found,) = torch.autograd.grad(output_cross_entropy(weight[targets], weight, targets), weight)
    (expected,) = torch.autograd.grad(F.cross_entropy(weight[targets] @ weight.t(), targets, reduction="sum"), weight)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_without_gradient_the_value_is_the_same(parts: tuple[Tensor, Tensor, Tensor]) -> None:
    features, weight, targets = parts
    with torch.no_grad():
        alone = output_cross_entropy(features, weight, targets, 0.1)
    assert not alone.requires_grad
    torch.testing.assert_close(alone, output_cross_entropy(features, weight, targets, 0.1).detach())


def test_bf16_comes_close(parts: tuple[Tensor, Tensor, Tensor]) -> None:
    """Products in bf16, softmax and sum in fp32; gradients in the parameters' own precision."""
    features, weight, targets = parts
    exact = output_cross_entropy(features, weight, targets, 0.1)
    with torch.autocast("cpu", torch.bfloat16):
        rough = output_cross_entropy(features, weight, targets, 0.1)
    assert rough.dtype == torch.float32
    torch.testing.assert_close(rough, exact, rtol=0.02, atol=0.0)
    assert rough.item() != exact.item()
    for found, wanted in zip(
        torch.autograd.grad(rough, (features, weight)), torch.autograd.grad(exact, (features, weight)), strict=True
    ):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, wanted, rtol=0.05, atol=0.05)
