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

BLOCK = 1 << 23  # logits at a time: 16 MB in bf16 …
FEWEST = 512  # … but at least so many rows: each block adds a gradient as large as the weights


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
    narrow = weight.to(dtype)
    total = torch.zeros((), device=features.device)
    for part, wanted in zip(_parts(features, weight), _parts(targets, weight), strict=True):
        total += cross_entropy(part.to(dtype) @ narrow.t(), wanted, smoothing)
    return total


def _parts(rows: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
    return torch.split(rows, _most(weight))


def _most(weight: Tensor) -> int:
    """Rows of a block."""
    return max(FEWEST, BLOCK // len(weight))


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
        size, narrow, rows = len(weight), weight.to(dtype), features.to(dtype)
        total = torch.zeros((), device=features.device)
        weight_gradient = torch.zeros_like(weight, dtype=torch.float32)
        feature_gradients = []
        lose_ = kernels.lose_ if kernels.ready(rows) else _lose
        room = rows.new_empty(min(len(rows), _most(weight)), size)  # one for all blocks: it stays in cache
        for part, wanted in zip(_parts(rows, weight), _parts(targets, weight), strict=True):
            slopes = kernels.multiply(part, narrow, room[: len(part)])
            total += lose_(slopes, wanted, smoothing).sum()
            feature_gradients.append(kernels.multiply(slopes, narrow.t()))
            weight_gradient += kernels.multiply_over_rows(slopes, part)
        ctx.save_for_backward(torch.cat(feature_gradients).to(features.dtype), weight_gradient.to(weight.dtype))
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        features, weight = ctx.saved_tensors
        return features * upstream[0], weight * upstream[0], None, None, None
