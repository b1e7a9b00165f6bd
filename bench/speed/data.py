"""The same data for all: prepared once by Sightline, written out as ids and as text whose words are the pieces.

scratch/speed/data/
    prepared/            what `sightline train` reads
    ids.npz              every sentence of train and dev as ids, without begin and end marks
    train.src train.tgt  the pieces as words: piece 17 is "t17", so no rule about spaces or odd characters differs
    vocabulary.txt       all such words, in the order of their ids, without the special ones
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.data.batches import BatchOrder
from sightline.data.config import DataConfig, TokenizerConfig
from sightline.data.prepare import Prepared, prepare
from sightline.text.pipeline import SPECIAL_PIECES
from sightline.text.tokenizer import Tokenizer

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "bench" / "scratch" / "speed"
SOURCE, TARGET = "en", "de"
VOCABULARY = 8000
TOKENS = 4096  # of either side in a batch, padding included
SEED = 1

Ids = NDArray[np.int64]
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Shared:
    """Where the data lies, and its counts."""

    folder: Path
    prepared: Prepared

    @property
    def vocabulary(self) -> int:
        return self.prepared.tokenizers[1].size

    def batches(self, count: int, seed: int) -> list[Ids]:
        """The first batches that Sightline trains on with this seed."""
        data = self.prepared.train
        order = BatchOrder(data.source_lengths, data.target_lengths, TOKENS, seed)
        found: list[Ids] = []
        epoch = index = 0
        while len(found) < count:
            if index == order.count(epoch):
                epoch, index = epoch + 1, 0
            found.append(order.batch(epoch, index))
            index += 1
        return found

    def batch_tokens(self, count: int, seed: int) -> list[int]:
        """Their target tokens, end marks included."""
        lengths = self.prepared.train.target_lengths
        return [int(lengths[rows].sum()) + len(rows) for rows in self.batches(count, seed)]

    def write_batches(self, count: int, seed: int, path: Path) -> None:
        """The same, for the others."""
        found = self.batches(count, seed)
        starts = np.concatenate(([0], np.cumsum([len(rows) for rows in found])))
        np.savez(path, rows=np.concatenate(found).astype(np.int32), starts=starts)


def real_data() -> Path:
    """The folder with Multi30k."""
    folder = Path(os.environ.get("SIGHTLINE_DATA", ROOT.parent / "shared" / "data")) / "multi30k"
    if not folder.is_dir():
        raise SystemExit(f"{folder}: no Multi30k here; name the folder that has multi30k/ in it with SIGHTLINE_DATA")
    return folder


def lines(name: str) -> list[str]:
    """The lines of one file of Multi30k, such as "val.en"."""
    with gzip.open(real_data() / f"{name}.gz", "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


def data_config() -> DataConfig:
    """What is prepared; `sightline train` is told the same."""
    train, dev = ([str(real_data() / f"{name}.{side}.gz") for side in (SOURCE, TARGET)] for name in ("train", "val"))
    return DataConfig(tuple(train), tuple(dev), test_pairs=0, tokenizer=TokenizerConfig(size=VOCABULARY))


def shared_data(tell: Tell) -> Shared:
    """Prepare, or open what is there."""
    folder = SCRATCH / "data"
    prepared = prepare(data_config(), SOURCE, TARGET, folder / "prepared", tell)
    done = folder / "done"
    if not done.exists():
        _write_ids(folder, prepared)
        _write_text(folder, prepared)
        done.touch()
    return Shared(folder, prepared)


def _write_ids(folder: Path, prepared: Prepared) -> None:
    arrays: dict[str, NDArray[Any]] = {}
    for name, corpus in (("train", prepared.train), ("dev", prepared.dev)):
        for side in ("source", "target"):
            lengths = corpus.lengths(side)
            arrays[f"{name}_{side}"] = np.concatenate([corpus.row(side, i) for i in range(len(corpus))]).astype(np.int32)
            arrays[f"{name}_{side}_starts"] = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    np.savez(folder / "ids.npz", **arrays)  # type: ignore[arg-type]


def _write_text(folder: Path, prepared: Prepared) -> None:
    for name, corpus in (("train", prepared.train), ("dev", prepared.dev)):
        for side, ending in (("source", "src"), ("target", "tgt")):
            rows = (" ".join(f"t{i}" for i in corpus.row(side, sample)) for sample in range(len(corpus)))
            (folder / f"{name}.{ending}").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    words = (f"t{i}" for i in range(len(SPECIAL_PIECES), prepared.tokenizers[0].size))
    (folder / "vocabulary.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")


def test_ids(tokenizer: Tokenizer) -> list[list[int]]:
    """The test sources as this tokenizer cuts them."""
    return tokenizer.encode_batch(test_sources())


def test_sources() -> list[str]:
    return lines(f"test_2016_flickr.{SOURCE}")


def test_references() -> list[str]:
    return lines(f"test_2016_flickr.{TARGET}")
