"""Learning the tokenizers from the training text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from sightline.data.config import TokenizerConfig
from sightline.errors import UserError
from sightline.text.learn import learn
from sightline.text.tokenizer import Tokenizer

LARGEST, SMALLEST = 32_000, 2_000
_USUAL_SIZE, _USUAL_PAIRS = 8_000, 30_000


def auto_size(pairs: int, kind: str) -> int:
    """How many pieces suit so many pairs: 8,000 for 30,000, growing with the cube root, at most 32,000.

    A piece must be met often enough to be learnt; whole words are rarer, so there may be more of them.
    """
    if kind == "words":
        return LARGEST
    size = _USUAL_SIZE * math.cbrt(pairs / _USUAL_PAIRS)
    return min(LARGEST, max(SMALLEST, round(size / 500) * 500))


def learn_tokenizers(
    config: TokenizerConfig, sources: Sequence[str], targets: Sequence[str], pairs: int
) -> tuple[Tokenizer, Tokenizer]:
    """One for each side, the same one twice when joint; learnt from a sample of `pairs` pairs."""
    size = config.size or auto_size(pairs, config.kind)
    if config.joint:
        both = learn([*sources, *targets], config.kind, size, config.min_frequency)
        return both, both
    source, target = (learn(texts, config.kind, size, config.min_frequency) for texts in (sources, targets))
    return source, target


def given_tokenizers(config: TokenizerConfig) -> tuple[Tokenizer, Tokenizer] | None:
    """Those of the model folder that the configuration names, if it names one; they must be what it says besides."""
    if config.folder is None:
        return None
    folder = Path(config.folder)
    joint = next((joint for joint in (True, False) if all(path.is_file() for path in _paths(folder, joint))), None)
    if joint is None:
        raise UserError(f"{folder}: no tokenizer here (data.tokenizer.folder); name a model folder, or the run's model/ in it")
    found = load_tokenizers(folder, joint)
    for name, is_so in (("joint", joint), ("kind", found[0].kind)):
        if getattr(config, name) != is_so:
            raise UserError(f"{folder}: its tokenizers are of another sort; set data.tokenizer.{name}={str(is_so).lower()}")
    return found


def save_tokenizers(folder: Path, tokenizers: tuple[Tokenizer, Tokenizer]) -> tuple[Path, Path]:
    """Write them under their names; where each lies."""
    source, target = tokenizers
    paths = _paths(folder, source is target)
    for path, tokenizer in dict(zip(paths, tokenizers, strict=True)).items():
        tokenizer.save(path)
    return paths


def load_tokenizers(folder: Path, joint: bool) -> tuple[Tokenizer, Tokenizer]:
    """What `save_tokenizers` wrote."""
    paths = _paths(folder, joint)
    source = Tokenizer.load(paths[0])
    return source, source if joint else Tokenizer.load(paths[1])


def _paths(folder: Path, joint: bool) -> tuple[Path, Path]:
    if joint:
        return folder / "tokenizer.json", folder / "tokenizer.json"
    return folder / "tokenizer.source.json", folder / "tokenizer.target.json"
