"""How a model is trained, in numbers and names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sightline.data.config import DataConfig
from sightline.models.config import ModelConfig
from sightline.nn.losses import SmoothingKind

Precision: TypeAlias = Literal["auto", "fp32", "bf16"]
Device: TypeAlias = Literal["auto", "cpu", "cuda"]
Judge: TypeAlias = Literal["loss", "bleu", "chrf"]


@dataclass(frozen=True)
class OptimiserConfig:
    """How a gradient becomes a step."""

    kind: Literal["adam", "adamw", "sgd"] = "adam"
    learning_rate: float | None = None  # at its peak; unset: 1/√(dim · warmup), as published for the Transformer
    schedule: Literal["inverse_sqrt", "cosine", "constant"] = "inverse_sqrt"
    warmup: int = 4000  # updates until the peak
    beta1: float = 0.9  # for sgd: the momentum
    beta2: float = 0.98
    epsilon: float = 1e-9
    weight_decay: float = 0.0  # on matrices only
    clip: float = 1.0  # the largest gradient norm; 0: none

    def __post_init__(self) -> None:
        if self.learning_rate is not None and self.learning_rate <= 0:
            raise ValueError(f"learning_rate={self.learning_rate} must be above 0")
        if self.warmup < 0 or self.clip < 0 or self.weight_decay < 0:
            raise ValueError("warmup, clip and weight_decay must not be negative")
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must lie in [0, 1)")
        if self.epsilon <= 0:
            raise ValueError(f"epsilon={self.epsilon} must be above 0")


@dataclass(frozen=True)
class TrainConfig:
    """The loop. Whichever limit comes first ends it."""

    tokens: int = 4096  # an update's batch: about as many source tokens, and target tokens, padding included
    accumulate: int = 1  # parts that a batch is computed in, one after the other; changes memory, not the result
    max_updates: int = 100_000
    max_epochs: int | None = None
    max_minutes: float | None = None  # of training on this machine, interruptions not counted
    smoothing: float = 0.1  # label smoothing
    smoothing_kind: SmoothingKind = "uniform"  # over the whole vocabulary, or over the "others" only
    bpe_dropout: float = 0.0  # share of merges left out at random when a sentence is cut into pieces
    precision: Precision = "auto"  # of matrix products; "auto" probes the machine
    device: Device = "auto"  # "auto" takes a CUDA card where there is one
    validate_every: int = 1000  # updates
    validate_sentences: int = 500  # how many development sentences are translated at each validation; 0: loss only
    judge: Judge = "loss"  # what the best model is chosen by
    patience: int = 10  # validations without a better one; 0: never stop early
    ema: float = 0.0  # decay of a moving average of the weights, judged in their place; 0: none
    average: int = 5  # at the end, the mean of this many last validated weights is tried; 0 or 1: none
    checkpoint_minutes: float = 5.0  # besides one at every validation
    log_every: int = 50  # updates
    tensorboard: bool = False

    def __post_init__(self) -> None:
        for name in ("tokens", "accumulate", "max_updates", "validate_every", "log_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        for name in ("validate_sentences", "patience", "average", "checkpoint_minutes"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)} must not be negative")
        for name in ("max_epochs", "max_minutes"):
            limit = getattr(self, name)
            if limit is not None and limit <= 0:
                raise ValueError(f"{name}={limit} must be above 0; leave it out for no such limit")
        for name in ("smoothing", "bpe_dropout", "ema"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must lie in [0, 1)")
        if self.judge != "loss" and self.validate_sentences == 0:
            raise ValueError(f"judge={self.judge!r} needs validate_sentences above 0")


@dataclass(frozen=True)
class RunConfig:
    """Everything that a run is made of."""

    source: str = ""  # language code of the source
    target: str = ""
    seed: int = 1
    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    train: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 1 << 63:
            raise ValueError(f"seed={self.seed} must lie in [0, 2^63)")
