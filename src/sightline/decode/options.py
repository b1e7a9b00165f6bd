"""What one may ask of a search, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One finished sentence."""

    tokens: tuple[int, ...]  # without the end mark
    log_probability: float  # summed over tokens, end mark included
    score: float  # what it was ranked by


@dataclass(frozen=True)
class SearchOptions:
    """How to look for the best sentence. `beam=1` is greedy."""

    beam: int = 5
    n_best: int = 1
    length_penalty: float = 1.0  # α: scores are divided by ((5 + tokens) / 6)^α; 0 favours short sentences
    coverage_penalty: float = 0.0  # β: source tokens that nothing looked at cost; 0 asks for no attention weights
    max_ratio: float = 2.0  # at most this many tokens per source token …
    max_extra: int = 20  # … and these

    def __post_init__(self) -> None:
        for name in ("beam", "n_best"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        if self.n_best > self.beam:
            raise ValueError(f"n_best={self.n_best} sentences cannot come out of beam={self.beam}; make the beam as large")
        if self.length_penalty < 0 or self.coverage_penalty < 0:
            raise ValueError("length_penalty and coverage_penalty must not be negative")
        if self.max_ratio < 0 or self.max_extra < 0:
            raise ValueError("max_ratio and max_extra must not be negative")

    def limit(self, source_tokens: int, longest: int | None = None) -> int:
        """The most tokens that a translation of so many may have, end mark not counted; `longest`: that a model can write."""
        wanted = int(self.max_ratio * source_tokens) + self.max_extra
        return wanted if longest is None else min(wanted, longest)


@dataclass(frozen=True)
class SampleOptions:
    """How to draw sentences at random."""

    count: int = 1  # sentences for each source
    temperature: float = 1.0  # below 1: likely tokens more often than the model says
    top_k: int = 0  # only the likeliest so many tokens; 0: all
    top_p: float = 1.0  # only the likeliest tokens that together have this probability
    seed: int = 1
    max_ratio: float = 2.0
    max_extra: int = 20

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"count={self.count} must be at least 1")
        if self.temperature <= 0:
            raise ValueError(f"temperature={self.temperature} must be above 0; for the likeliest sentence use beam=1")
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise ValueError(f"top_k={self.top_k} must not be negative, and top_p={self.top_p} must lie in (0, 1]")
        if self.max_ratio < 0 or self.max_extra < 0:
            raise ValueError("max_ratio and max_extra must not be negative")

    def limit(self, source_tokens: int, longest: int | None = None) -> int:
        """The most tokens that a translation of so many may have, end mark not counted; `longest`: that a model can write."""
        wanted = int(self.max_ratio * source_tokens) + self.max_extra
        return wanted if longest is None else min(wanted, longest)
