"""Trains attention models for text, runs them fast on ordinary computers, and shows what they look at."""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.api import Model, load
    from sightline.decode.options import Hypothesis, SampleOptions, SearchOptions
    from sightline.decode.score import PairScore
    from sightline.decode.translate import Candidate, Translation
    from sightline.look.record import Explanation
    from sightline.runs.request import Request
    from sightline.runs.train import Outcome, train_model

__all__ = [
    "Candidate",
    "Explanation",
    "Hypothesis",
    "Model",
    "Outcome",
    "PairScore",
    "Request",
    "SampleOptions",
    "SearchOptions",
    "Translation",
    "UserError",
    "load",
    "train_model",
]

__version__ = metadata.version("sightline")

# Where each name lies: torch takes a second to import, so it is asked for only when somebody uses what needs it.
_HOMES = {
    "Candidate": "decode.translate",
    "Explanation": "look.record",
    "Hypothesis": "decode.options",
    "Model": "api",
    "Outcome": "runs.train",
    "PairScore": "decode.score",
    "Request": "runs.request",
    "SampleOptions": "decode.options",
    "SearchOptions": "decode.options",
    "Translation": "decode.translate",
    "load": "api",
    "train_model": "runs.train",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sightline' has no attribute {name!r}")
    return getattr(import_module(f"sightline.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
