"""From model folders to a translator: one, or several that vote."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from sightline.decode.load import load_translator
from sightline.decode.options import SearchOptions
from sightline.decode.translate import Translator
from sightline.errors import UserError
from sightline.models.build import build
from sightline.models.combine import Ensemble
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.models.store import save
from sightline.text.learn import learn
from sightline.text.tokenizer import Tokenizer

WORDS = learn(["a b c d e f g"], "words", 50, min_frequency=1)
OTHERS = learn(["a b c d e f g h"], "words", 50, min_frequency=1)
STACK = TransformerConfig(layers=1, heads=2, hidden=24)
TRANSFORMER = ModelConfig(STACK, STACK, dim=16, max_length=24)
RECURRENT = ModelConfig(RecurrentEncoderConfig(), RecurrentDecoderConfig(), dim=8, tie="none", max_length=16)
TEXTS = ["a b c", "", "g f"]


def put(folder: Path, config: ModelConfig = TRANSFORMER, tokenizer: Tokenizer = WORDS) -> Path:
    model = build(config, tokenizer.size, tokenizer.size, seed=1)
    save(folder, model, config, (tokenizer, tokenizer), ("fr", "en"), "")
    return folder


def test_one_folder_is_its_model(tmp_path: Path) -> None:
    translator, (stored,) = load_translator([put(tmp_path / "one")], engine="torch")
    assert isinstance(translator.model, Seq2Seq)
    assert (translator.max_length, stored.languages) == (24, ("fr", "en"))
    fresh = build(TRANSFORMER, WORDS.size, WORDS.size, seed=1)
    assert isinstance(fresh, Seq2Seq)
    assert translator.translate(TEXTS) == Translator(fresh, (WORDS, WORDS), 24).translate(TEXTS)


def test_several_vote_and_the_shortest_reader_sets_the_bound(tmp_path: Path) -> None:
    paths = [put(tmp_path / "one"), put(tmp_path / "other", RECURRENT)]
    translator, stored = load_translator(paths)
    assert isinstance(translator.model, Ensemble)
    assert translator.max_length == 16
    members = [each.model for each in stored if isinstance(each.model, Seq2Seq)]
    expected = Translator(Ensemble(members), (WORDS, WORDS), 16).translate(TEXTS, SearchOptions(beam=3))
    assert translator.translate(TEXTS, SearchOptions(beam=3)) == expected
    assert expected[0].candidates[0].log_probability != pytest.approx(
        load_translator(paths[:1], engine="torch")[0].translate(TEXTS, SearchOptions(beam=3))[0].candidates[0].log_probability
    )


def test_models_that_cut_text_otherwise_cannot_vote(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cut text into different pieces"):
        load_translator([put(tmp_path / "one"), put(tmp_path / "other", tokenizer=OTHERS)])


def test_a_language_model_does_not_translate(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="language model, which has no source"):
        load_translator([put(tmp_path / "lm", ModelConfig(None, STACK, dim=16))])


def test_nothing_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no model folder is named"):
        load_translator([])
    with pytest.raises(UserError, match="there is no such model folder"):
        load_translator([tmp_path / "nowhere"])


def test_a_device_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = put(tmp_path / "one")
    with pytest.raises(UserError, match="there is no device 'abacus'"):
        load_translator([folder], "abacus")
    if not torch.cuda.is_available():
        with pytest.raises(UserError, match="finds no CUDA card"):
            load_translator([folder], "cuda")
