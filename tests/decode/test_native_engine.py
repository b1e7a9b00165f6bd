"""The native engine against PyTorch, token for token, and what must not depend on company, threads or room."""

from __future__ import annotations

import gc
import math
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
import torch
from laws.cases import CASES, DIM, VOCABULARY, make
from laws.cases import case as case_of
from torch import nn

from sightline.decode import native_engine
from sightline.decode.native_engine import NativeEngine, Precision
from sightline.decode.options import Hypothesis, SearchOptions
from sightline.decode.shortlist import Shortlist
from sightline.decode.torch_engine import TorchEngine
from sightline.errors import UserError
from sightline.models.build import build
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.native import why_not
from sightline.nn.layers import ActivationName, NormOrder
from sightline.text.tokenizer import BOS, EOS, PAD

pytestmark = pytest.mark.skipif(bool(why_not("engine")), reason=why_not("engine"))

LONGEST = 12
FIT = [
    "Transformer, post-norm, sinusoidal",
    "Transformer, pre-norm, no positions",
    "Transformer, pre-norm, sinusoidal",
    "Transformer, pre-norm, learned",
]
Rows = list[list[int]]


def tiny(name: str = "Transformer, pre-norm, sinusoidal") -> Seq2Seq:
    """A row of the table of laws."""
    model = make(case_of(name))
    assert isinstance(model, Seq2Seq)
    return model


def lively(
    dim: int = 128,
    heads: int = 2,
    hidden: int = 200,
    norm: NormOrder = "pre",
    activation: ActivationName = "relu",
    vocabulary: int = 1100,
    stack: TransformerConfig | None = None,
) -> Seq2Seq:
    """A larger one, none of whose biases is zero; its sizes are not whole blocks."""
    stack = stack or TransformerConfig(layers=2, heads=heads, hidden=hidden, norm=norm, activation=activation)
    model = build(ModelConfig(stack, stack, dim=dim, max_length=64), vocabulary, vocabulary, seed=3).eval()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator)
    assert isinstance(model, Seq2Seq)
    return model


def sentences(count: int, vocabulary: int, longest: int = 9, seed: int = 0) -> Rows:
    """Of unlike lengths, an empty one among them."""
    chance = random.Random(seed)
    rows = [[chance.randrange(EOS + 1, vocabulary) for _ in range(chance.randint(0, longest))] for _ in range(count - 1)]
    return [*rows, []]


def agree(found: Sequence[Sequence[Hypothesis]], expected: Sequence[Sequence[Hypothesis]]) -> None:
    """The same sentences in the same order, and scores to four digits."""
    assert [[h.tokens for h in own] for own in found] == [[h.tokens for h in own] for own in expected]
    for own, wanted in zip(found, expected, strict=True):
        assert [h.log_probability for h in own] == pytest.approx([h.log_probability for h in wanted], abs=2e-4)
        assert [h.score for h in own] == pytest.approx([h.score for h in wanted], abs=1e-4)


def check(model: Seq2Seq, vocabulary: int, options: SearchOptions, prefixes: Rows | None = None, longest: int = LONGEST) -> None:
    sources = sentences(11 if prefixes is None else len(prefixes), vocabulary)
    expected = TorchEngine(model, vocabulary).search(sources, options, prefixes, longest)
    agree(NativeEngine(model, "fp32", workers=2).search(sources, options, prefixes, longest), expected)


def test_no_other_model_of_the_table_is_for_it() -> None:
    unfit = [case.name for case in CASES if NativeEngine.why_not(cast(nn.Module, make(case)))]
    assert sorted([*FIT, *unfit]) == sorted(case.name for case in CASES)


@pytest.mark.parametrize("name", FIT)
@pytest.mark.parametrize("beam", [1, 2, 5, 8])
def test_in_fp32_it_finds_what_pytorch_finds(name: str, beam: int) -> None:
    for n_best, penalty in ((1, 1.0), (beam, 0.0)):
        check(tiny(name), VOCABULARY, SearchOptions(beam, n_best, length_penalty=penalty))


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "swish"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_kind_of_layer(activation: ActivationName, norm: NormOrder) -> None:
    check(lively(norm=norm, activation=activation), 1100, SearchOptions(4, n_best=2), longest=25)


