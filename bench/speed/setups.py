"""Who trains, and how: one `Setup` is a program with its settings."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from bench.speed.data import ROOT, SEED, SOURCE, TARGET, TOKENS, Shared, data_config
from bench.speed.envs import python_of
from bench.speed.jobs import Failed, Ran, distributed, run, threads
from bench.speed.pegasus import settings as pegasus_settings
from sightline.config import dump_toml
from sightline.models.config import ModelConfig, TransformerConfig
from sightline.train.config import OptimiserConfig, RunConfig, TrainConfig

OURS = "sightline"
PEERS = {"transformers": "hf_train.py", "opennmt": "opennmt_train.py", "eole": "eole_train.py", "joeynmt": "joey_train.py"}
MAX_LENGTH = 256


@dataclass(frozen=True, slots=True)
class Setup:
    """A program and its settings."""

    system: str
    precision: str = "fp32"  # "bf16": products in bf16, all else in fp32
    attention: str = "sdpa"  # of transformers: "sdpa" or "eager"; of eole: "pytorch" or "flash"
    malloc: str = "stock"  # or "tuned"
    processes: int = 1
    wait: str = ""  # OMP_WAIT_POLICY
    workers: int = 0  # processes that load data, of those that have such

    @property
    def key(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @property
    def name(self) -> str:
        """One line that says it all."""
        parts = [self.precision, self.malloc if self.system != OURS else "", self.wait]
        parts += [self.attention] if self.system in ("transformers", "eole") else []
        parts += [f"{self.workers} loading"] if self.workers else []
        parts += [f"{self.processes} processes"] if self.processes > 1 else []
        return ", ".join([self.system, *(part for part in parts if part)])


@dataclass(frozen=True, slots=True)
class Recipe:
    """What all of them train: the same for all."""

    updates: int
    dropout: float = 0.1
    learning_rate: float = 0.001
    warmup: int = 400
    keep_every: int = 0  # updates between weights that are kept; 0: none
    seed: int = SEED
    weights: Path | None = None  # to begin with, for who can
    schedule: Literal["inverse_sqrt", "cosine"] = "inverse_sqrt"
    average: int = 0  # validated weights whose mean is tried at the end; 0: as many as are kept

    def config(self, precision: str = "auto") -> RunConfig:
        """As Sightline says it."""
        stack = TransformerConfig(layers=3, heads=4, hidden=1024, norm="pre")
        often = self.keep_every or 1_000_000
        return RunConfig(
            source=SOURCE,
            target=TARGET,
            seed=self.seed,
            data=data_config(),
            model=ModelConfig(stack, stack, dim=256, dropout=self.dropout, max_length=MAX_LENGTH),
            optimiser=OptimiserConfig(learning_rate=self.learning_rate, warmup=self.warmup, schedule=self.schedule),
            train=TrainConfig(
                tokens=TOKENS,
                max_updates=self.updates,
                precision=precision,  # type: ignore[arg-type]
                validate_every=often,
                validate_sentences=0,
                patience=0,
                average=self.average or (1_000_000 if self.keep_every else 0),
                checkpoint_minutes=1000.0,
                log_every=1,
            ),
        )


@dataclass(frozen=True, slots=True)
class Trained:
    """One run."""

    ticks: list[tuple[float, int]]  # when each update ended, in seconds of training, and its target tokens
    ran: Ran
    folder: Path
    first: float  # seconds from the command to the end of the first update
    parameters: int

    def rate(self, warm: int) -> float:
        """Target tokens per second, the first `warm` updates left out."""
        return sum(tokens for _, tokens in self.ticks[warm:]) / (self.ticks[-1][0] - self.ticks[warm - 1][0])

    def seconds(self, update: int) -> float:
        """Of training until the end of this update, counted from the end of the first: starting up is told on its own."""
        return self.ticks[update - 1][0] - self.ticks[0][0]


def train(setup: Setup, recipe: Recipe, shared: Shared, folder: Path, limit: float) -> Trained:
    """Run it in a fresh folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variables = threads(setup.processes, setup.malloc, setup.wait)
    if setup.system == OURS:
        return _train_ours(setup, recipe, shared, folder, variables, limit)
    job = folder / "job.json"
    if setup.system == "transformers":
        shared.write_batches(recipe.updates + 2, recipe.seed, folder / "batches.npz")  # it looks ahead
    job.write_text(json.dumps(_job(setup, recipe, shared, folder), indent=1), encoding="utf-8")
    script = ROOT / "bench" / "peers" / PEERS[setup.system]
    ran = run(distributed(python_of(setup.system), setup.processes, [str(script), str(job)]), variables, limit)
    told = (folder / "ticks").read_text(encoding="utf-8").splitlines()
    ticks = [(float(seconds), int(tokens)) for seconds, tokens in map(json.loads, told)]
    if len(ticks) < recipe.updates:
        raise Failed(f"made {len(ticks)} of {recipe.updates} updates: {ran.said[-500:]}")
    parameters = int((folder / "ticks.parameters").read_text(encoding="utf-8"))
    return Trained(ticks, ran, folder, ticks[0][0], parameters)


def _job(setup: Setup, recipe: Recipe, shared: Shared, folder: Path) -> dict[str, Any]:
    config = recipe.config()
    return {
        **asdict(setup),
        "batch_file": str(folder / "batches.npz"),
        "tokens": TOKENS,
        "updates": recipe.updates,
        "keep_every": recipe.keep_every,
        "seed": recipe.seed,
        "smoothing": config.train.smoothing,
        "optimiser": asdict(config.optimiser),
        "model": pegasus_settings(config.model, shared.vocabulary),
        "weights": str(recipe.weights) if recipe.weights else None,
        "data": str(shared.folder),
        "folder": str(folder),
        "ticks": str(folder / "ticks"),
    }


def _train_ours(setup: Setup, recipe: Recipe, shared: Shared, folder: Path, variables: dict[str, str], limit: float) -> Trained:
    """`sightline train`, as one types it, on what was prepared."""
    place = folder / "run"
    shutil.copytree(shared.prepared.folder, place / "data", copy_function=os.link)
    (place / ".sightline").touch()
    config = folder / "run.toml"
    config.write_text(dump_toml(recipe.config(setup.precision)), encoding="utf-8")
    words = ["-m", "sightline", "train", str(config), "-o", str(place)]
    metrics = place / "metrics.jsonl"

    def stepped() -> bool:
        return metrics.exists() and '"stepped"' in metrics.read_text(encoding="utf-8")

    ran = run(distributed(python_of(OURS), setup.processes, words), variables, limit, stepped)
    ticks = our_ticks(metrics, shared.batch_tokens(recipe.updates, recipe.seed))
    parameters = next(json.loads(line)["parameters"] for line in metrics.read_text(encoding="utf-8").splitlines())
    return Trained(ticks, ran, folder, ran.signed, parameters)


def our_ticks(metrics: Path, tokens: list[int]) -> list[tuple[float, int]]:
    """Updates as `metrics.jsonl` tells of them: validations and checkpoints between them do not count."""
    told = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    steps = [line for line in told if line["event"] == "stepped"]
    ticks, now = [], 0.0
    for step, count in zip(steps, tokens, strict=True):
        now += count / step["tokens_per_second"]
        ticks.append((now, count))
    return ticks
