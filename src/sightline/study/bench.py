"""How fast is this model on this machine, with every engine there is, and how much of what the machine can do is that?"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from sightline.api import Model, load
from sightline.config import load as load_config
from sightline.data.batches import BatchOrder
from sightline.data.encoded import EncodedCorpus, Rows, Side
from sightline.data.encoded_writer import CorpusWriter
from sightline.decode.engine import ENGINES
from sightline.decode.options import SearchOptions
from sightline.decode.translate import Translation
from sightline.errors import UserError
from sightline.models.build import build
from sightline.models.store import Stored
from sightline.runs.evaluate import machine
from sightline.runs.forecast import rehearse
from sightline.runs.machine import processor
from sightline.study.flops import work_of
from sightline.study.rates import Rates, measure_rates
from sightline.study.start import Start, measure_start
from sightline.study.timing import Spread, interleaved, percentile, ratio, seconds_of
from sightline.tasks.translation import TranslationTask
from sightline.train.config import RunConfig, TrainConfig
from sightline.train.memory import keep_freed_memory
from sightline.train.precision import best_device, resolve
from sightline.train.ranks import Ranks

Tell = Callable[[str], None]
SEARCHES = {"greedy": SearchOptions(beam=1), "beam 5": SearchOptions(beam=5)}
ROUNDS = 3
TASTE = 24  # sentences by which the slowest search is judged
TURN = 3.0  # seconds that it shall take in a round
SHORTEST = 0.5  # what takes less is done several times in each
SINGLE = 1.5  # seconds of sentences one by one, for each engine and search
FEWEST, MOST = 8, 1000  # sentences
TEMPLATE = TrainConfig(max_updates=100_000)  # a run long enough to be rehearsed


@dataclass(frozen=True, slots=True)
class Decoding:
    """One engine at one search."""

    engine: str
    search: str
    recipe: str
    sentences: Spread  # a second
    tokens: Spread  # a second: pieces written, end marks included
    length: float  # pieces of a translation, end mark included
    p50: float  # seconds of a sentence alone
    p95: float
    operations: float  # a second, of matrix products
    share: float  # of the machine's rate in that precision
    weights: float  # the share of its bandwidth that the weights of a sentence alone would need, were they read anew each step


@dataclass(frozen=True, slots=True)
class Training:
    """The same architecture, trained afresh."""

    data: str
    precision: str
    batch: int  # tokens of an update
    tokens: float  # a second, of the target
    operations: float
    share: float


@dataclass(frozen=True, slots=True)
class Bench:
    """All that was measured."""

    model: str
    recipe: tuple[tuple[str, str], ...]
    rates: Rates
    starts: dict[str, Start]  # by engine
    decoding: tuple[Decoding, ...]
    ratios: dict[str, Spread]  # "native : torch, greedy"
    training: Training
    missing: dict[str, str]  # engines that cannot run here, and why


def bench(folder: Path, texts: Sequence[str], source: str, engines: Sequence[str], tell: Tell) -> Bench:
    """Measure for about a minute. `source`: what to call the texts."""
    keep_freed_memory()
    models, missing = _open(folder, engines)
    if not models:
        raise UserError("; ".join(f"{name}: {reason}" for name, reason in missing.items()))
    texts = _enough([text for text in texts if text.strip()], next(iter(models.values())), source)
    tell("measuring what the processor can do")
    rates = measure_rates()
    tell(f"decoding {len(texts):,} sentences of {source} {ROUNDS} times with {', '.join(models)}")
    decoding, ratios = _decoding(models, texts, rates)
    starts = {}
    for name in models:
        tell(f"starting anew with {name}")
        starts[name] = measure_start(folder, name, texts)
    tell("training a fresh model of the same size")
    stored = next(iter(models.values())).parts[0]
    training = _training(stored, next(iter(models.values())), texts, rates)
    recipe = (("processor", processor()), *machine(), ("sentences", f"{len(texts):,} of {source}"))
    return Bench(str(folder), recipe, rates, starts, decoding, ratios, training, missing)


def _open(folder: Path, names: Sequence[str]) -> tuple[dict[str, Model], dict[str, str]]:
    """Every engine that runs this model here; why the others do not."""
    models, missing, threads = dict[str, Model](), dict[str, str](), torch.get_num_threads()
    for name in ENGINES:
        if name == "auto" or (names and name not in names):
            continue
        try:
            model = load(folder, engine=name)
            for options in SEARCHES.values():
                model.engine(options)
        except UserError as error:
            missing[name] = str(error)
        else:
            models[name] = model
        torch.set_num_threads(threads)  # loading CTranslate2's library may leave PyTorch with fewer
    return models, missing


def _enough(texts: Sequence[str], slowest: Model, source: str) -> list[str]:
    """So many that the slowest search takes about TURN seconds, spread evenly over all."""
    if not texts:
        raise UserError(f"{source}: no text to translate; name a file with a sentence in each line")
    some = _spread(texts, TASTE)
    slowest.translate(some[:2])
    each = seconds_of(lambda: slowest.translate(some, SEARCHES["beam 5"])) / len(some)
    return _spread(texts, max(FEWEST, min(MOST, int(TURN / each))))


def _spread(texts: Sequence[str], count: int) -> list[str]:
    """So many at even distances."""
    count = min(count, len(texts))
    return [texts[number * len(texts) // count] for number in range(count)]


def _decoding(models: Mapping[str, Model], texts: Sequence[str], rates: Rates) -> tuple[tuple[Decoding, ...], dict[str, Spread]]:
    found, ratios = list[Decoding](), dict[str, Spread]()
    for search, options in SEARCHES.items():
        last: dict[str, list[Translation]] = {}

        def job(name: str, options: SearchOptions = options, last: dict[str, list[Translation]] = last) -> None:
            last[name] = models[name].translate(texts, options)

        seconds = interleaved({name: partial(job, name) for name in models}, ROUNDS, SHORTEST)
        first = next(iter(models))
        ratios |= {f"{name} : {first}, {search}": ratio(seconds[first], seconds[name]) for name in models if name != first}
        alone = _alone(models, texts, options)
        found += [_one(search, name, models[name], last[name], seconds[name], alone[name], rates) for name in models]
    return tuple(found), ratios


def _alone(models: Mapping[str, Model], texts: Sequence[str], options: SearchOptions) -> dict[str, list[float]]:
    """Seconds of sentences one by one; the engines take turns at every sentence."""
    taken: dict[str, list[float]] = {name: [] for name in models}
    for model in models.values():
        model.translate(texts[:1], options)
    for text in _spread(texts, 100):
        for name, model in models.items():
            if sum(taken[name]) < SINGLE or len(taken[name]) < FEWEST:
                taken[name].append(seconds_of(lambda model=model, text=text: model.translate([text], options)))  # type: ignore[misc]
    return taken


def lengths(translations: Sequence[Translation]) -> list[tuple[int, int]]:
    """Pieces read and written for each stretch of text, end marks included."""
    parts = (part for found in translations for best in found.candidates[:1] for part in best.parts)
    return [(len(read) + 1, len(written) + 1) for read, written in parts]


def _one(
    search: str,
    name: str,
    model: Model,
    found: Sequence[Translation],
    seconds: Sequence[float],
    alone: Sequence[float],
    rates: Rates,
) -> Decoding:
    options, stored, pieces = SEARCHES[search], model.parts[0], lengths(found)
    work, recipe = work_of(stored.config, stored.tokenizers[1].size), model.engine(options)
    written = sum(target for _, target in pieces)
    rate = sum(work.decoding(*pair, options.beam) for pair in pieces) / Spread.of(seconds).median
    p50 = percentile(alone, 0.5)
    weight = 1 if "int8" in recipe else 2 if "bf16" in recipe else 4  # bytes
    read = weight / 2 * (work.begin + work.read + work.write * written / len(pieces))
    return Decoding(
        name,
        search,
        recipe,
        Spread.of([len(found) / each for each in seconds]),
        Spread.of([written / each for each in seconds]),
        written / len(found),
        p50,
        percentile(alone, 0.95),
        rate,
        rate / rates.of(recipe),
        read / p50 / rates.bandwidth,
    )


def _training(stored: Stored, model: Model, texts: Sequence[str], rates: Rates) -> Training:
    """On the run's own data, else on the texts and what the model makes of them."""
    run = stored.folder.parent
    with tempfile.TemporaryDirectory() as folder:
        own = (run / "config.toml").exists() and (run / "data" / "train" / "meta.json").exists()
        config = load_config(RunConfig, run / "config.toml") if own else RunConfig()
        corpus = EncodedCorpus(run / "data" / "train") if own else _corpus(model, texts, Path(folder))
        train = replace(config.train, max_updates=TEMPLATE.max_updates, max_epochs=None, max_minutes=None, bpe_dropout=0.0)
        config = replace(config, model=stored.config, train=train)
        order = BatchOrder(corpus.source_lengths, corpus.target_lengths, train.tokens, 1)
        task = TranslationTask(corpus, order, train.smoothing, train.smoothing_kind)
        precision = resolve(train.precision, best_device("cpu"))
        fresh = build(stored.config, *(tokenizer.size for tokenizer in stored.tokenizers))
        pace = rehearse(fresh, task, config, precision, Ranks())
        assert pace is not None  # only a short run has none
        work = work_of(stored.config, stored.tokenizers[1].size)
        some = np.unique(np.linspace(0, len(corpus) - 1, MOST).astype(np.int64))
        pairs = [(int(corpus.source_lengths[i]) + 1, int(corpus.target_lengths[i]) + 1) for i in some]
        each = sum(work.training(*pair) for pair in pairs) / sum(target for _, target in pairs)
        named = str(corpus.folder) if own else "these sentences and their translations"
    return Training(named, precision, train.tokens, pace.tokens, pace.tokens * each, pace.tokens * each / rates.of(precision))


def _corpus(model: Model, texts: Sequence[str], folder: Path) -> EncodedCorpus:
    """The texts as training pairs."""
    found = model.translate(texts, SEARCHES["greedy"])
    parts = [part for each in found for best in each.candidates[:1] for part in best.parts if part[1]]
    if not parts:
        raise UserError("the model translates nothing of the text, so there is nothing to train on for a measurement")
    sizes = [tokenizer.size for tokenizer in model.parts[0].tokenizers]
    sides = {name: Side("bench", size) for name, size in zip(("source", "target"), sizes, strict=True)}
    with CorpusWriter(folder / "corpus", sides, ["text"]) as writer:
        rows = {name: Rows.of([part[side] for part in parts], sizes[side]) for side, name in enumerate(sides)}
        writer.append(rows, np.zeros(len(parts), np.int64), np.arange(1, len(parts) + 1))
    return EncodedCorpus(folder / "corpus")
