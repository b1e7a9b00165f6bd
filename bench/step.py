"""Where the time of an update goes, and what each idea is worth: `python -m bench.step [--rounds 3] [--precision fp32]`.

The model of all speed comparisons trains on real batches. Each idea is taken away alone, then all together, which is how it was
before; the variants take turns update by update, on the same batches, so that a noisy machine is noisy for all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from bench.speed.data import Shared, shared_data
from bench.speed.setups import Recipe
from sightline.data.batches import BatchOrder
from sightline.models.build import build
from sightline.nn import kernels, output_loss
from sightline.tasks.translation import TranslationTask
from sightline.train.crew import Crew
from sightline.train.gradient import Gradient
from sightline.train.memory import keep_freed_memory
from sightline.train.optimiser import make_optimiser
from sightline.train.ranks import Ranks

WARM, UPDATES = 3, 6

# What a row of the profile belongs to, by the beginning of its name; the first that fits counts.
KINDS = {
    "matrix products": ("aten::mm", "aten::addmm", "aten::bmm", "mkldnn::_linear_pointwise"),
    "attention": ("_Attention", "aten::_softmax", "aten::_scaled_dot", "aten::masked_fill"),
    "loss over the vocabulary": ("_OutputCrossEntropy", "aten::_log_softmax", "aten::exp", "aten::scatter", "aten::gather"),
    "layer norm": ("_LayerNorm", "aten::native_layer_norm"),
    "dropout": ("_Drop", "aten::bitwise", "aten::__rshift__", "aten::ge"),
    "sums of linear layers": ("_Linear", "aten::sum", "aten::threshold", "aten::clamp_min", "aten::relu"),
    "optimiser": ("aten::_fused_adam", "Optimizer", "aten::linalg_vector_norm", "aten::_foreach"),
    "copies and casts": ("aten::copy_", "aten::cat", "aten::_to_copy", "aten::contiguous"),
}


def _norm(x: Tensor, weight: Tensor, bias: Tensor, epsilon: float, dtype: torch.dtype) -> Tensor:
    return F.layer_norm(x, weight.shape, weight, bias, epsilon)


def _drop(x: Tensor, draw: kernels.Draw) -> Tensor:
    from sightline.nn.noise import Noise

    draws = Noise(draw.keys, draw.offset).draw(draw.site, x.size(1), x.size(2))
    keep = draws >= draw.threshold - 32768
    return x * keep.to(x.dtype).mul_(65536 / (65536 - draw.threshold))


def _drop_add(base: Tensor, x: Tensor, draw: kernels.Draw) -> Tensor:
    return base + _drop(x, draw)


def _never(*_: object) -> bool:
    return False


IDEAS: dict[str, list[tuple[Any, str, Any]]] = {
    "layer norm in one pass": [(kernels, "layer_norm", _norm)],
    "dropout drawn where it is used": [(kernels, "drop", _drop), (kernels, "drop_add", _drop_add)],
    "linear layers with bias and ReLU in one": [(kernels, "takes_linear", _never)],
    "attention one sentence and head at a time": [(kernels, "takes_attention", _never)],
    "loss and its gradient in place": [(kernels, "lose_", output_loss._lose)],
    "a crew that meets once": [],  # see `_without`
}


@contextmanager
def _without(ideas: Mapping[str, list[tuple[Any, str, Any]]]) -> Iterator[None]:
    replaced = [patch.object(*each) for changes in ideas.values() for each in changes]
    for each in replaced:
        each.start()
    try:
        yield
    finally:
        for each in replaced:
            each.stop()


class Trainer:
    """A model with what it takes to make an update."""

    def __init__(self, data: Shared, precision: str, rounds: int) -> None:
        self.recipe, self.precision = Recipe(WARM + rounds * UPDATES), precision
        config = self.recipe.config()
        model = build(config.model, data.vocabulary, data.vocabulary, 1)
        corpus = data.prepared.train
        order = BatchOrder(corpus.source_lengths, corpus.target_lengths, config.train.tokens, 1)
        self.task = TranslationTask(corpus, order, config.train.smoothing)
        self.optimiser = make_optimiser(model, config.optimiser)
        self.gradient = Gradient(model, self.task, 1, 1, Ranks())
        self.crews = {True: self.gradient.crew, False: Crew(1)}

    def update(self, number: int, crew: bool = True) -> float:
        """Target tokens per second."""
        self.gradient.crew = self.crews[crew]
        begin = time.perf_counter()
        rows = self.task.rows(0, number)
        tokens = self.task.tokens(rows)
        self.optimiser.zero_grad(set_to_none=True)
        self.gradient.add(rows, 0, number, tokens, self.precision)
        torch.nn.utils.clip_grad_norm_(self.gradient.parameters, 1.0)
        for group in self.optimiser.param_groups:
            group["lr"] = 1e-4
        self.optimiser.step()
        return tokens / (time.perf_counter() - begin)


def rates(trainer: Trainer, rounds: int) -> dict[str, list[float]]:
    """Target tokens per second of every variant, a number for each update."""
    variants = {"everything": {}, **{f"without: {name}": {name: IDEAS[name]} for name in IDEAS}, "without all of them": IDEAS}
    found = defaultdict[str, list[float]](list)
    for number in range(WARM + rounds * UPDATES):
        for name, ideas in variants.items():
            with _without(ideas):
                rate = trainer.update(number, crew="a crew that meets once" not in ideas)
            if number >= WARM:
                found[name].append(rate)
    return dict(found)


@contextmanager
def _results_kept_clean() -> Iterator[None]:
    """PyTorch's profiler says to standard output that it begins and ends."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def shares(trainer: Trainer, ideas: Mapping[str, list[tuple[Any, str, Any]]]) -> dict[str, float]:
    """Milliseconds of an update by kind of work, in one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with _without(ideas):
            trainer.update(0, crew=False)
            with _results_kept_clean(), profile(activities=[ProfilerActivity.CPU]) as seen:
                trainer.update(1, crew=False)
    finally:
        torch.set_num_threads(threads)
    found = dict.fromkeys((*KINDS, "all else"), 0.0)
    for row in seen.key_averages():
        kind = next((kind for kind, starts in KINDS.items() if row.key.startswith(starts)), "all else")
        found[kind] += row.self_cpu_time_total / 1e3
    return found


def measured(rounds: int, precision: str) -> dict[str, Any]:
    """Everything, as a JSON object."""
    trainer = Trainer(shared_data(lambda line: print(line, file=sys.stderr)), precision, rounds)
    found = rates(trainer, rounds)
    whole = statistics.median(found["everything"])
    ideas = {
        name: {"tokens_per_second": statistics.median(each), "share": statistics.median(each) / whole, "all": each}
        for name, each in found.items()
    }
    before = shares(trainer, IDEAS)
    return {"precision": precision, "ideas": ideas, "milliseconds": {"before": before, "after": shares(trainer, {})}}


def main(words: list[str]) -> int:
    reader = argparse.ArgumentParser(prog="python -m bench.step", description=__doc__)
    reader.add_argument("--rounds", type=int, default=2, help=f"of {UPDATES} updates")
    reader.add_argument("--precision", choices=("bf16", "fp32"), default="bf16")
    reader.add_argument("--json", action="store_true", help="one JSON object")
    told = reader.parse_args(words)
    keep_freed_memory()
    found = measured(told.rounds, told.precision)
    if told.json:
        print(json.dumps(found, indent=2))
        return 0
    for name, idea in found["ideas"].items():
        print(f"{name:<55} {idea['tokens_per_second']:>8,.0f} tokens/s  {idea['share']:.2f}")
    for kind in (*KINDS, "all else"):
        before, after = (found["milliseconds"][when][kind] for when in ("before", "after"))
        print(f"{kind:<30} {before:>8.1f} ms before {after:>8.1f} ms after")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
