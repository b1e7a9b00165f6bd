"""Output layer and cross-entropy in one: the logits of a whole batch never exist, only those of a few rows at a time.

Over a vocabulary of thousands the logits are by far the largest tensor of a training step, and reading them once more for
each of softmax, loss and gradient costs more than all the products of a small model. Here the gradient is formed in the
forward pass while a block of logits is still in cache.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from sightline.nn import kernels
from sightline.nn.losses import SmoothingKind, cross_entropy, uniform_share

BLOCK = 1 << 20  # logits at a time: 4 MB in fp32
WAVE = 1 << 23  # logits whose gradient goes into that of the weights at a time


def output_cross_entropy(
    features: Float[Tensor, "N D"],
    weight: Float[Tensor, "V D"],
    targets: Int[Tensor, " N"],
    smoothing: float = 0.0,
    kind: SmoothingKind = "uniform",
) -> Float[Tensor, ""]:
    """`cross_entropy` of the logits `features · weightᵀ`, summed over tokens; products in autocast's precision."""
    dtype = kernels.product_dtype(features)
    smoothing = uniform_share(smoothing, kind, len(weight))
    if torch.is_grad_enabled():
        loss: Tensor = _OutputCrossEntropy.apply(features, weight, targets, smoothing, dtype)  # type: ignore[no-untyped-call]
        return loss
    narrow, few = weight.to(dtype), BLOCK // len(weight)
    total = torch.zeros((), device=features.device)
    for part, wanted in zip(_parts(features, few), _parts(targets, few), strict=True):
        total += cross_entropy(part.to(dtype) @ narrow.t(), wanted, smoothing)
    return total


def _parts(rows: Tensor, count: int) -> tuple[Tensor, ...]:
    return torch.split(rows, max(1, count))


def _lose(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """The cross-entropy of each row; the logits become their own gradient, softmax(logits) minus the smoothed target."""
    share, place = smoothing / logits.size(1), targets[:, None]
    log_probs = torch.log_softmax(logits, -1, dtype=torch.float32)
    losses = -(1 - smoothing) * log_probs.gather(1, place).squeeze(1) - share * log_probs.sum(1)
    slopes = log_probs.exp_().sub_(share)
    logits.copy_(slopes.scatter_add_(1, place, slopes.new_full(place.shape, smoothing - 1)))
    return losses


class _OutputCrossEntropy(torch.autograd.Function):
    """The gradient of logits z with respect to the loss is softmax(z) minus the smoothed target."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, targets: Tensor, smoothing: float, dtype: torch.dtype) -> Tensor:
        narrow, rows = weight.to(dtype), features.to(dtype)
        total = torch.zeros((), device=features.device)
        weight_gradient = torch.zeros_like(weight, dtype=torch.float32)
        feature_gradients = []
        lose_ = kernels.lose_ if kernels.ready(rows) else _lose
        for part, wanted in zip(_parts(rows, WAVE // len(weight)), _parts(targets, WAVE // len(weight)), strict=True):
            slopes = part.new_empty(len(part), len(weight))
            few = BLOCK // len(weight)
            for some, into, words in zip(_parts(part, few), _parts(slopes, few), _parts(wanted, few), strict=True):
                torch.mm(some, narrow.t(), out=into)
                total += lose_(into, words, smoothing).sum()
            feature_gradients.append(slopes @ narrow)
            weight_gradient += slopes.t() @ part
        ctx.save_for_backward(torch.cat(feature_gradients).to(features.dtype), weight_gradient.to(weight.dtype))
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        features, weight = ctx.saved_tensors
        return features * upstream[0], weight * upstream[0], None, None, None
