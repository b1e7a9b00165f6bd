"""One point, in a process of its own, so that its memory is its own: `python -m bench.growth.work POINT FOLDER`.

The folder is there and empty, and who started this removes it. What was found is in its told.json.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from bench.growth.points import Point
from bench.speed.data import SEED
from sightline.data.batches import BatchOrder
from sightline.data.encoded import EncodedCorpus, Rows, Side, id_dtype
from sightline.data.encoded_writer import CorpusWriter
from sightline.study.start import peak_memory

SECONDS = 1.5  # to be timed, at least
UPDATES = 3  # at least, unless they take longer than LONG
LONG = 4.0  # seconds
CHUNK = 1 << 18  # sentences that are drawn at a time
FIRST = 4  # id of the first piece that is not a mark
MEAN_LENGTH = 15.0  # of the sentences that are only put in order


def corpus(point: Point, folder: Path) -> EncodedCorpus:
    """Pairs of random ids, all of one length: so nothing is padded, whatever grows."""
    generator, dtype = np.random.default_rng(SEED), id_dtype(point.vocabulary)
    side = Side("", point.vocabulary)
    with CorpusWriter(folder, {"source": side, "target": side}, ("random",)) as writer:
        for begin in range(0, point.pairs, CHUNK):
            count = min(CHUNK, point.pairs - begin)
            lengths = np.full(count, point.length - 1, np.int32)
            drawn = [generator.integers(FIRST, point.vocabulary, lengths.sum(), dtype) for _ in range(2)]
            rows = {name: Rows(ids, lengths) for name, ids in zip(("source", "target"), drawn, strict=True)}
            writer.append(rows, np.zeros(count, np.uint32), np.arange(begin, begin + count))
    return EncodedCorpus(folder)


def timed(work: Callable[[int], int]) -> float:
    """Units a second: the median of some repetitions, after one that warms up. `work` is given its number."""
    work(0)
    rates, spent = list[float](), 0.0
    while spent < SECONDS or (len(rates) < UPDATES and spent < LONG):
        begin = time.perf_counter()
        done = work(len(rates) + 1)
        lap = time.perf_counter() - begin
        rates.append(done / lap)
        spent += lap
    return statistics.median(rates)


def train(point: Point, folder: Path) -> dict[str, Any]:
    """Target tokens a second of forward pass, backward pass and step."""
    import torch

    from bench.speed.setups import Recipe
    from sightline.models.build import build
    from sightline.tasks.translation import TranslationTask
    from sightline.train.gradient import Gradient
    from sightline.train.memory import keep_freed_memory
    from sightline.train.optimiser import make_optimiser
    from sightline.train.precision import resolve
    from sightline.train.ranks import joined

    keep_freed_memory()
    config = Recipe(1).config()
    model = build(point.config, point.vocabulary, point.vocabulary, SEED)
    optimiser = make_optimiser(model, config.optimiser)
    with joined() as ranks:
        pairs = corpus(point, folder / f"corpus{ranks.rank}")
        order = BatchOrder(pairs.source_lengths, pairs.target_lengths, point.batch, SEED)
        task = TranslationTask(pairs, order, config.train.smoothing)
        gradient = Gradient(model, task, SEED, 1, ranks)
        precision = ranks.from_leader(resolve("auto", torch.device("cpu")))

        def update(number: int) -> int:
            rows = task.rows(0, number % task.batches(0))
            tokens = task.tokens(rows)
            optimiser.zero_grad(set_to_none=True)
            gradient.add(rows, 0, number, tokens, precision)
            torch.nn.utils.clip_grad_norm_(gradient.parameters, 1.0)
            for group in optimiser.param_groups:
                group["lr"] = 1e-4
            optimiser.step()
            return tokens

        rate = timed(update) if ranks.world == 1 else _timed_alike(update)
        (memory,) = ranks.total(float(peak_memory()))
        return {"rate": rate, "memory": memory, "recipe": precision, "leads": ranks.leads}


def _timed_alike(update: Callable[[int], int]) -> float:
    """The same number of updates in every process, whatever their clocks say."""
    update(0)
    rates = []
    for number in range(2 * UPDATES):
        begin = time.perf_counter()
        rates.append(update(number + 1) / (time.perf_counter() - begin))
    return statistics.median(rates)


def decode(point: Point, folder: Path) -> dict[str, Any]:
    """Target tokens a second of greedy search, then of beam 5, with the native engine."""
    import torch

    from sightline.decode.native_engine import NativeEngine
    from sightline.decode.options import SearchOptions
    from sightline.models.build import build
    from sightline.models.seq2seq import Seq2Seq
    from sightline.text.tokenizer import EOS

    model = build(point.config, point.vocabulary, point.vocabulary, SEED)
    assert isinstance(model, Seq2Seq)
    with torch.no_grad():
        model.head.weight[EOS] = 0  # a logit of 0 is far from the best, so no translation ends before its limit
    engine = NativeEngine(model)
    generator = np.random.default_rng(SEED)
    sources = generator.integers(FIRST, point.vocabulary, (point.batch, point.length - 1)).tolist()
    told: dict[str, Any] = {"recipe": engine.recipe}
    for beam in (1, 5):
        options = SearchOptions(beam=beam, max_ratio=0.0, max_extra=point.length - 1)

        def search(_: int) -> int:
            found = engine.search(sources, options, None, point.length)  # noqa: B023
            lengths = {len(hypotheses[0].tokens) for hypotheses in found}
            if lengths != {point.length - 1}:
                raise RuntimeError(f"translations of {lengths} tokens instead of {point.length - 1}")
            return point.batch * point.length

        told[f"beam{beam}"] = {"rate": _searched(search), "memory": float(peak_memory())}
    return told


def _searched(search: Callable[[int], int]) -> float:
    """Tokens a second of the best repetition. There is nothing to warm up where one takes long."""
    rates, spent = list[float](), 0.0
    while spent < SECONDS:
        begin = time.perf_counter()
        done = search(0)
        lap = time.perf_counter() - begin
        rates.append(done / lap)
        spent += lap
    return max(rates)


def put_in_order(point: Point, folder: Path) -> dict[str, Any]:
    """Sentences a second of making an epoch's batches, from lengths like those of real text."""
    generator = np.random.default_rng(SEED)
    lengths = [np.maximum(1, generator.poisson(MEAN_LENGTH, point.pairs)).astype(np.int32) for _ in range(2)]
    order = BatchOrder(lengths[0], lengths[1], point.batch, SEED)
    begin, epochs = time.perf_counter(), 0
    while not epochs or time.perf_counter() - begin < SECONDS / 3:
        order.count(epochs)
        epochs += 1
    return {"rate": epochs * point.pairs / (time.perf_counter() - begin), "memory": float(peak_memory())}


def prepared(point: Point, folder: Path) -> dict[str, Any]:
    """Generated pairs a second, with the memory of all processes together."""
    from bench.prepare import run

    ends, _, memory = run(folder / "prepared", point.pairs)
    return {"rate": point.pairs / ends["done"], "memory": float(memory.pss)}


def main(words: list[str]) -> None:
    point, folder = Point(**json.loads(words[0])), Path(words[1])
    works = {"train": train, "decode": decode, "order": put_in_order, "prepare": prepared}
    found = works[point.kind](point, folder)
    if found.pop("leads", True):
        (folder / "told.json").write_text(json.dumps({"point": asdict(point), **found}), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
