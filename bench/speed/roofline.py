"""How fast this machine multiplies and copies, and what share of that ours reaches."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import torch
import torch.nn.functional as F

from bench.speed import results
from bench.speed.data import Shared
from bench.speed.setups import Recipe
from sightline.study.flops import work_of
from sightline.train.memory import keep_freed_memory

SHAPES = ((4096, 256, 1024), (4096, 1024, 256), (4096, 1024, 1024), (2048, 2048, 2048), (4096, 256, 8000))  # rows, in, out
SMALL = ((320, 256, 1024), (5, 256, 1024), (1, 256, 1024))  # those of decoding
COPIED = 1 << 26  # numbers in fp32, far more than any cache holds
REPEATS = 5


def best_of(work: Callable[[], object], times: int) -> float:
    """Seconds of one, of the best of several series."""
    work()
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.perf_counter()
        for _ in range(times):
            work()
        best = min(best, (time.perf_counter() - begin) / times)
    return best


def product_rates(rows: int, inner: int, outer: int) -> dict[str, float]:
    """Operations per second of a linear layer, in billions."""
    work, found = 2.0 * rows * inner * outer, {}
    times = max(1, round(2e9 / work))
    for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        x, w = torch.randn(rows, inner, dtype=dtype), torch.randn(outer, inner, dtype=dtype)
        with torch.no_grad():
            found[name] = round(work / best_of(lambda x=x, w=w: F.linear(x, w), times) / 1e9, 1)  # type: ignore[misc]
    x = torch.randint(-127, 127, (rows, inner), dtype=torch.int8)
    w = torch.randint(-127, 127, (outer, inner), dtype=torch.int8).t()
    with suppress(RuntimeError):  # not offered for every shape everywhere
        found["int8"] = round(work / best_of(lambda: torch._int_mm(x, w), times) / 1e9, 1)
    return found


def limits(small: bool = False) -> dict[str, Any]:
    """The machine's own, with as many threads as everything else has here."""
    keep_freed_memory()
    chosen = SHAPES[:1] if small else SHAPES
    products = {"x".join(map(str, shape)): product_rates(*shape) for shape in (*chosen, *SMALL)}
    large = [products["x".join(map(str, shape))] for shape in chosen]
    source, target = torch.ones(COPIED), torch.ones(COPIED)
    copied = 2 * 4 * COPIED / best_of(lambda: target.copy_(source), 1) / 1e9
    best = {name: max(one.get(name, 0.0) for one in large) for name in ("fp32", "bf16", "int8")}
    return {"products_gflops": products, "best_gflops": best, "copy_gb_per_s": round(copied, 1)}


def training_flops(shared: Shared) -> float:
    """Per target token, of the model that is trained here, on sentences as long as these."""
    data = shared.prepared.train
    source, target = (float(lengths.mean()) + 1 for lengths in (data.source_lengths, data.target_lengths))
    return work_of(Recipe(1).config().model, shared.vocabulary).training(source, target) / target


def shares(parts: Mapping[str, Any], best: Mapping[str, float], copy: float, flops: float) -> list[dict[str, Any]]:
    """A line for each of ours: operations per second against the best product in the same numbers."""
    found = []
    for row in parts.get("train", {}).get("rows", []):
        if "tokens_per_second" in row and row["setup"]["system"] == "sightline":
            rate, precision = row["tokens_per_second"]["median"], row["setup"]["precision"]
            reached = flops * rate / 1e9
            found.append(
                {"what": f"training, {row['name']}", "gflops": round(reached), "limit": best[precision], "of": precision}
            )
    for row in parts.get("decode", {}).get("rows", []):
        if row["system"] == "sightline":
            found += _decoding_shares(row, parts["decode"]["roofline"], best, copy)
    for line in found:
        line["share"] = round(line["gflops"] / line["limit"], 4)
    return found


def _decoding_shares(
    row: Mapping[str, Any], work: Mapping[str, Any], best: Mapping[str, float], copy: float
) -> list[dict[str, Any]]:
    found = []
    numbers = "int8" if "int8" in row.get("recipe", "") else "fp32"
    for name, told in row.get("works", {}).items():
        if name not in work["flops_per_sentence"]:
            continue
        reached = work["flops_per_sentence"][name] * told["rate"]["median"] / 1e9
        line = {"what": f"{name.replace('_', ' ')}, {row['name']}", "gflops": round(reached, 1), "limit": best[numbers]}
        if name.endswith("_single"):  # each step reads every weight of the decoder once
            size = {"int8": 1, "fp32": 4}[numbers]
            read = work["decoder_weights"] * size * told["tokens_per_sentence"]["median"] * told["rate"]["median"] / 1e9
            line |= {"gb_per_s": round(read, 2), "share_of_copy": round(read / copy, 3)}
        found.append({**line, "of": numbers})
    return found


def measure(shared: Shared, known: Mapping[str, Any], small: bool = False) -> dict[str, Any]:
    """The part "roofline" of the results; the shares are of what was measured last."""
    found = limits(small)
    flops = training_flops(shared)
    lines = shares(known.get("parts", {}), found["best_gflops"], found["copy_gb_per_s"], flops)
    told = {**found, "training_mflop_per_token": round(flops / 1e6, 2), "shares": lines}
    return results.part(told, {"threads": torch.get_num_threads()})
