"""Optimisers from PyTorch, and schedules as functions update -> learning rate."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn

from sightline.train.config import OptimiserConfig

Schedule = Callable[[int], float]


def make_optimiser(model: nn.Module, config: OptimiserConfig) -> torch.optim.Optimizer:
    """Weight decay acts on matrices; norms and biases are left alone. The loop sets the learning rate."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    betas = (config.beta1, config.beta2)
    match config.kind:
        case "adam":
            return torch.optim.Adam(groups, lr=0.0, betas=betas, eps=config.epsilon, fused=True)
        case "adamw":
            return torch.optim.AdamW(groups, lr=0.0, betas=betas, eps=config.epsilon, fused=True)
        case "sgd":
            return torch.optim.SGD(groups, lr=0.0, momentum=config.beta1, fused=True)


def make_schedule(config: OptimiserConfig, dim: int, updates: int) -> Schedule:
    """The learning rate of update 1, 2, …

    inverse_sqrt   rises in a line for `warmup` updates, then falls as 1/√update (Vaswani et al. 2017)
    cosine         rises, then falls along half a cosine to nothing at the last update
    constant       rises, then stays
    """
    warmup = max(config.warmup, 1)
    peak = config.learning_rate if config.learning_rate is not None else (dim * warmup) ** -0.5

    def rate(update: int) -> float:
        if update < warmup:
            return peak * update / warmup
        match config.schedule:
            case "inverse_sqrt":
                return peak * math.sqrt(warmup / update)
            case "cosine":
                done = min(1.0, (update - warmup) / max(1, updates - warmup))
                return peak * 0.5 * (1 + math.cos(math.pi * done))
            case "constant":
                return peak

    return rate
