"""What is read, what is thrown away, how words become pieces: the `data` table of a configuration."""

from __future__ import annotations

from dataclasses import dataclass, field

from sightline.text.pipeline import Kind


@dataclass(frozen=True)
class CleanConfig:
    """Which pairs are left out of the training data. A rule that is `true` drops; each drop is written down."""

    max_length: int = 200  # words of either side
    max_ratio: float = 4.0  # of the longer side to the shorter, in characters, ten added to both: short ones may differ
    max_pieces: int = 250  # of either side once it is encoded, so that the model and a batch can hold it
    duplicates: bool = True  # a pair that came before
    copies: bool = True  # source and target are the same
    control: bool = True  # control characters, or the mark that stands for a lost character
    max_bad_share: float = 0.05  # of a file's lines that cannot be read at all; above it preparing stops

    def __post_init__(self) -> None:
        for name in ("max_length", "max_pieces"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        if self.max_ratio <= 1:
            raise ValueError(f"max_ratio={self.max_ratio} must be above 1")
        if not 0 <= self.max_bad_share <= 1:
            raise ValueError(f"max_bad_share={self.max_bad_share} must lie in [0, 1]")


@dataclass(frozen=True)
class TokenizerConfig:
    """How the tokenizer is learnt, on the training text itself; or whose is taken."""

    kind: Kind = "bpe"
    size: int | None = None  # pieces; unset: chosen from the number of pairs
    joint: bool = True  # one vocabulary for both languages
    min_frequency: int = 2
    sample: int = 1_000_000  # sentences, of both sides together, that it is learnt from
    folder: str | None = None  # the model folder whose tokenizers are taken; then none are learnt

    def __post_init__(self) -> None:
        for name in ("min_frequency", "sample"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        if self.size is not None and self.size < 1:
            raise ValueError(f"size={self.size} must be at least 1")


@dataclass(frozen=True)
class DataConfig:
    """Where the pairs come from. A file is named as in a shell; what it holds is told by its name (see `inputs`)."""

    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()  # unset: cut from the training pairs
    test: tuple[str, ...] = ()  # unset: cut from the training pairs
    dev_pairs: int | None = None  # how many to cut; unset: one in twenty, at most 2000
    test_pairs: int | None = None  # the same; 0: no test set
    seed: int = 1  # which pairs are cut, and what the built-in corpus says; runs of unlike `seed` share their data
    clean: CleanConfig = field(default_factory=CleanConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    workers: int = 0  # processes; 0: one for each core; changes the speed, never the result

    def __post_init__(self) -> None:
        if self.workers < 0:
            raise ValueError(f"workers={self.workers} must not be negative")
        if self.dev_pairs is not None and self.dev_pairs < 1:
            raise ValueError(f"dev_pairs={self.dev_pairs} must be at least 1: training is judged by them")
        if self.test_pairs is not None and self.test_pairs < 0:
            raise ValueError(f"test_pairs={self.test_pairs} must not be negative")
        for name in ("dev", "test"):
            if getattr(self, name) and getattr(self, f"{name}_pairs") is not None:
                raise ValueError(f"{name}_pairs says how many pairs to cut, but {name} names files; give one of the two")
