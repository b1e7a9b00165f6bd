"""Scores of given pairs, against the definition one token at a time."""

from __future__ import annotations

import math

import pytest
import torch

from sightline.decode import score as module
from sightline.decode.options import SearchOptions
from sightline.decode.score import PairScore, score_pairs
from sightline.decode.translate import Translator
from sightline.models.build import build
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.text.learn import learn
from sightline.text.tokenizer import BOS, EOS

SOURCE = learn(["le chat noir mange la souris ."], "words", 50, min_frequency=1)
TARGET = learn(["the black cat eats the mouse ."] * 2, "bpe", 300)
PAIRS = [
    ("le chat", "the black cat eats"),
    ("la souris mange le chat noir .", "mouse"),
    ("", "the mouse"),
    ("noir", ""),
    ("le chat inconnu", "the cat unknown."),
]
STACK = TransformerConfig(layers=1, heads=2, hidden=24)
CONFIGS = {
    "transformer": ModelConfig(STACK, STACK, dim=16, tie="target"),
    "recurrent": ModelConfig(RecurrentEncoderConfig(), RecurrentDecoderConfig(input_feeding=True), dim=16, tie="none"),
}


@pytest.fixture(params=CONFIGS)
def model(request: pytest.FixtureRequest) -> Seq2Seq:
    made = build(CONFIGS[request.param], SOURCE.size, TARGET.size).eval()
    assert isinstance(made, Seq2Seq)
    return made


@torch.no_grad()
def by_hand(model: Seq2Seq, source: str, target: str) -> list[float]:
    """softmax of the logits after each token, read one by one."""
    state = model.begin(torch.tensor([[*SOURCE.encode(source), EOS]]))
    read, found = BOS, []
    for wanted in [*TARGET.encode(target), EOS]:
        features, state = model.features(torch.tensor([[read]]), state)
        logits = model.head(features)[0, 0].double()
        found.append(float(logits[wanted] - logits.exp().sum().log()))
        read = wanted
    return found


@pytest.mark.parametrize("batch_tokens", [1, 8, 4096])
def test_scores_are_those_by_hand_in_the_order_given(model: Seq2Seq, batch_tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_TOKENS", batch_tokens)
    found = score_pairs(model, (SOURCE, TARGET), PAIRS)
    assert len(found) == len(PAIRS)
    for (source, target), score in zip(PAIRS, found, strict=True):
        expected = by_hand(model, source, target)
        assert score.log_probabilities == pytest.approx(expected, abs=1e-5)
        assert score.pieces == (*TARGET.pieces(TARGET.encode(target)), "</s>")
        assert score.total == pytest.approx(sum(expected), abs=1e-5)
        assert score.perplexity == pytest.approx(math.exp(-sum(expected) / len(expected)), rel=1e-5)


def test_nothing_to_score(model: Seq2Seq) -> None:
    assert score_pairs(model, (SOURCE, TARGET), []) == []


def test_perplexity_by_hand() -> None:
    assert PairScore(("a", "</s>"), (math.log(0.5), math.log(0.125))).perplexity == pytest.approx(4.0)


def test_a_translation_is_scored_as_the_search_scored_it(model: Seq2Seq) -> None:
    """Where spelling its text anew gives the pieces that were found."""
    translator = Translator(model, (SOURCE, TARGET), 64)
    options = SearchOptions(beam=3, n_best=3, max_ratio=1.0, max_extra=0)
    (translation,) = translator.translate(["le chat"], options, prefixes=["the black"])
    found = score_pairs(model, (SOURCE, TARGET), [("le chat", candidate.text) for candidate in translation.candidates])
    agree = [abs(s.total - c.log_probability) < 1e-4 for s, c in zip(found, translation.candidates, strict=True)]
    assert any(agree)
