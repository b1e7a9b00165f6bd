"""What this processor can do at best: products a second in three precisions, and bytes a second from memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from sightline.data.workers import cores
from sightline.study.timing import seconds_of

SHAPES = ((4096, 256, 1024), (4096, 1024, 1024), (2048, 2048, 2048))  # rows, inner, columns: the best one counts
READ = 1 << 27  # bytes: more than any cache holds
SECONDS = 0.15  # for each shape


@dataclass(frozen=True, slots=True)
class Rates:
    """Operations and bytes a second, of all cores together."""

    fp32: float
    bf16: float
    int8: float  # 0: this PyTorch has no such product here
    bandwidth: float

    def of(self, recipe: str) -> float:
        """The rate of the precision that a recipe names; fp32 where it names none."""
        words = recipe.replace("_", " ").replace(",", " ").split()
        return next((rate for name in ("int8", "bf16") if name in words and (rate := getattr(self, name))), self.fp32)


def measure_rates() -> Rates:
    """A second or two, on all cores: an engine may use more of them than PyTorch does by itself."""
    threads = torch.get_num_threads()
    torch.set_num_threads(cores())
    try:
        return _measured()
    finally:
        torch.set_num_threads(threads)


def _measured() -> Rates:
    fp32, bf16, int8 = (max(_product(kind, shape) for shape in SHAPES) for kind in ("fp32", "bf16", "int8"))
    return Rates(fp32, bf16, int8, _bandwidth())


def _product(kind: str, shape: tuple[int, int, int]) -> float:
    rows, inner, columns = shape
    if kind == "int8":
        a, b = torch.ones(rows, inner, dtype=torch.int8), torch.ones(inner, columns, dtype=torch.int8)
        try:
            torch._int_mm(a, b)
        except RuntimeError:
            return 0.0
        return 2 * rows * inner * columns / _best(lambda: torch._int_mm(a, b))
    dtype = torch.float32 if kind == "fp32" else torch.bfloat16
    x, y = torch.ones(rows, inner, dtype=dtype), torch.ones(inner, columns, dtype=dtype)
    return 2 * rows * inner * columns / _best(lambda: x @ y)


def _bandwidth() -> float:
    block = torch.ones(READ // 4)
    return READ / _best(block.sum)


def _best(job: Callable[[], object]) -> float:
    """The shortest of as many as there is time for; the first is not counted."""
    job()
    spent, best = 0.0, float("inf")
    while spent < SECONDS:
        taken = seconds_of(job)
        spent, best = spent + taken, min(best, taken)
    return best
