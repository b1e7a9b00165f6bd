"""What a kept thing belongs to: the fingerprint of a model, by which engines find what took time to make."""

from __future__ import annotations

import hashlib

from sightline.models.store import Stored, weights


def fingerprint(stored: Stored, *more: str) -> str:
    """Of a model's weights, its sizes and its tokenizers, and of whatever else the thing depends on."""
    digest = hashlib.sha256(repr((stored.config, [each.fingerprint for each in stored.tokenizers], more)).encode())
    for name, tensor in sorted(weights(stored.model).items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().numpy().tobytes())
    return digest.hexdigest()[:32]