@pytest.mark.parametrize(
    ("dim", "heads", "hidden", "vocabulary"), [(96, 3, 70, 130), (64, 1, 64, 64), (68, 34, 33, 7), (40, 20, 1, 513)]
)
def test_every_size(dim: int, heads: int, hidden: int, vocabulary: int) -> None:
    """Heads that are no power of two, more heads than a vector has lanes, widths that no block divides."""
    for beam in (1, 5):
        check(lively(dim, heads, hidden, vocabulary=vocabulary), vocabulary, SearchOptions(beam, n_best=beam))


def test_encoder_and_decoder_may_be_unlike() -> None:
    encoder = TransformerConfig(layers=3, heads=4, hidden=40, norm="post", activation="gelu", position="learned")
    decoder = TransformerConfig(layers=1, heads=2, hidden=90, norm="pre", position="sinusoidal")
    model = build(ModelConfig(encoder, decoder, dim=32, max_length=20, tie="none"), 50, 70, seed=2).eval()
    assert isinstance(model, Seq2Seq)
    sources = sentences(9, 50)
    for beam in (1, 4):
        expected = TorchEngine(model, 70).search(sources, SearchOptions(beam), None, LONGEST)
        agree(NativeEngine(model, "fp32").search(sources, SearchOptions(beam), None, LONGEST), expected)


def test_a_wide_beam_and_a_small_vocabulary() -> None:
    """More hypotheses than words, more candidates than a vector has lanes."""
    check(tiny(), VOCABULARY, SearchOptions(30, n_best=30, length_penalty=0.0), longest=4)
    check(lively(), 1100, SearchOptions(70, n_best=40))


@pytest.mark.parametrize("beam", [1, 3])
def test_prefixes_are_obeyed(beam: int) -> None:
    """Also those longer than the limit, and those that nothing can follow."""
    prefixes = [[4], [], [5, 3], [3] * 9, [4, EOS], [PAD], [BOS, 4], [3, 3, 3]]
    options = SearchOptions(beam, n_best=beam, max_ratio=1.0, max_extra=2)
    check(tiny(), VOCABULARY, options, prefixes)
    check(lively(), 1100, options, [[500, 700], [], [1099] * 30, [17]])


@pytest.mark.parametrize(("ratio", "extra", "longest"), [(0.0, 0, 12), (1.0, 0, 12), (2.0, 1, 12), (2.0, 20, 3), (0.5, 3, 0)])
def test_limits_are_kept(ratio: float, extra: int, longest: int) -> None:
    check(tiny(), VOCABULARY, SearchOptions(3, n_best=2, max_ratio=ratio, max_extra=extra), longest=longest)


def bigrams(book: dict[int, dict[int, float]]) -> Seq2Seq:
    """A model that thinks of nothing but the last token: its layers add nothing, its output layer holds the table."""
    stack = TransformerConfig(layers=1, heads=1, hidden=8, position="none", norm="pre")
    model = build(ModelConfig(stack, stack, dim=DIM, tie="none", max_length=16), VOCABULARY, VOCABULARY).eval()
    assert isinstance(model, Seq2Seq)
    for name, parameter in model.named_parameters():
        if name.startswith("decoder.layers") and "norm" not in name:
            parameter.data.zero_()
    tokens = torch.arange(VOCABULARY)
    logits = torch.full((VOCABULARY, VOCABULARY), -20.0)  # never, in effect,
    logits[:, [EOS, VOCABULARY - 1]], logits[BOS] = -40.0, -80.0  # least of all an end, what is near one, or another beginning
    for last, chances in book.items():
        for token, chance in chances.items():
            logits[last, token] = math.log(chance)
    with torch.no_grad():
        features, _ = model.features(tokens[:, None], model.begin(torch.full((VOCABULARY, 1), EOS)))
        model.head.weight.copy_(torch.linalg.lstsq(features[:, 0], logits).solution.T)
    return model


def test_what_may_yet_win_by_its_length_is_followed() -> None:
    """ln 0.55 against ln 0.45: behind at one token (÷ 6/6), ahead at four (÷ 9/6), and at the limit only by the end mark."""
    a, b, c = 3, 4, 5
    model = bigrams({BOS: {EOS: 0.55, a: 0.45}, a: {b: 1.0}, b: {c: 1.0}, c: {EOS: 1.0}})
    for beam, limit, tokens in ((2, 3, (a, b, c)), (2, 2, ()), (1, 3, ())):
        options = SearchOptions(beam, max_ratio=0.0, max_extra=limit)
        ((best,),) = NativeEngine(model, "fp32").search([[3]], options, None, LONGEST)
        assert best.tokens == tokens
        ((wanted,),) = TorchEngine(model, VOCABULARY).search([[3]], options, None, LONGEST)
        assert wanted.tokens == tokens


