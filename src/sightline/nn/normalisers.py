"""From scores to weights. A normaliser is any callable over the last axis whose rows sum to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

Normaliser: TypeAlias = Callable[[Tensor], Tensor]


def softmax(scores: Float[Tensor, "*rows S"]) -> Float[Tensor, "*rows S"]:
    """e^s, normalised; in fp32 whatever the products were made in."""
    return torch.softmax(scores, -1, dtype=torch.float32).to(scores.dtype)
