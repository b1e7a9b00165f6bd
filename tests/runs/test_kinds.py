"""Whole runs with every kind of tokenizer: from pairs to a model folder that translates."""

from __future__ import annotations

from pathlib import Path

import pytest
from whole_run import request

import sightline
from sightline.runs.train import train_model

SHORT = ("train.max_updates=2", "train.validate_every=2", "train.validate_sentences=0", "train.judge=loss", "train.average=0",
         "data.test=[]", "data.test_pairs=0")  # fmt: skip
APART = ("data.tokenizer.joint=false", "model.tie=target")


@pytest.mark.parametrize(
    ("changes", "kind", "files"),
    [
        pytest.param(APART, "bpe", ["tokenizer.source.json", "tokenizer.target.json"], id="apart"),
        pytest.param(("data.tokenizer.kind=words",), "words", ["tokenizer.json"], id="words"),
        pytest.param(("data.tokenizer.kind=unigram",), "unigram", ["tokenizer.json"], id="unigram"),
        pytest.param(("data.tokenizer.kind=chars",), "chars", ["tokenizer.json"], id="chars"),
        pytest.param(("train.bpe_dropout=0.1",), "bpe", ["tokenizer.json"], id="dropout"),
    ],
)
def test_every_kind_of_pieces_is_trained_and_translates(
    changes: tuple[str, ...], kind: str, files: list[str], tmp_path: Path
) -> None:
    assert train_model(request(*SHORT, *changes), tmp_path / "run").reason == "2 updates"
    assert sorted(path.name for path in (tmp_path / "run" / "model").glob("tokenizer*")) == files
    model = sightline.load(tmp_path / "run")
    source, target = model.translator.tokenizers
    assert source.kind == target.kind == kind
    assert (source.fingerprint == target.fingerprint) == (len(files) == 1)
    (found,) = model.translate(["le chat dort"], sightline.SearchOptions(beam=2, max_extra=3))
    assert len(found.candidates) == 1
    (scored,) = model.score([("le chat dort", "the cat sleeps")])
    assert scored.total < 0
