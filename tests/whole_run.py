"""The smallest whole run: a few hundred generated pairs, a model of a few thousand numbers, some updates."""

from __future__ import annotations

from sightline.runs.request import Request

CHANGES = (
    "source=fr",
    "target=en",
    'data.train=["builtin:300"]',
    'data.dev=["builtin:dev:20"]',
    'data.test=["builtin:test:20"]',
    "data.workers=1",
    "data.tokenizer.size=400",
    "model.dim=16",
    "model.encoder.layers=1",
    "model.decoder.layers=1",
    "model.encoder.heads=2",
    "model.decoder.heads=2",
    "model.encoder.hidden=32",
    "model.decoder.hidden=32",
    "train.max_updates=12",
    "train.tokens=600",
    "train.validate_every=4",
    "train.validate_sentences=4",
    "train.log_every=2",
    "train.average=2",
    "train.precision=fp32",
    "train.device=cpu",
)


def request(*more: str, preset: str = "auto") -> Request:
    """That run, with changes."""
    return Request(preset, None, (*CHANGES, *more))
