"""Sampling: the frequencies are the probabilities, and a draw depends on seed and sentence alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import pytest
import torch
from hand_table import EOS, A, B, Book, C, Table, Words, every, log_probability, random_book, sources

from sightline.decode.options import SampleOptions
from sightline.decode.sample import sample
from sightline.text.tokenizer import BOS, PAD

DRAWS = 4000
ONE: Book = {(): {A: 0.5, B: 0.3, C: 0.15, EOS: 0.05}}  # one word or none, then the end


def drawn(book: Book, number: int = 7, **changes: object) -> list[Words]:
    options = SampleOptions(**({"count": DRAWS, "max_ratio": 0.0, "max_extra": 3} | changes))  # type: ignore[arg-type]
    ((*found,),) = sample(Table(book), sources(1), [number], options)
    return [hypothesis.tokens for hypothesis in found]


def agrees(found: list[Words], expected: Mapping[Words, float]) -> None:
    """Nothing else was drawn, and each as often as it should, to four and a half deviations."""
    counts = Counter(found)
    assert set(counts) <= {words for words, probability in expected.items() if probability > 0}
    for words, probability in expected.items():
        deviation = math.sqrt(probability * (1 - probability) / len(found))
        assert abs(counts[words] / len(found) - probability) <= 4.5 * deviation + 1e-9, words


def test_frequencies_are_probabilities() -> None:
    """Of whole sentences; at the limit the end mark alone is left, so that what could follow falls to the cut sentence."""
    book = random_book(2, 3)
    expected = {}
    for words in every(3):
        steps = [book[words[:place]][token] for place, token in enumerate(words)]
        expected[words] = math.prod(steps) * (1.0 if len(words) == 3 else book[words][EOS])
    assert sum(expected.values()) == pytest.approx(1)
    agrees(drawn(book), expected)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_temperature(temperature: float) -> None:
    powers = {token: p ** (1 / temperature) for token, p in ONE[()].items()}
    total = sum(powers.values())
    agrees(drawn(ONE, temperature=temperature), {() if t == EOS else (t,): power / total for t, power in powers.items()})


def test_a_low_temperature_is_greedy() -> None:
    assert set(drawn(ONE, temperature=0.01)) == {(A,)}


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"top_k": 1}, [A]),
        ({"top_k": 2}, [A, B]),
        ({"top_k": 3}, [A, B, C]),
        ({"top_k": 99}, [A, B, C, EOS]),
        ({"top_p": 0.01}, [A]),
        ({"top_p": 0.5}, [A]),
        ({"top_p": 0.51}, [A, B]),
        ({"top_p": 0.85}, [A, B, C]),
        ({"top_p": 0.96}, [A, B, C, EOS]),
        ({"top_k": 2, "top_p": 0.6}, [A]),  # 0.5 of the 0.8 that are left is 0.625
        ({"top_k": 2, "top_p": 0.63}, [A, B]),
    ],
)
def test_only_the_likeliest(changes: dict[str, float], kept: list[int]) -> None:
    total = sum(ONE[()][token] for token in kept)
    agrees(drawn(ONE, **changes), {() if token == EOS else (token,): ONE[()][token] / total for token in kept})


@pytest.mark.parametrize("changes", [{"top_k": 2}, {"top_p": 0.4}])
def test_of_equally_likely_tokens_no_more_are_kept(changes: dict[str, float]) -> None:
    equal: Book = {(): {A: 0.25, B: 0.25, C: 0.25, EOS: 0.25}}
    agrees(drawn(equal, **changes), {(): 0.5, (A,): 0.5})  # the end mark and A come first


def test_the_filter_comes_after_the_temperature() -> None:
    """At 0.5 the shares are 0.68, 0.25, 0.06, 0.01: one token has the 0.6 that two had before."""
    assert set(drawn(ONE, top_p=0.6, count=500)) == {(A,), (B,)}
    assert set(drawn(ONE, top_p=0.6, temperature=0.5, count=500)) == {(A,)}


def test_padding_and_beginning_are_never_drawn() -> None:
    agrees(drawn({(): {PAD: 0.4, BOS: 0.4, A: 0.1, B: 0.1}}), {(A,): 0.5, (B,): 0.5})


def test_log_probabilities_are_the_models_own() -> None:
    """Whatever they were drawn by."""
    book = random_book(5, 3)
    options = SampleOptions(count=50, temperature=2.0, top_k=3, max_ratio=0.0, max_extra=3)
    for hypothesis in sample(Table(book), sources(1), [1], options)[0]:
        assert hypothesis.log_probability == pytest.approx(log_probability(book, hypothesis.tokens), abs=1e-5)


def test_a_draw_depends_on_seed_and_sentence_alone() -> None:
    books = [random_book(seed, 3) for seed in (1, 1, 1, 2)]
    options = SampleOptions(count=20, max_ratio=0.0, max_extra=3)
    together = sample(Table(*books), sources(4), [10, 11, 12, 13], options)
    assert together == sample(Table(*books), sources(4), [10, 11, 12, 13], options)
    for row, number in enumerate((10, 11, 12, 13)):
        assert sample(Table(books[row]), sources(1), [number], options) == [together[row]]
    backwards = sample(Table(*books[::-1]), sources(4), [13, 12, 11, 10], options)
    assert backwards == together[::-1]
    assert together[0] != together[1], "two sentences of the same probabilities are drawn apart"
    other = SampleOptions(count=20, seed=2, max_ratio=0.0, max_extra=3)
    assert sample(Table(*books), sources(4), [10, 11, 12, 13], other) != together


def test_more_draws_begin_with_the_same() -> None:
    book = random_book(1, 3)
    assert drawn(book, count=30)[:10] == drawn(book, count=10)
    assert len(set(drawn(book, count=30))) > 5


def test_neighbouring_sentences_and_steps_are_independent() -> None:
    coin: Book = {words: {A: 0.5, B: 0.5} for words in every(3) if C not in words}
    for one, other in ((drawn(coin, number=1), drawn(coin, number=2)), (drawn(coin, seed=1), drawn(coin, seed=2))):
        agrees([(a[0], b[0]) for a, b in zip(one, other, strict=True)], dict.fromkeys([(A, A), (A, B), (B, A), (B, B)], 0.25))
    agrees(drawn(coin), {words: 1 / 8 for words in every(3) if C not in words and len(words) == 3})


def test_limits() -> None:
    endless: Book = {words: {A: 0.99, EOS: 0.01} for words in every(6)}
    options = SampleOptions(max_ratio=2.0, max_extra=0)
    assert {len(found[0].tokens) for found in sample(Table(endless), sources(1, [2]), [8], options)} == {4}
    assert {len(found[0].tokens) for found in sample(Table(endless), sources(1, [2]), [8], options, longest=3)} == {3}


def test_finished_sentences_leave_the_batch() -> None:
    model = Table({(): {A: 0.5, EOS: 0.5}})
    sample(model, sources(1), [1], SampleOptions(count=100))
    assert model.rows[0] == 100
    assert 0 < model.rows[1] < 100


def test_the_global_generator_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    drawn(ONE, count=5)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    "wrong", [{"count": 0}, {"temperature": 0.0}, {"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.1}, {"max_extra": -1}]
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong)).replace("max_extra", "must not be negative")):
        SampleOptions(**wrong)  # type: ignore[arg-type]
