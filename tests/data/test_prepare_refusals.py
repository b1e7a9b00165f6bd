"""Preparing touches nobody else's files and takes no half of a stream for the whole."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from sightline.data.config import DataConfig
from sightline.data.prepare import prepare
from sightline.errors import UserError

LINES = "".join(f"le chat {n}\tthe cat {n}\n" for n in range(4000))


def test_a_folder_with_files_of_the_users_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(LINES)
    own = tmp_path / "data" / "train" / "corpus.tsv"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    with pytest.raises(UserError, match="is not empty and holds no prepared data"):
        prepare(DataConfig((str(tmp_path / "a.tsv"),), workers=1), "fr", "en", tmp_path / "data")
    assert own.read_text() == "mine"


def test_a_packed_stream_that_is_cut_short_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(LINES.encode())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(packed[: len(packed) // 2])))
    with pytest.raises(UserError, match="standard input: cannot be read to its end"):
        prepare(DataConfig(("-",), workers=1), "fr", "en", tmp_path / "data")