@pytest.mark.parametrize("precision", ["fp32", "int8"])
@pytest.mark.parametrize("beam", [1, 4])
def test_company_changes_nothing(precision: Precision, beam: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither other sentences nor how many are searched at once: to the last bit."""
    engine, sources = NativeEngine(lively(), precision, workers=2), sentences(40, 1100)
    options = SearchOptions(beam, n_best=beam)
    together = engine.search(sources, options, None, 20)
    assert [engine.search([source], options, None, 20)[0] for source in sources] == together
    for rows in (1, 7, 1000):
        monkeypatch.setattr(native_engine, "ROWS", rows)
        assert engine.search(sources, options, None, 20) == together


def test_threads_do_not_disturb_one_another() -> None:
    engine = NativeEngine(lively(), workers=2)
    jobs = [(sentences(30, 1100, seed=seed), SearchOptions(1 + seed % 5)) for seed in range(8)]
    alone = [engine.search(rows, options, None, 15) for rows, options in jobs]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda job: engine.search(*job, None, 15), jobs)) == alone


def test_bytes_are_nearly_as_exact() -> None:
    """Of every sentence that the int8 engine writes, PyTorch thinks nearly the same."""
    model = lively()
    sources, options = sentences(30, 1100), SearchOptions(3, length_penalty=0.0)
    found = NativeEngine(model, "int8").search(sources, options, None, 20)
    whole = [list(own[0].tokens) for own in found]
    forced = TorchEngine(model, 1100).search(sources, SearchOptions(1, max_ratio=0.0, max_extra=0), whole, 20)
    gaps = [
        abs(own[0].log_probability - wanted[0].log_probability) / (len(own[0].tokens) + 1)
        for own, wanted in zip(found, forced, strict=True)
    ]
    assert 1e-6 < max(gaps) < 0.02
    assert np.mean(gaps) < 0.006


def test_a_list_of_everything_changes_nothing() -> None:
    model, sources = lively(), sentences(12, 1100)
    everything = Shortlist(np.full((1100, 1), -1, np.int32), np.arange(1100, dtype=np.int32))
    for beam in (1, 4):
        options = SearchOptions(beam, n_best=beam)
        listed = NativeEngine(model, "fp32", shortlist=everything).search(sources, options, None, LONGEST)
        agree(listed, NativeEngine(model, "fp32").search(sources, options, None, LONGEST))


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_a_translation_is_made_of_what_its_list_has(precision: Precision) -> None:
    """And of its prefix; probabilities are shared out among the list, so that a sentence gets likelier."""
    of_each = np.full((1100, 3), -1, np.int32)
    of_each[500:] = [[7, 8, 9]]
    listed = Shortlist(of_each, np.array([EOS, 20, 1000], np.int32))
    model, sources = lively(), [[600, 3], [400], [3, 700, 900]]
    options = SearchOptions(3, n_best=3)
    found = NativeEngine(model, precision, shortlist=listed).search(sources, options, [[], [33], [44]], LONGEST)
    for own, allowed in zip(found, ({7, 8, 9}, {33}, {44, 7, 8, 9}), strict=True):
        assert len(own) == 3
        assert {token for hypothesis in own for token in hypothesis.tokens} <= allowed | {20, 1000}
    free = NativeEngine(model, precision).search(sources, options, [list(own[0].tokens) for own in found], 0)
    assert all(own[0].log_probability > other[0].log_probability for own, other in zip(found, free, strict=True))


def test_a_large_job_is_done_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, sources, prefixes = NativeEngine(tiny()), sentences(10, VOCABULARY), [[3 + i % 3] for i in range(10)]
    whole = engine.search(sources, SearchOptions(2), prefixes, LONGEST)
    monkeypatch.setattr(native_engine, "TOGETHER", 3)
    assert engine.search(sources, SearchOptions(2), prefixes, LONGEST) == whole


def test_nothing_to_do_is_done() -> None:
    assert NativeEngine(tiny()).search([], SearchOptions(), None, LONGEST) == []


def test_weights_are_its_own() -> None:
    """It keeps neither the model alive nor an eye on it."""
    model, sources = tiny(), sentences(5, VOCABULARY)
    engine = NativeEngine(model)
    before = engine.search(sources, SearchOptions(), None, LONGEST)
    for parameter in model.parameters():
        parameter.data.zero_()
    del model
    gc.collect()
    assert engine.search(sources, SearchOptions(), None, LONGEST) == before


def test_the_recipe_says_what_computes() -> None:
    listed = Shortlist(np.full((VOCABULARY, 1), -1, np.int32), np.array([EOS, 3], np.int32))
    assert NativeEngine(tiny(), "fp32", workers=1).recipe == "native fp32, 1 worker"
    assert NativeEngine(tiny(), "int8", workers=2, shortlist=listed).recipe == "native int8, shortlist, 2 workers"


def test_what_it_cannot_search_it_says() -> None:
    engine = NativeEngine(tiny())
    assert engine.can(SearchOptions()) == ""
    assert "torch" in engine.can(SearchOptions(coverage_penalty=0.1))
    with pytest.raises(UserError, match="coverage_penalty"):
        engine.search([[3]], SearchOptions(coverage_penalty=0.1), None, LONGEST)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Transformer, pre-norm, rotary", "rotary"),
        ("Transformer, pre-norm, ALiBi", "alibi"),
        ("Transformer, pre-norm, relative", "relative"),
        ("GRU encoder, Transformer decoder", "encoder is not a Transformer"),
        ("Transformer encoder, LSTM decoder", "decoder is not a Transformer"),
        ("ensemble: Transformer, LSTM with attention, GRU without", "one encoder and one decoder"),
        ("language model: GRU", "one encoder and one decoder"),
    ],
)
def test_what_it_does_not_know_it_says(name: str, reason: str) -> None:
    model = make(case_of(name))
    assert isinstance(model, nn.Module)
    assert reason in NativeEngine.why_not(model)
    if isinstance(model, Seq2Seq):
        with pytest.raises(UserError, match="take the torch engine"):
            NativeEngine(model)


def test_without_a_compiler_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_engine, "why_not", lambda name: "no C++ compiler")
    assert NativeEngine.why_not(tiny()) == "no C++ compiler"


def test_more_positions_than_learned_ones_are_refused() -> None:
    engine = NativeEngine(tiny("Transformer, pre-norm, learned"), workers=2)
    with pytest.raises(UserError, match="17 tokens are more than the 16 positions"):
        engine.search([[3], [4] * 16], SearchOptions(), None, LONGEST)
    with pytest.raises(UserError, match="positions that this model has learned"):
        engine.search([[3]], SearchOptions(), [[4] * 20], LONGEST)
    assert engine.search([[3]], SearchOptions(), None, LONGEST)  # and it still works


def test_sinusoids_have_no_end() -> None:
    check(tiny(), VOCABULARY, SearchOptions(2, max_extra=300), [[4] * 290, [3]], longest=300)


def test_a_token_that_there_is_not_is_refused() -> None:
    engine = NativeEngine(tiny())
    for sources, prefixes in (([[VOCABULARY]], None), ([[-1]], None), ([[3]], [[VOCABULARY]])):
        with pytest.raises(ValueError, match=f"one of the {VOCABULARY}"):
            engine.search(sources, SearchOptions(), prefixes, LONGEST)


def test_other_weights_give_other_results() -> None:
    """A weight that is handed over in another's place would be seen: each of them matters."""
    sources, options = sentences(6, VOCABULARY), SearchOptions(2, length_penalty=0.0)
    model = tiny("Transformer, post-norm, sinusoidal")
    before = NativeEngine(model, "fp32").search(sources, options, None, LONGEST)
    for name, parameter in model.named_parameters():
        if "key_value.bias" in name:
            continue  # half of it moves all scores alike
        kept = parameter.data.clone()
        parameter.data += 0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(5))
        after = NativeEngine(model, "fp32").search(sources, options, None, LONGEST)
        assert [h[0].log_probability for h in after] != [h[0].log_probability for h in before], name
        parameter.data.copy_(kept)


def test_a_recurrent_decoder_in_the_place_of_one() -> None:
    stack = replace(TransformerConfig(layers=1, heads=2, hidden=8), position="none")
    model = build(ModelConfig(stack, RecurrentDecoderConfig(), dim=DIM, max_length=16), VOCABULARY, VOCABULARY)
    assert "decoder is not" in NativeEngine.why_not(model)
