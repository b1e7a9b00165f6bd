"""Cross-entropy over real tokens."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

SmoothingKind: TypeAlias = Literal["uniform", "others"]


def uniform_share(smoothing: float, kind: SmoothingKind, vocabulary: int) -> float:
    """What `cross_entropy` must spread so that the target's probability is spread as `kind` says.

    `uniform` takes a share from the target and spreads it over the whole vocabulary, target included, as PyTorch does.
    `others` spreads it over the other words only, which is the same with a slightly larger share.
    """
    return smoothing if kind == "uniform" else smoothing * vocabulary / (vocabulary - 1)


def cross_entropy(logits: Float[Tensor, "N V"], targets: Int[Tensor, " N"], share: float = 0.0) -> Float[Tensor, ""]:
    """Summed over tokens, in fp32; the caller divides by the tokens of the whole update."""
    return F.cross_entropy(logits.float(), targets, reduction="sum", label_smoothing=share)
