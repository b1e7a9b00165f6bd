"""The passes over a corpus, as seen from one block: each a function of its job alone, in whatever process it runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.data.blocks import Block
from sightline.data.clean import Audit, broken_rule
from sightline.data.config import CleanConfig
from sightline.data.encode import Encoder, select
from sightline.data.encoded import Rows
from sightline.data.near import Keys, hashes, near_key
from sightline.data.pairs import BadLine
from sightline.data.parse import parse
from sightline.data.split import DEV, DUPLICATE, TEST, TRAIN, Fates, Flags
from sightline.data.spool import Resting, Texts
from sightline.text.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A block after the first pass."""

    name: str
    number: int
    read: int
    bad: list[BadLine]
    audit: Audit
    text: bytes  # what stays, packed
    keys: tuple[Keys, Keys, Keys]  # of each pair that stays: pair, source, target


@dataclass(frozen=True, slots=True)
class Cleaning:
    """The first pass: read a block, leave out what is unfit, work out the keys of the rest."""

    config: CleanConfig
    seed: int
    held_out: Keys  # of the sources of given development and test sets

    def __call__(self, block: Block) -> Cleaned:
        parsed, audit, name = parse(block, self.seed), Audit(), block.input.name
        for bad in parsed.bad:
            audit.bad(bad)
        texts = Texts([], [], [])
        for line, left, right in zip(parsed.lines, parsed.sources, parsed.targets, strict=True):
            source, target = left.strip(), right.strip()
            broken = broken_rule(source, target, self.config)
            if broken is None:
                texts.add(line, source, target)
            else:
                audit.drop(*broken, name, line, source, target)
        keys = hashes(map(near_key, texts.sources))
        if len(self.held_out) and (held := np.isin(keys, self.held_out)).any():
            for line, source, target in texts.where(held).rows():
                audit.drop("held_out", "its source is that of a held-out pair, or nearly so", name, line, source, target)
            texts, keys = texts.where(~held), keys[~held]
        pairs = hashes(f"{len(source)} {source}{target}" for _, source, target in texts.rows())
        columns = pairs, keys, hashes(map(near_key, texts.targets))
        return Cleaned(name, block.number, parsed.read, parsed.bad, audit, texts.pack(), columns)


def sample(job: tuple[Resting, Flags]) -> tuple[list[str], list[str]]:
    """The texts of the pairs chosen from one block."""
    resting, chosen = job
    texts = resting.texts().where(chosen)
    return texts.sources, texts.targets


@dataclass(frozen=True, slots=True)
class Samples:
    """Encoded pairs, and the lines they were read from."""

    lines: NDArray[np.int64]
    source: Rows
    target: Rows

    def where(self, chosen: Flags) -> Samples:
        return Samples(self.lines[chosen], select(self.source, chosen), select(self.target, chosen))


@dataclass(frozen=True, slots=True)
class Encoded:
    """A block after the second pass."""

    number: int
    train: Samples
    dev: Samples
    dev_texts: Texts
    test_texts: Texts
    audit: Audit


@dataclass(frozen=True, slots=True)
class Encoding:
    """The second pass: each pair's texts into token ids, or to the development or test set, or to the audit."""

    names: tuple[str, ...]  # of the inputs
    paths: tuple[Path, Path]  # of the tokenizers
    fingerprints: tuple[str, ...]
    max_pieces: int

    def __call__(self, job: tuple[Resting, Fates]) -> Encoded:
        resting, fates = job
        return self.encode(resting.number, resting.texts(), fates, Audit())

    def encode(self, number: int, texts: Texts, fates: Fates, audit: Audit) -> Encoded:
        """Texts from input `number`, and what becomes of each."""
        name = self.names[number]
        for line, source, target in texts.where(fates == DUPLICATE).rows():
            audit.drop("duplicate", "the same pair came before", name, line, source, target)
        test = texts.where(fates == TEST)
        used = (fates == TRAIN) | (fates == DEV)
        texts, fates = texts.where(used), fates[used]
        samples, fits = self.samples(texts, audit, name)
        texts, fates = texts.where(fits), fates[fits]
        dev = fates == DEV
        return Encoded(number, samples.where(~dev), samples.where(dev), texts.where(dev), test, audit)

    def samples(self, texts: Texts, audit: Audit, name: str) -> tuple[Samples, Flags]:
        """The texts encoded, those with too many pieces left out, and which were not."""
        sides = [
            _encoder(path, fingerprint).encode(side)
            for path, fingerprint, side in zip(self.paths, self.fingerprints, texts[1:], strict=True)
        ]
        longest = np.maximum(sides[0].lengths, sides[1].lengths)
        fits = longest <= self.max_pieces
        for (line, source, target), pieces in zip(texts.where(~fits).rows(), longest[~fits].tolist(), strict=True):
            audit.drop("pieces", f"{pieces} pieces", name, line, source, target)
        return Samples(np.array(texts.lines, np.int64), *sides).where(fits), fits


def json_lines(texts: Texts) -> str:
    """Pairs as the JSONL that can be read again as an input."""
    rows = ({"source": source, "target": target} for _, source, target in texts.rows())
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@lru_cache(maxsize=2)
def _encoder(path: Path, fingerprint: str) -> Encoder:
    """The encoder of a tokenizer file; the fingerprint tells a newer one of the same name."""
    tokenizer = Tokenizer.load(path)
    assert tokenizer.fingerprint == fingerprint
    return Encoder(tokenizer)
