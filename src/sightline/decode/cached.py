"""Where engines keep what takes time to make again, beside no model: the user's cache."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from sightline.models.store import Stored, weights


def cache_folder(what: str) -> Path:
    """The folder for this kind of thing; it may not exist yet."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sightline" / what


def fingerprint(stored: Stored, *more: str) -> str:
    """Of a model's weights, its sizes and its tokenizers, and of whatever else the thing depends on."""
    digest = hashlib.sha256(repr((stored.config, [each.fingerprint for each in stored.tokenizers], more)).encode())
    for name, tensor in sorted(weights(stored.model).items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().numpy().tobytes())
    return digest.hexdigest()[:32]
