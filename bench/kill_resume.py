"""Kill a training run with SIGKILL again and again, start the same command each time, compare with a run left alone.

    python -m bench.kill_resume                      # 20 kills, at least 5 of them while a checkpoint is being written
    python -m bench.kill_resume --kills 3 --writes 1 --updates 60

The run is small but whole: a Transformer with dropout, accumulation, a moving average of the weights, snapshots for
averaging, validations, checkpoints at each of them and between. Exit code 1 if one bit of the final weights, of their moving
average, of the best model or of the metrics differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VOCABULARY, SAMPLES, TOKENS = 200, 400, 300
STARTING, WRITING, BETWEEN = 3.0, 0.03, 0.1  # seconds within which a kill comes: about as long as what it interrupts takes
PATIENCE = 60.0  # seconds without a checkpoint being written


def work(folder: Path, updates: int) -> None:
    """The training command: begins the run in this folder, or goes on with it."""
    import numpy as np
    import torch
    from torch import nn

    from sightline.data.batches import BatchOrder
    from sightline.data.encoded import EncodedCorpus
    from sightline.models.build import build
    from sightline.models.config import ModelConfig, TransformerConfig
    from sightline.models.store import weights, write_tensors
    from sightline.tasks.translation import TranslationTask
    from sightline.train.checkpoint import Progress
    from sightline.train.config import OptimiserConfig, RunConfig, TrainConfig
    from sightline.train.events import Event, JsonLines, Listener, Stepped, both
    from sightline.train.loop import Loop
    from sightline.train.ranks import Ranks

    stack = TransformerConfig(layers=1, heads=4, hidden=128, attention_dropout=0.1, hidden_dropout=0.1)
    often = {"validate_every": 20, "log_every": 1, "checkpoint_minutes": 0.2 / 60}
    config = RunConfig(
        model=ModelConfig(stack, stack, dim=64, dropout=0.2, max_length=32),
        optimiser=OptimiserConfig(learning_rate=0.003, warmup=20),
        train=TrainConfig(max_updates=updates, accumulate=2, precision="fp32", ema=0.9, average=3, patience=0, **often),  # type: ignore[arg-type]
    )
    corpus = EncodedCorpus(folder.parent / "corpus")
    task = TranslationTask(corpus, BatchOrder(corpus.source_lengths, corpus.target_lengths, TOKENS, config.seed), 0.1)

    def judge(model: nn.Module) -> Mapping[str, float]:
        rows = np.arange(0, SAMPLES, 8)
        with torch.no_grad():
            return {"loss": float(task.loss(model, rows, 0, None)) / task.tokens(rows)}

    def keep(model: nn.Module, figures: Mapping[str, float], update: int) -> None:
        write_tensors(folder / ".best", weights(model))
        os.replace(folder / ".best", folder / "best.safetensors")

    def say(event: Event) -> None:
        if isinstance(event, Stepped):
            print(event.update, flush=True)

    def tell(progress: Progress) -> Listener:
        return both(JsonLines(folder / "metrics.jsonl", progress), say)

    folder.mkdir(exist_ok=True)
    model = build(config.model, VOCABULARY, VOCABULARY)
    Loop(model, task, config, "fp32", folder, judge, keep, tell, Ranks()).run()


def make_corpus(folder: Path) -> None:
    """Random sentences, to be written backwards."""
    import numpy as np

    from sightline.data.encoded import Rows, Side
    from sightline.data.encoded_writer import CorpusWriter

    chance = np.random.RandomState(1)
    rows = [chance.randint(4, VOCABULARY, size=chance.randint(2, 12)).tolist() for _ in range(SAMPLES)]
    sides = {name: Side("bench", VOCABULARY) for name in ("source", "target")}
    with CorpusWriter(folder, sides, ["bench"]) as writer:
        pairs = {"source": Rows.of(rows, VOCABULARY), "target": Rows.of([row[::-1] for row in rows], VOCABULARY)}
        writer.append(pairs, np.zeros(SAMPLES, np.int64), np.arange(SAMPLES))


@dataclass(frozen=True)
class Kill:
    """When a process dies: so many seconds after it was started, has told an update, or then began to write a checkpoint."""

    kind: str  # "start", "update" or "write"
    update: int
    delay: float


def plan(kills: int, writes: int, updates: int, chance: random.Random) -> list[Kill]:
    """Spread over the whole run; a tenth while a process starts."""
    kinds = ["write"] * writes + ["start"] * (kills // 10)
    kinds += ["update"] * (kills - len(kinds))
    chance.shuffle(kinds)
    delays = {"start": STARTING, "write": WRITING, "update": BETWEEN}
    at = sorted(chance.sample(range(1, updates - 10), kills))
    return [Kill(kind, update, chance.uniform(0, delays[kind])) for kind, update in zip(kinds, at, strict=False)]


def started(folder: Path, updates: int) -> subprocess.Popen[bytes]:
    """The same command, every time."""
    command = [sys.executable, __file__, "--worker", str(folder), "--updates", str(updates)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"})


def half_written(checkpoints: Path, since: float) -> bool:
    """Is there a checkpoint without its name, begun after this time?"""
    try:
        return any(path.stat().st_ctime > since for path in checkpoints.glob(".making-*"))
    except FileNotFoundError:  # it got its name just now
        return False


def die(kill: Kill, folder: Path, updates: int) -> tuple[int, bool]:
    """Start the command and kill it. The last update that it told, and whether it died writing a checkpoint."""
    since, update = time.time(), 0
    with started(folder, updates) as process:
        assert process.stdout is not None
        while kill.kind != "start" and update < kill.update:
            line = process.stdout.readline()
            if not line:
                raise SystemExit(f"the run ended by itself with exit code {process.wait()} before update {kill.update}")
            update = int(line)
        if kill.kind == "write":
            stop_writing(process, folder / "checkpoints", since, kill.delay)
        else:
            time.sleep(kill.delay)
        process.kill()
    return update, half_written(folder / "checkpoints", since)


def stop_writing(process: subprocess.Popen[bytes], checkpoints: Path, since: float, delay: float) -> None:
    """Hold the process while it writes a checkpoint, so many seconds after it began to, or sooner if it is faster than that."""
    while True:
        deadline = time.monotonic() + PATIENCE
        while not half_written(checkpoints, since):
            if time.monotonic() > deadline:
                raise SystemExit(f"no checkpoint was written in {PATIENCE:.0f} seconds")
            time.sleep(0.0002)
        time.sleep(delay)
        process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            raise SystemExit("the run ended by itself while a checkpoint was waited for")
        if half_written(checkpoints, since):
            return
        process.send_signal(signal.SIGCONT)
        delay /= 2


def outcome(folder: Path) -> dict[str, str]:
    """What must not depend on interruptions, as hashes."""
    latest = folder / "checkpoints" / (folder / "checkpoints" / "latest").read_text()
    files = {"weights": latest / "model.safetensors", "average": latest / "ema.safetensors", "best": folder / "best.safetensors"}
    hashes = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    clocks = {"seconds", "tokens_per_second"}
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    told = [{name: line[name] for name in line.keys() - clocks} for line in lines if line["event"] != "started"]
    return {**hashes, "metrics": hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()}


def measure(folder: Path, kills: int, writes: int, updates: int, seed: int) -> bool:
    """The table on standard output. True if nothing differs and enough kills hit a checkpoint."""
    shutil.rmtree(folder, ignore_errors=True)
    make_corpus(folder / "corpus")
    print(f"{updates} updates, {kills} kills, seed {seed}\n\nkill  when    after update  while writing a checkpoint", flush=True)
    hits = 0
    for number, kill in enumerate(plan(kills, writes, updates, random.Random(seed)), 1):
        update, hit = die(kill, folder / "killed", updates)
        hits += hit
        print(f"{number:4}  {kill.kind:6}  {update or '-':>12}  {'yes' if hit else 'no'}", flush=True)
    for name in ("killed", "alone"):
        with started(folder / name, updates) as process:
            process.communicate()
        if process.returncode:
            raise SystemExit(f"the run in {folder / name} failed with exit code {process.returncode}")
    killed, alone = outcome(folder / "killed"), outcome(folder / "alone")
    print()
    for name in alone:
        print(f"{name:8} {alone[name][:16]}  {killed[name][:16]}  {'same' if alone[name] == killed[name] else 'DIFFERENT'}")
    good = killed == alone and hits >= writes
    print(f"\n{hits} of {kills} kills hit a checkpoint being written (at least {writes} wanted): {'good' if good else 'FAILED'}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--writes", type=int, default=5, help="how many at least must hit a checkpoint being written")
    parser.add_argument("--updates", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "scratch" / "kill_resume")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.updates)
        return 0
    return 0 if measure(options.folder, options.kills, options.writes, options.updates, options.seed) else 1


if __name__ == "__main__":
    sys.exit(main())
