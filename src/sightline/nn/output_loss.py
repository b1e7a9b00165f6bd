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

from sightline.nn.losses import SmoothingKind, cross_entropy, uniform_share

BLOCK = 1 << 20  # logits at a time: 4 MB in fp32


def output_cross_entropy(
    features: Float[Tensor, "N D"],
    weight: Float[Tensor, "V D"],
    targets: Int[Tensor, " N"],
    smoothing: float = 0.0,
    kind: SmoothingKind = "uniform",
) -> Float[Tensor, ""]:
    """`cross_entropy` of the logits `features · weightᵀ`, summed over tokens; products in autocast's precision."""
    device = features.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else features.dtype
    smoothing = uniform_share(smoothing, kind, len(weight))
    if torch.is_grad_enabled():
        loss: Tensor = _OutputCrossEntropy.apply(features, weight, targets, smoothing, dtype)  # type: ignore[no-untyped-call]
        return loss
    blocks = zip(_blocks(features, weight), _blocks(targets, weight), strict=True)
    narrow = weight.to(dtype)
    total = torch.zeros((), device=features.device)
    for part, wanted in blocks:
        total += cross_entropy(part.to(dtype) @ narrow.t(), wanted, smoothing)
    return total


def _blocks(rows: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
    return torch.split(rows, max(1, BLOCK // len(weight)))


class _OutputCrossEntropy(torch.autograd.Function):
    """The gradient of logits z with respect to the loss is softmax(z) minus the smoothed target."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, targets: Tensor, smoothing: float, dtype: torch.dtype) -> Tensor:
        size, narrow = len(weight), weight.to(dtype)
        total = torch.zeros((), device=features.device)
        weight_gradient = torch.zeros_like(weight, dtype=torch.float32)
        feature_gradients = []
        for part, wanted in zip(_blocks(features, weight), _blocks(targets, weight), strict=True):
            part = part.to(dtype)
            place, share = wanted[:, None], smoothing / size
            log_probs = torch.log_softmax(part @ narrow.t(), -1, dtype=torch.float32)
            total -= (1 - smoothing) * log_probs.gather(1, place).sum() + share * log_probs.sum()
            gradient = log_probs.exp_().sub_(share)
            gradient.scatter_add_(1, place, gradient.new_full(place.shape, smoothing - 1))
            gradient = gradient.to(dtype)
            feature_gradients.append(gradient @ narrow)
            weight_gradient += gradient.t() @ part
        ctx.save_for_backward(torch.cat(feature_gradients).to(features.dtype), weight_gradient.to(weight.dtype))
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        features, weight = ctx.saved_tensors
        return features * upstream[0], weight * upstream[0], None, None, None
