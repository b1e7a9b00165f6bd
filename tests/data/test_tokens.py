"""Tokenizers may be taken from a model folder instead of being learnt; they must be what the configuration says."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.data.config import DataConfig, TokenizerConfig
from sightline.data.prepare import prepare
from sightline.data.tokens import given_tokenizers, save_tokenizers
from sightline.errors import UserError
from sightline.text.learn import learn
from sightline.text.tokenizer import Tokenizer

TEXT = ["le chat dort", "la maison est grande", "un livre"]


def saved(folder: Path, *kinds: str) -> tuple[Tokenizer, ...]:
    found = tuple(learn(TEXT[place:], kind, 300) for place, kind in enumerate(kinds))  # type: ignore[arg-type]
    folder.mkdir()
    save_tokenizers(folder, (found[0], found[-1]))
    return found


def test_nothing_is_learnt_where_a_folder_is_named(tmp_path: Path) -> None:
    (given,) = saved(tmp_path / "model", "bpe")
    tokenizer = TokenizerConfig(folder=str(tmp_path / "model"), size=4000)
    said: list[str] = []
    data = DataConfig(("builtin:300",), dev_pairs=10, test_pairs=0, tokenizer=tokenizer, workers=1)
    prepared = prepare(data, "fr", "en", tmp_path / "data", said.append)
    source, target = prepared.tokenizers
    assert source is target
    assert source.fingerprint == given.fingerprint
    assert prepared.train.side("target").tokenizer == given.fingerprint
    assert not [line for line in said if line.startswith("learnt")]
    text = prepared.dev_texts()[0][0]
    assert source.decode(prepared.dev.source(0)) == text


def test_one_for_each_side(tmp_path: Path) -> None:
    given = saved(tmp_path / "model", "bpe", "bpe")
    found = given_tokenizers(TokenizerConfig(folder=str(tmp_path / "model"), joint=False))
    assert found is not None
    assert [each.fingerprint for each in found] == [each.fingerprint for each in given]


def test_no_folder_no_tokenizers() -> None:
    assert given_tokenizers(TokenizerConfig()) is None


@pytest.mark.parametrize(
    ("kinds", "config", "message"),
    [
        (("bpe",), {"joint": False}, r"set data\.tokenizer\.joint=true"),
        (("bpe", "bpe"), {}, r"set data\.tokenizer\.joint=false"),
        (("chars",), {}, r"set data\.tokenizer\.kind=chars"),
    ],
)
def test_they_must_be_what_is_said(kinds: tuple[str, ...], config: dict[str, bool], message: str, tmp_path: Path) -> None:
    saved(tmp_path / "model", *kinds)
    with pytest.raises(UserError, match=message):
        given_tokenizers(TokenizerConfig(folder=str(tmp_path / "model"), **config))  # type: ignore[arg-type]


def test_a_folder_without_tokenizers_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    data = DataConfig(("builtin:300",), tokenizer=TokenizerConfig(folder=str(tmp_path / "nowhere")))
    with pytest.raises(UserError, match="nowhere: no tokenizer here"):
        prepare(data, "fr", "en", tmp_path / "data")
    assert not (tmp_path / "data").exists()
