"""A whole training run in milliseconds: a tiny corpus on disk, a tiny model with dropout, and the loop around them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from sightline.data.batches import BatchOrder
from sightline.data.encoded import EncodedCorpus, Rows, Side
from sightline.data.encoded_writer import CorpusWriter
from sightline.models.build import build
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.models.store import weights
from sightline.tasks.translation import TranslationTask
from sightline.train.checkpoint import Progress
from sightline.train.config import OptimiserConfig, RunConfig, TrainConfig
from sightline.train.events import Event, JsonLines, Listener, both
from sightline.train.loop import Loop
from sightline.train.ranks import Ranks

VOCABULARY, SAMPLES, TOKENS = 40, 60, 60
STACK = TransformerConfig(layers=1, heads=2, hidden=32, attention_dropout=0.1, hidden_dropout=0.1)
TRANSFORMER = ModelConfig(STACK, STACK, dim=16, dropout=0.2, max_length=32)
RECURRENT = ModelConfig(RecurrentEncoderConfig(layers=1), RecurrentDecoderConfig(layers=1), dim=16, dropout=0.2, max_length=32)
OPTIMISER = OptimiserConfig(learning_rate=0.01, warmup=5)
TRAIN = TrainConfig(tokens=TOKENS, max_updates=24, precision="fp32", validate_every=6, average=0, log_every=4, device="cpu")
CONFIG = RunConfig(model=TRANSFORMER, optimiser=OPTIMISER, train=TRAIN)


def configured(base: RunConfig = CONFIG, **train: object) -> RunConfig:
    """The tiny run with another loop."""
    return replace(base, train=replace(base.train, **train))


def make_corpus(folder: Path, samples: int = SAMPLES) -> EncodedCorpus:
    """Sentences and their mirror images; written once, then opened."""
    if not folder.exists():
        chance = np.random.RandomState(3)
        sources = [chance.randint(4, VOCABULARY, size=chance.randint(1, 9)).tolist() for _ in range(samples)]
        sides = {"source": Side("tiny", VOCABULARY), "target": Side("tiny", VOCABULARY)}
        with CorpusWriter(folder, sides, ["tiny.tsv"]) as writer:
            rows = {
                "source": Rows.of(sources, VOCABULARY),
                "target": Rows.of([row[::-1] for row in sources], VOCABULARY),
            }
            writer.append(rows, np.zeros(samples, np.int64), np.arange(1, samples + 1))
    return EncodedCorpus(folder)


def make_task(corpus: EncodedCorpus, tokens: int = TOKENS, smoothing: float = 0.1, seed: int = 1) -> TranslationTask:
    return TranslationTask(corpus, BatchOrder(corpus.source_lengths, corpus.target_lengths, tokens, seed), smoothing)


def make_model(config: ModelConfig = TRANSFORMER, seed: int = 0) -> Seq2Seq:
    model = build(config, VOCABULARY, VOCABULARY, seed)
    assert isinstance(model, Seq2Seq)
    return model


def fingerprint(model: nn.Module) -> str:
    """A hash of every bit of every weight."""
    digest = hashlib.sha256()
    for name, tensor in weights(model).items():
        digest.update(name.encode() + tensor.detach().numpy().tobytes())
    return digest.hexdigest()


@dataclass
class Run:
    """One start of the command: a loop in a folder, what it told, and what it kept as its best."""

    folder: Path
    config: RunConfig = CONFIG
    ranks: Ranks = field(default_factory=Ranks)
    judge: Callable[[nn.Module], Mapping[str, float]] | None = None
    also_tell: Listener | None = None
    events: list[Event] = field(default_factory=list)
    kept: list[tuple[int, str, dict[str, float]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.task = make_task(make_corpus(self.folder.parent / "corpus"), self.config.train.tokens)
        model = make_model(self.config.model)
        others = [] if self.also_tell is None else [self.also_tell]
        self.folder.mkdir(exist_ok=True)

        def tell(progress: Progress) -> Listener:
            return both(JsonLines(self.folder / "metrics.jsonl", progress), self.events.append, *others)

        judge = self.judge or self.loss_of
        precision = "bf16" if self.config.train.precision == "bf16" else "fp32"
        self.loop = Loop(model, self.task, self.config, precision, self.folder, judge, self.keep, tell, self.ranks)

    def loss_of(self, model: nn.Module) -> dict[str, float]:
        rows = np.arange(0, len(self.task.corpus), 7)
        with torch.no_grad():
            return {"loss": float(self.task.loss(model, rows, 0, None)) / self.task.tokens(rows)}

    def keep(self, model: nn.Module, figures: Mapping[str, float], update: int) -> None:
        self.kept.append((update, fingerprint(model), dict(figures)))
        (self.folder / "best").write_text(fingerprint(model))

    def go(self) -> str:
        return self.loop.run()

    @property
    def result(self) -> dict[str, object]:
        """All that must not depend on how often a run was interrupted."""
        return {
            "weights": fingerprint(self.loop.model),
            "ema": None if self.loop.ema is None else fingerprint(self.loop.ema),
            "best": (self.folder / "best").read_text() if (self.folder / "best").exists() else None,
            "metrics": steady_metrics(self.folder / "metrics.jsonl"),
        }


def steady_metrics(path: Path) -> list[dict[str, object]]:
    """The lines of metrics.jsonl without clocks, and without those that say when the command was started."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    clocks = ("seconds", "tokens_per_second")
    return [{k: v for k, v in line.items() if k not in clocks} for line in lines if line["event"] != "started"]
