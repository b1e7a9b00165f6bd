"""Cross-entropy over real tokens."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

SmoothingKind: TypeAlias = Literal["uniform", "others"]


def cross_entropy(
    logits: Float[Tensor, "N V"], targets: Int[Tensor, " N"], smoothing: float = 0.0, kind: SmoothingKind = "uniform"
) -> Float[Tensor, ""]:
    """Summed over tokens, in fp32; the caller divides by the tokens of the whole update.

    `uniform` takes a share from the target and spreads it over the whole vocabulary, target included, as PyTorch does.
    `others` spreads it over the other words only, which is the same with a slightly larger share.
    """
    if kind == "others":
        vocabulary = logits.size(-1)
        smoothing = smoothing * vocabulary / (vocabulary - 1)
    return F.cross_entropy(logits.float(), targets, reduction="sum", label_smoothing=smoothing)
