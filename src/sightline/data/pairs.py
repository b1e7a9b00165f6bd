"""A sentence pair and where it came from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """A source text and its translation, exactly as read."""

    source: str
    target: str
    file: str  # of two line-aligned files, the source's
    line: int  # the first is 1

    @property
    def origin(self) -> str:
        """Where it was read: file:line."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that gives no pair."""

    file: str
    line: int
    reason: str
    text: str = ""  # as far as it can be read

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"
