"""Boolean masks, True where one may look, joined with `&`."""

from __future__ import annotations

import torch
from jaxtyping import Bool
from torch import Tensor


def over_keys(mask: Bool[Tensor, "B S"]) -> Bool[Tensor, "B 1 1 S"]:
    """A mask of real tokens, shaped for attention scores (B, H, T, S)."""
    return mask[:, None, None, :]


def causal(queries: int, keys: int, device: torch.device | None = None) -> Bool[Tensor, "1 1 {queries} {keys}"] | None:
    """No looking ahead, shaped for attention scores. The last query stands at the last key: a cache only makes `keys` longer.

    None when a single query may see everything.
    """
    if queries == 1:
        return None
    return torch.ones(1, 1, queries, keys, dtype=torch.bool, device=device).tril(keys - queries)
