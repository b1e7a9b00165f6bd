"""Laws of keeping: on disk, through an interruption, and from one another when several use a model at once."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier

import numpy as np
import torch
from laws.cases import VOCABULARY, Case, Model, begin, make, sources, targets
from laws.reading import gap
from numpy.typing import NDArray
from torch import Tensor, nn

from sightline.models.seq2seq import LanguageModel, Seq2Seq
from sightline.models.store import load, save
from sightline.nn.attention import watch
from sightline.nn.noise import Noise
from sightline.tasks.translation import make_batch
from sightline.text.learn import learn
from sightline.train.config import OptimiserConfig, RunConfig, TrainConfig
from sightline.train.loop import Loop
from sightline.train.ranks import Ranks

PATIENCE = 30.0  # seconds that a thread waits for the others before it gives up


@torch.no_grad()
def stored(case: Case) -> float:
    """Saved and loaded: the same outputs, the same parameters shared."""
    model = make(case)
    assert isinstance(model, nn.Module)
    tokenizer = learn(["one two"], "words", VOCABULARY, min_frequency=1)
    assert tokenizer.size == VOCABULARY
    with TemporaryDirectory() as folder:
        save(Path(folder) / "model", model, case.config, (tokenizer, tokenizer), ("a", "b"), card="")
        found = load(folder)
    if found.config != case.config or _sharing(found.model) != _sharing(model):
        return math.inf
    return gap(_read(found.model), _read(model))


def _sharing(model: nn.Module) -> list[int]:
    """For each name of a parameter the first place where that parameter stands."""
    places: dict[int, int] = {}
    return [places.setdefault(id(p), place) for place, (_, p) in enumerate(model.named_parameters(remove_duplicate=False))]


def _read(model: Model) -> Tensor:
    out: Tensor = model(targets(), begin(model, sources()))[0]
    return out


@torch.no_grad()
def threads(case: Case) -> float:
    """Three step through one model in lockstep, one of them through a watching twin, each with its own sentences."""
    model = make(case)
    readers = (model, model, watch(model)[0])
    material = [(sources().roll(turn, 0), targets().roll(turn, 0)) for turn in range(len(readers))]

    def step(reader: Model, source: Tensor, tokens: Tensor, barrier: Barrier) -> Tensor:
        with torch.no_grad():
            state, outputs = begin(reader, source), []
            for token in tokens.split(1, 1):
                barrier.wait(PATIENCE)
                out, state = reader(token, state)
                outputs.append(out)
        return torch.cat(outputs, 1)

    alone = [step(reader, *own, Barrier(1)) for reader, own in zip(readers, material, strict=True)]
    together = Barrier(len(readers))
    with ThreadPoolExecutor(len(readers)) as pool:
        waiting = [pool.submit(step, reader, *own, together) for reader, own in zip(readers, material, strict=True)]
        found = [each.result() for each in waiting]
    return max(map(gap, found, alone))


class PlugPulledError(Exception):
    """The run was cut off."""


class TinyTask:
    """Eight short pairs in an order of each epoch's own; the plug may be pulled in the middle of an update."""

    def __init__(self, pulled_at: int | None = None) -> None:
        self.left = math.inf if pulled_at is None else pulled_at

    @property
    def fingerprint(self) -> str:
        return "eight short pairs"

    def batches(self, epoch: int) -> int:
        return 4

    def rows(self, epoch: int, index: int) -> NDArray[np.int64]:
        order = np.random.default_rng(epoch).permutation(8)
        return order[2 * index : 2 * index + 2].astype(np.int64)

    def shares(self, rows: NDArray[np.int64], count: int) -> list[NDArray[np.int64]]:
        return [part for part in np.array_split(rows, count) if len(part)]

    def tokens(self, rows: NDArray[np.int64]) -> int:
        return sum(len(self._words(int(row))) + 1 for row in rows)

    def loss(self, model: nn.Module, rows: NDArray[np.int64], epoch: int, noise: Noise | None) -> Tensor:
        if self.left <= 0:
            raise PlugPulledError
        self.left -= 1
        words = [self._words(int(row)) for row in rows]
        batch = make_batch(words, words)
        assert isinstance(model, Seq2Seq | LanguageModel)
        state = model.begin(noise) if isinstance(model, LanguageModel) else model.begin(batch.source, noise)
        log_probs = model(batch.inputs, state)[0].flatten(0, 1)[batch.real]
        return -log_probs.gather(1, batch.targets[:, None]).sum()

    def origins(self, rows: NDArray[np.int64]) -> list[str]:
        return [f"tiny:{row}" for row in rows]

    def _words(self, row: int) -> list[int]:
        return [3 + (row * step) % 3 for step in range(1, 3 + row % 3)]


def resume(case: Case) -> float:
    """Cut off in its fourth update, gone on with from the checkpoint before it: the weights of an uninterrupted run."""
    whole, cut = make(case), make(case)
    with TemporaryDirectory() as folder:
        _loop(whole, case, TinyTask(), Path(folder) / "whole").run()
        with suppress(PlugPulledError):
            _loop(cut, case, TinyTask(pulled_at=3), Path(folder) / "cut").run()
        fresh = make(case, seed=1)
        _loop(fresh, case, TinyTask(), Path(folder) / "cut").run()
    return max(gap(a.detach(), b.detach()) for a, b in zip(fresh.parameters(), whole.parameters(), strict=True))


def _loop(model: Model, case: Case, task: TinyTask, folder: Path) -> Loop:
    train = TrainConfig(max_updates=4, validate_every=2, average=0, log_every=100)
    config = RunConfig(model=case.config, optimiser=OptimiserConfig(learning_rate=0.01, warmup=0), train=train)
    return Loop(
        model,
        task,
        config,
        "fp32",
        folder,
        judge=lambda _: {"loss": 1.0},
        keep=lambda *_: None,
        tell=lambda _: lambda _: None,
        ranks=Ranks(),
    )
