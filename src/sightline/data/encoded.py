"""An encoded corpus: a directory of flat arrays of token ids, read through memory maps, so that size does not matter.

    meta.json         counts, types, the tokenizer of each side, names of the files the text came from, hashes
    <side>.ids        all token ids of that side, one sentence after the other (no begin or end marks)
    <side>.offsets    where each sentence starts in it, then the end
    origin            file and line of each sample

Parallel text has the sides ("source", "target"), plain text for a language model just ("text",).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError

FORMAT, VERSION = "sightline-corpus", 1
OFFSET = np.dtype("<i8")
ORIGIN = np.dtype([("file", "<u4"), ("line", "<i8")])

Ids = NDArray[np.unsignedinteger[Any]]
Lengths = NDArray[np.int32]

_CHUNK = 1 << 20  # sentences whose lengths are worked out at once: bounds the temporaries


@dataclass(frozen=True, slots=True)
class Side:
    """What belongs to one side of a corpus: whose ids they are, and how many."""

    tokenizer: str  # fingerprint
    vocabulary: int  # every id is below this
    tokens: int = 0
    longest: int = 0

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger[Any]]:
        """The smallest type that holds every id."""
        return id_dtype(self.vocabulary)


@dataclass(frozen=True, slots=True)
class Meta:
    """All that meta.json says."""

    samples: int
    sides: dict[str, Side]
    files: tuple[str, ...]
    sha256: dict[str, str]  # of each array file

    def sizes(self) -> dict[str, int]:
        """The bytes each file must have."""
        sizes = {"origin": self.samples * ORIGIN.itemsize}
        for name, side in self.sides.items():
            sizes[f"{name}.ids"] = side.tokens * side.dtype.itemsize
            sizes[f"{name}.offsets"] = (self.samples + 1) * OFFSET.itemsize
        return sizes

    def fingerprint(self) -> str:
        """A hash of the samples, their order and their tokenizers, wherever they came from and lie."""
        told = {
            name: (side.tokenizer, self.sha256[f"{name}.ids"], self.sha256[f"{name}.offsets"])
            for name, side in self.sides.items()
        }
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> str:
        """meta.json's text: the same for the same corpus, byte for byte."""
        return json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Meta:
        """The meta.json of a corpus folder."""
        path = folder / "meta.json"
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            if (told["format"], told["version"]) != (FORMAT, VERSION):
                raise UserError(f"{path}: not a corpus of format version {VERSION}; prepare the data again")
            sides = {name: Side(**side) for name, side in told["sides"].items()}
            return cls(told["samples"], sides, tuple(told["files"]), told["sha256"])
        except FileNotFoundError:
            raise UserError(f"{folder}: no encoded corpus here (meta.json is missing); prepare the data first") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{path}: damaged ({error}); prepare the data again") from None


@final
class EncodedCorpus:
    """Sentences as token ids, read from disk as they are asked for."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._meta = Meta.read(self.folder)
        for name, size in self._meta.sizes().items():
            self._check_size(self.folder / name, size)
        self._ids = {name: self._map(f"{name}.ids", side.dtype) for name, side in self._meta.sides.items()}
        self._offsets = {name: self._map(f"{name}.offsets", OFFSET) for name in self._meta.sides}
        self._origin = self._map("origin", ORIGIN)
        for name, side in self._meta.sides.items():
            if self._offsets[name][0] != 0 or self._offsets[name][-1] != side.tokens:
                raise UserError(
                    f"{self.folder / name}.offsets: damaged (it does not end where the ids do); prepare the data again"
                )

    def __len__(self) -> int:
        return self._meta.samples

    def __reduce__(self) -> tuple[type[EncodedCorpus], tuple[Path]]:
        """A copy sent to another process opens the files itself, instead of carrying them along."""
        return EncodedCorpus, (self.folder,)

    @property
    def sides(self) -> tuple[str, ...]:
        return tuple(self._meta.sides)

    @property
    def fingerprint(self) -> str:
        """A hash of the samples, their order and their tokenizers, wherever they came from and lie."""
        return self._meta.fingerprint()

    def side(self, name: str) -> Side:
        """Tokenizer, vocabulary size and token count of one side."""
        return self._meta.sides[name]

    def row(self, side: str, sample: int) -> Ids:
        """The ids of one sentence, without begin and end marks; a read-only view."""
        if not 0 <= sample < len(self):
            raise IndexError(f"sample {sample} of a corpus of {len(self)}")
        begin, end = self._offsets[side][sample : sample + 2]
        return self._ids[side][begin:end]

    def source(self, sample: int) -> Ids:
        """The source sentence of one sample."""
        return self.row("source", sample)

    def target(self, sample: int) -> Ids:
        """The target sentence of one sample."""
        return self.row("target", sample)

    def lengths(self, side: str) -> Lengths:
        """How many ids each sentence of a side has."""
        offsets, lengths = self._offsets[side], np.empty(len(self), np.int32)
        for begin in range(0, len(self), _CHUNK):
            piece = offsets[begin : begin + _CHUNK + 1]
            lengths[begin : begin + _CHUNK] = piece[1:] - piece[:-1]
        return lengths

    @cached_property
    def source_lengths(self) -> Lengths:
        """Worked out at the first use, then kept."""
        return self.lengths("source")

    @cached_property
    def target_lengths(self) -> Lengths:
        """Worked out at the first use, then kept."""
        return self.lengths("target")

    def origin(self, sample: int) -> str:
        """Where a sample was read: file:line."""
        file, line = self._origin[sample].tolist()
        return f"{self._meta.files[file]}:{line}"

    def verify(self) -> None:
        """Read everything and compare it with the hashes taken when it was written."""
        for name, expected in self._meta.sha256.items():
            with open(self.folder / name, "rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                    raise UserError(f"{self.folder / name}: the content has changed since it was written; prepare the data again")

    def _check_size(self, path: Path, expected: int) -> None:
        actual = path.stat().st_size if path.is_file() else None
        if actual != expected:
            found = "missing" if actual is None else f"{actual} bytes"
            raise UserError(f"{path}: {found}, but meta.json says {expected} bytes; prepare the data again")

    def _map(self, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
        path = self.folder / name
        if not path.stat().st_size:  # an empty file cannot be mapped
            return np.empty(0, dtype)
        # A plain array over the map: slicing an np.memmap costs ten times as much, and every sentence is a slice.
        return np.asarray(np.memmap(path, dtype, mode="r"))


@dataclass(frozen=True, slots=True)
class Rows:
    """Several sentences of ids end to end: cheap to send and to write."""

    ids: Ids
    lengths: Lengths

    @classmethod
    def of(cls, sentences: Sequence[Sequence[int]], vocabulary: int) -> Rows:
        """Lists of ids, as a tokenizer gives them."""
        lengths = np.fromiter(map(len, sentences), np.int32, len(sentences))
        flat = [token for sentence in sentences for token in sentence]
        return cls(np.array(flat, id_dtype(vocabulary)), lengths)


def id_dtype(vocabulary: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Two bytes per id when every id fits, else four."""
    return np.dtype("<u2") if vocabulary <= 1 << 16 else np.dtype("<u4")
