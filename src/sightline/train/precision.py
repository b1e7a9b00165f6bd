"""Which precision matrix products are fastest in on this machine. Probed, never assumed."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch

from sightline.train.config import Precision

SPEEDUP_WORTH_IT = 1.3  # bf16 rounds every product: it must repay that


def product_rate(dtype: torch.dtype, size: int = 512, repeats: int = 8) -> float:
    """Floating-point operations per second of a square product, the best of several."""
    a, b = torch.ones(size, size, dtype=dtype), torch.ones(size, size, dtype=dtype)
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - begin)
    return 2 * size**3 / best


def resolve(precision: Precision) -> Literal["fp32", "bf16"]:
    """What "auto" comes to here."""
    if precision != "auto":
        return precision
    if torch.cuda.is_available():
        return "bf16" if torch.cuda.is_bf16_supported() else "fp32"
    return "bf16" if product_rate(torch.bfloat16) > SPEEDUP_WORTH_IT * product_rate(torch.float32) else "fp32"


def products_in(precision: Literal["fp32", "bf16"], device: str = "cpu") -> AbstractContextManager[object]:
    """Matrix products in this precision; weights, norms, softmax and loss stay in fp32."""
    return torch.autocast(device, torch.bfloat16) if precision == "bf16" else nullcontext()
