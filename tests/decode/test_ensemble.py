"""Several models together: the mean of their probabilities, whatever they are made of."""

from __future__ import annotations

import math

import pytest
import torch
from hand_table import EOS, A, B, Book, C, Table, sources, teacher_forced

from sightline.decode.options import SampleOptions, SearchOptions
from sightline.decode.sample import sample
from sightline.decode.score import score_pairs
from sightline.decode.search import beam_search
from sightline.decode.translate import Translator
from sightline.models.build import build
from sightline.models.combine import Ensemble
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.text.learn import learn

ONE: Book = {(): {A: 0.6, B: 0.3, C: 0.1}, (A,): {B: 0.5, EOS: 0.5}, (B,): {EOS: 0.9, C: 0.1}}
OTHER: Book = {(): {A: 0.1, B: 0.8, C: 0.1}, (A,): {B: 0.7, EOS: 0.3}, (B,): {EOS: 0.5, C: 0.5}}
EXACT = SearchOptions(beam=12, n_best=5, length_penalty=0.0, max_ratio=0.0, max_extra=3)


def test_the_mean_of_probabilities_decides() -> None:
    """A wins in one model, B in both together: (0.3 + 0.8) / 2 against (0.6 + 0.1) / 2, word by word."""
    (found,) = beam_search(Ensemble([Table(ONE), Table(OTHER)]), sources(1), EXACT)
    expected = {
        (B,): 0.55 * 0.7,
        (A, B): 0.35 * 0.6,
        (B, C): 0.55 * 0.3,
        (A,): 0.35 * 0.4,
        (C,): 0.1,
    }
    assert [h.tokens for h in found] == list(expected)
    assert [h.log_probability for h in found] == pytest.approx([math.log(p) for p in expected.values()], abs=1e-5)
    assert beam_search(Table(ONE), sources(1), SearchOptions(beam=1))[0][0].tokens[0] == A
    assert beam_search(Ensemble([Table(ONE), Table(OTHER)]), sources(1), SearchOptions(beam=1))[0][0].tokens == (B,)


def test_sampling_draws_from_the_mean() -> None:
    ensemble = Ensemble([Table(ONE), Table(OTHER)])
    options = SampleOptions(count=3000, max_ratio=0.0, max_extra=3)
    share = sum(h.tokens[0] == B for h in sample(ensemble, sources(1), [1], options)[0]) / 3000
    assert abs(share - 0.55) < 4.5 * math.sqrt(0.55 * 0.45 / 3000)


def test_one_model_alone_or_thrice_is_itself() -> None:
    (expected,) = beam_search(Table(ONE), sources(1), EXACT)
    for times in (1, 3):
        (found,) = beam_search(Ensemble([Table(ONE)] * times), sources(1), EXACT)
        assert [h.tokens for h in found] == [h.tokens for h in expected]
        assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-6)


TOKENIZER = learn(["a b c d e f g"], "words", 50, min_frequency=1)
STACK = TransformerConfig(layers=1, heads=2, hidden=24)
UNLIKE = (
    ModelConfig(STACK, STACK, dim=16),
    ModelConfig(RecurrentEncoderConfig(), RecurrentDecoderConfig(score="additive", input_feeding=True), dim=8, tie="none"),
    ModelConfig(RecurrentEncoderConfig(cell="gru"), RecurrentDecoderConfig(cell="gru", score="none"), dim=12, tie="target"),
)


def members() -> list[Seq2Seq]:
    made = [build(config, TOKENIZER.size, TOKENIZER.size, seed).eval() for seed, config in enumerate(UNLIKE)]
    return [model for model in made if isinstance(model, Seq2Seq)]


@torch.no_grad()
def test_models_of_unlike_kinds_translate_together() -> None:
    """A Transformer, an LSTM that looks and a GRU that does not, of different widths; scores by hand from each member."""
    models = members()
    assert len(models) == 3
    translator = Translator(Ensemble(models), (TOKENIZER, TOKENIZER), 32)
    texts, options = (
        ["a b c", "", "g f e d", "b"],
        SearchOptions(beam=3, n_best=2, length_penalty=0.0, max_ratio=1.0, max_extra=1),
    )
    found = translator.translate(texts, options)
    assert [bool(translation.candidates) for translation in found] == [True, False, True, True]
    for translation in found:
        source = torch.tensor([*TOKENIZER.encode(translation.source), EOS])
        for candidate in translation.candidates:
            words = tuple(TOKENIZER.encode(candidate.text))
            if "⁇" in candidate.text:
                continue
            assert candidate.log_probability == pytest.approx(by_hand(models, source, words), abs=1e-5)
            assert candidate.log_probability == pytest.approx(teacher_forced(translator.model, source, words), abs=1e-5)  # type: ignore[arg-type]


def by_hand(models: list[Seq2Seq], source: torch.Tensor, words: tuple[int, ...]) -> float:
    """log of the mean, step by step."""
    total = 0.0
    for place, wanted in enumerate((*words, EOS)):
        read = torch.tensor([[1, *words[:place]]])
        shares = [float(model(read, model.begin(source[None]))[0][0, -1, wanted].double().exp()) for model in models]
        total += math.log(sum(shares) / len(shares))
    return total


@torch.no_grad()
def test_pairs_are_scored_by_all_together() -> None:
    models = members()
    (score,) = score_pairs(Ensemble(models), (TOKENIZER, TOKENIZER), [("a b", "c d e")])
    expected = by_hand(models, torch.tensor([*TOKENIZER.encode("a b"), EOS]), tuple(TOKENIZER.encode("c d e")))
    assert score.total == pytest.approx(expected, abs=1e-5)
