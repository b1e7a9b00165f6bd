"""Which precision matrix products are fastest in on this machine. Probed, never assumed."""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch

from sightline.errors import UserError
from sightline.train.config import Device, Precision

SPEEDUP_WORTH_IT = 1.3  # bf16 rounds every product: it must repay that


def product_rate(dtype: torch.dtype, size: int = 512, repeats: int = 8) -> float:
    """Floating-point operations per second of a square product in one thread, the best of several.

    One thread: several wait for one another, so that another program on one core would decide what is measured.
    """
    a, b = torch.ones(size, size, dtype=dtype), torch.ones(size, size, dtype=dtype)
    best, threads = float("inf"), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for _ in range(repeats):
            begin = time.perf_counter()
            a @ b
            best = min(best, time.perf_counter() - begin)
    finally:
        torch.set_num_threads(threads)
    return 2 * size**3 / best


def best_device(device: Device) -> torch.device:
    """What "auto" comes to here; under `torchrun` every process takes the card of its own number."""
    if device == "cpu" or (device == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise UserError("train.device=cuda, but PyTorch finds no CUDA card here; say train.device=auto")
    card, cards = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if card >= cards:
        raise UserError(f"more processes than the {cards} CUDA cards of this machine; start fewer, or say train.device=cpu")
    return torch.device("cuda", card)


def resolve(precision: Precision, device: torch.device) -> Literal["fp32", "bf16"]:
    """What "auto" comes to here."""
    if precision != "auto":
        return precision
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported() else "fp32"
    return "bf16" if product_rate(torch.bfloat16) > SPEEDUP_WORTH_IT * product_rate(torch.float32) else "fp32"


def products_in(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Matrix products in this precision; weights, their gradients, the loss and the optimiser stay in fp32."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bf16" else nullcontext()
