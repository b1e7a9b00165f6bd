"""Kill a training run with SIGKILL again and again, start the same command each time, compare with a run left alone.

    python bench/kill_resume.py                      # 20 kills, at least 5 of them while a checkpoint is being written
    python bench/kill_resume.py --kills 3 --writes 1 --updates 60

The run is small but whole: a Transformer with dropout, accumulation, a moving average of the weights, snapshots for
averaging, validations, checkpoints at each of them and between. Exit code 1 if a single bit of the final weights, of their
moving average, of the best model or of the metrics differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

VOCABULARY, SAMPLES, TOKENS = 200, 400, 300
PATIENCE = 60.0  # seconds until a worker that does nothing counts as hung
WRITE = 0.03  # seconds that writing a checkpoint takes, about: a kill comes at a random instant of them


def work(folder: Path, updates: int) -> None:
    """The training command: makes the run's folder, or goes on with it."""
    import numpy as np
    import torch
    from torch import nn

    from sightline.data.batches import BatchOrder
    from sightline.data.encoded import EncodedCorpus
    from sightline.models.build import build
    from sightline.models.config import ModelConfig, TransformerConfig
    from sightline.models.store import weights
    from sightline.tasks.translation import TranslationTask
    from sightline.train.checkpoint import write_tensors
    from sightline.train.config import OptimiserConfig, RunConfig, TrainConfig
    from sightline.train.events import JsonLines
    from sightline.train.loop import Loop
    from sightline.train.ranks import Ranks

    stack = TransformerConfig(layers=1, heads=4, hidden=128, attention_dropout=0.1, hidden_dropout=0.1)
    train = TrainConfig(
        tokens=TOKENS, max_updates=updates, accumulate=2, precision="fp32", validate_every=20, ema=0.9, average=3,
        checkpoint_minutes=0.2 / 60, log_every=1, patience=0,
    )  # fmt: skip
    config = RunConfig(
        model=ModelConfig(stack, stack, dim=64, dropout=0.2, max_length=32),
        optimiser=OptimiserConfig(learning_rate=0.003, warmup=20),
        train=train,
    )
    corpus = EncodedCorpus(folder.parent / "corpus")
    task = TranslationTask(corpus, BatchOrder(corpus.source_lengths, corpus.target_lengths, TOKENS, config.seed), 0.1)
    rows = np.arange(0, SAMPLES, 8)

    def judge(model: nn.Module) -> Mapping[str, float]:
        with torch.no_grad():
            return {"loss": float(task.loss(model, rows, 0, None)) / task.tokens(rows)}

    def keep(model: nn.Module, figures: Mapping[str, float], update: int) -> None:
        making = folder / ".best"
        write_tensors(making, weights(model))
        os.replace(making, folder / "best.safetensors")

    folder.mkdir(exist_ok=True)
    model = build(config.model, VOCABULARY, VOCABULARY)
    Loop(
        model, task, config, "fp32", folder, judge, keep, lambda progress: JsonLines(folder / "metrics.jsonl", progress), Ranks()
    ).run()


def make_corpus(folder: Path) -> None:
    """Random sentences to be written backwards."""
    import numpy as np

    from sightline.data.encoded import Rows, Side
    from sightline.data.encoded_writer import CorpusWriter

    chance = np.random.RandomState(1)
    rows = [chance.randint(4, VOCABULARY, size=chance.randint(2, 12)).tolist() for _ in range(SAMPLES)]
    sides = {name: Side("bench", VOCABULARY) for name in ("source", "target")}
    with CorpusWriter(folder, sides, ["bench"]) as writer:
        both = {"source": Rows.of(rows, VOCABULARY), "target": Rows.of([row[::-1] for row in rows], VOCABULARY)}
        writer.append(both, np.zeros(SAMPLES, np.int64), np.arange(SAMPLES))


@dataclass(frozen=True)
class Kill:
    """When one process dies."""

    update: int  # not before it has told this one; below 0: while it starts
    delay: float  # seconds after that
    writing: bool  # wait until it writes a checkpoint, then so many seconds


def plan(kills: int, writes: int, updates: int, chance: random.Random) -> list[Kill]:
    """Kills in the order in which they happen, spread over the whole run, a tenth of them while the process starts."""
    at = sorted(chance.sample(range(1, updates - 1), kills))
    kinds = ["write"] * (writes + writes // 3) + ["start"] * (kills // 10)
    kinds += ["anywhere"] * (kills - len(kinds))
    chance.shuffle(kinds)
    delays = {"write": WRITE, "start": 3.0, "anywhere": 0.1}
    return [
        Kill(-1 if kind == "start" else update, chance.uniform(0, delays[kind]), kind == "write")
        for update, kind in zip(at, kinds, strict=False)
    ]


def start(folder: Path, updates: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--worker", str(folder), "--updates", str(updates)]
    return subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, start_new_session=True)


def wait_until(process: subprocess.Popen[bytes], holds: Iterator[bool]) -> bool:
    """Look again and again, quickly. False if the process has ended by itself."""
    deadline = time.monotonic() + PATIENCE
    while not next(holds):
        if process.poll() is not None:
            return False
        if time.monotonic() > deadline:
            raise TimeoutError(f"the worker has done nothing for {PATIENCE:.0f} seconds")
        time.sleep(0.0002)
    return True


def told(folder: Path) -> int:
    """The last update that the run speaks of."""
    path = folder / "metrics.jsonl"
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    return int(json.loads(lines[-2])["update"]) if len(lines) > 1 else 0


def writing(folder: Path) -> bool:
    return any(name.startswith(".making-") for name in os.listdir(folder / "checkpoints")) if (folder / "checkpoints").exists() else False


def die(kill: Kill, folder: Path, updates: int) -> tuple[int, bool]:
    """Start the command and kill it. The update it had come to, and whether it was writing a checkpoint."""
    before, process = told(folder), start(folder, updates)
    try:
        if kill.update >= 0:
            # Until the process has taken back what it will do again, the file speaks of its predecessor.
            started = (told(folder) >= kill.update and _has_started(folder, before) for _ in iter(int, 1))
            wait_until(process, started)
        if kill.writing:
            left = writing(folder)
            wait_until(process, (writing(folder) != left or writing(folder) for _ in iter(int, 1)))
        time.sleep(kill.delay)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    return told(folder), writing(folder)


def _has_started(folder: Path, before: int) -> bool:
    return True


def main() -> None:
    pass
