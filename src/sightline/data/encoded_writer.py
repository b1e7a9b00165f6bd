"""Writing an encoded corpus in bounded memory, so that it is there whole or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.data.encoded import OFFSET, ORIGIN, Meta, Rows, Side
from sightline.errors import UserError
from sightline.text.files import sync_folder


@final
class CorpusWriter:
    """Appends encoded sentences to a directory that gets its name only when it is complete.

    Used as a context manager: leaving it normally finishes the corpus, leaving it with an exception removes what was
    written. After a kill, `<folder>.partial` remains; the next writer of the same folder removes it.
    """

    def __init__(self, folder: Path, sides: Mapping[str, Side], files: Sequence[str]) -> None:
        if folder.exists():
            raise UserError(f"{folder}: exists already; remove it or choose another folder")
        self._folder, self._partial = folder, folder.with_name(folder.name + ".partial")
        shutil.rmtree(self._partial, ignore_errors=True)
        self._partial.mkdir(parents=True)
        self._sides, self._files, self._samples = dict(sides), tuple(files), 0
        self._streams = {"origin": _Stream(self._partial / "origin")}
        for name in sides:
            self._streams[f"{name}.ids"] = _Stream(self._partial / f"{name}.ids")
            self._streams[f"{name}.offsets"] = _Stream(self._partial / f"{name}.offsets")
            self._streams[f"{name}.offsets"].write(np.zeros(1, OFFSET))

    def append(self, rows: Mapping[str, Rows], files: ArrayLike, lines: ArrayLike) -> None:
        """Some samples: the sentences of each side, the index of each sample's file, and its line there."""
        origin = np.empty(np.shape(lines), ORIGIN)
        origin["file"], origin["line"] = files, lines
        if len(origin) and origin["file"].max() >= len(self._files):
            raise ValueError(f"file index {origin['file'].max()} of {len(self._files)} files")
        for name, side in self._sides.items():
            self._sides[name] = self._append_side(name, side, rows[name], len(origin))
        self._streams["origin"].write(origin)
        self._samples += len(origin)

    def _append_side(self, name: str, side: Side, rows: Rows, expected: int) -> Side:
        if len(rows.lengths) != expected or rows.lengths.sum() != len(rows.ids):
            raise ValueError(f"{name}: {len(rows.lengths)} sentences with {len(rows.ids)} ids for {expected} samples")
        if not expected:
            return side
        if len(rows.ids) and int(rows.ids.max()) >= side.vocabulary:
            raise ValueError(f"{name}: id {rows.ids.max()} is not in a vocabulary of {side.vocabulary}")
        self._streams[f"{name}.ids"].write(rows.ids.astype(side.dtype, copy=False))
        self._streams[f"{name}.offsets"].write(side.tokens + np.cumsum(rows.lengths, dtype=OFFSET))
        return replace(side, tokens=side.tokens + len(rows.ids), longest=max(side.longest, int(rows.lengths.max())))

    def __enter__(self) -> CorpusWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        hashes = {name: stream.close() for name, stream in self._streams.items()}
        if kind is not None:
            shutil.rmtree(self._partial, ignore_errors=True)
            return
        meta = _Stream(self._partial / "meta.json")
        meta.write_text(Meta(self._samples, self._sides, self._files, hashes).to_json())
        meta.close()
        sync_folder(self._partial)
        os.replace(self._partial, self._folder)
        sync_folder(self._folder.parent)


@final
class _Stream:
    """A file being written, hashed on the way, on disk for sure once closed."""

    def __init__(self, path: Path) -> None:
        self._file, self._hash = open(path, "xb"), hashlib.sha256()  # noqa: SIM115 — closed by close()

    def write(self, array: NDArray[Any]) -> None:
        self._write(array.tobytes())

    def write_text(self, text: str) -> None:
        self._write(text.encode())

    def _write(self, content: bytes) -> None:
        self._hash.update(content)
        self._file.write(content)

    def close(self) -> str:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return self._hash.hexdigest()
