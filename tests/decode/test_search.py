"""Search on tables written by hand, against enumeration, and against a beam search in plain Python."""

from __future__ import annotations

import math

import pytest
import torch
from hand_table import (
    EOS,
    A,
    B,
    Book,
    C,
    Table,
    Words,
    every,
    log_probability,
    random_book,
    sources,
    teacher_forced,
)

from sightline.decode.options import Hypothesis, SearchOptions
from sightline.decode.rank import normalised
from sightline.decode.search import beam_search
from sightline.text.tokenizer import BOS, PAD

# The likelier first word leads to the less likely sentence: A (0.6·0.4) but B C (0.4·0.9·0.9).
TRAP: Book = {
    (): {A: 0.6, B: 0.4},
    (A,): {EOS: 0.4, B: 0.3, C: 0.3},
    (A, B): {EOS: 1.0},
    (A, C): {EOS: 1.0},
    (B,): {C: 0.9, EOS: 0.1},
    (B, C): {EOS: 0.9, A: 0.1},
}


def exactly(**changes: object) -> SearchOptions:
    """Ranked by log-probability, up to four tokens."""
    return SearchOptions(**({"length_penalty": 0.0, "max_ratio": 0.0, "max_extra": 4} | changes))  # type: ignore[arg-type]


def found_in(book: Book, **changes: object) -> list[Hypothesis]:
    (found,) = beam_search(Table(book), sources(1), exactly(**changes))
    return found


def test_greedy_walks_into_the_trap_and_a_beam_does_not() -> None:
    (greedy,) = found_in(TRAP, beam=1)
    assert greedy.tokens == (A,)
    assert greedy.log_probability == pytest.approx(math.log(0.6 * 0.4))
    (best,) = found_in(TRAP, beam=2)
    assert best.tokens == (B, C)
    assert best.log_probability == pytest.approx(math.log(0.4 * 0.9 * 0.9))


def test_the_n_best_stand_in_order_and_are_unlike() -> None:
    found = found_in(TRAP, beam=5, n_best=5)
    expected = [((B, C), 0.324), ((A,), 0.24), ((A, B), 0.18), ((A, C), 0.18), ((B,), 0.04)]
    assert [h.log_probability for h in found] == pytest.approx([math.log(p) for _, p in expected])
    assert {h.tokens for h in found} == {words for words, _ in expected}
    assert [h.tokens for h in found[:2]] == [(B, C), (A,)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_a_wide_beam_finds_what_enumeration_finds(seed: int, penalty: float) -> None:
    """Two sentences with limits of their own; the five best of each, with their scores."""
    books, longest = (random_book(seed, 4), random_book(seed + 100, 4)), (3, 2)
    options = SearchOptions(beam=41, n_best=5, length_penalty=penalty, max_ratio=1.0, max_extra=1)
    found = beam_search(Table(*books), sources(2, [2, 1]), options)
    for book, limit, hypotheses in zip(books, longest, found, strict=True):
        scores = {w: normalised(log_probability(book, w), len(w) + 1, penalty) for w in every(limit)}
        best = sorted(scores, key=scores.__getitem__, reverse=True)[:5]
        assert [h.tokens for h in hypotheses] == best
        assert [h.score for h in hypotheses] == pytest.approx([scores[words] for words in best], abs=1e-5)


def plain_beam(book: Book, width: int, limit: int, penalty: float, n_best: int) -> list[Words]:
    """The same search, one sentence at a time and without a tensor."""
    alive: list[tuple[float, Words]] = [(0.0, ())]
    finished: list[tuple[float, Words]] = []
    while alive and len(finished) < width:
        longer = [
            (total + math.log(probability), (*words, token))
            for total, words in alive
            for token, probability in book[words].items()
            if token == EOS or len(words) < limit
        ]
        longer.sort(key=lambda each: -each[0])
        for total, words in longer[:width]:
            if words[-1] == EOS:
                finished.append((normalised(total, len(words), penalty), words[:-1]))
        alive = [each for each in longer[: 2 * width] if each[1][-1] != EOS][:width]
        finished = sorted(finished, key=lambda each: -each[0])[:width]
        if alive and len(finished) >= n_best and normalised(alive[0][0], limit + 1, penalty) <= finished[n_best - 1][0]:
            break
    return [words for _, words in finished[:n_best]]


@pytest.mark.parametrize("width", [1, 2, 3, 5])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_narrow_beam_finds_what_a_plain_one_finds(width: int, penalty: float) -> None:
    books = [random_book(seed, 5) for seed in range(3)]
    for n_best in {1, width}:
        options = SearchOptions(beam=width, n_best=n_best, length_penalty=penalty, max_ratio=0.0, max_extra=5)
        found = beam_search(Table(*books), sources(3), options)
        for book, hypotheses in zip(books, found, strict=True):
            assert [h.tokens for h in hypotheses] == plain_beam(book, width, 5, penalty, n_best)


@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    book, words = random_book(seed, 5), ()
    while len(words) < 5:
        token = max(book[words], key=book[words].__getitem__)
        if token == EOS:
            break
        words = (*words, token)
    (greedy,) = found_in(book, beam=1, max_extra=5)
    assert greedy.tokens == words


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_a_score_is_the_teacher_forced_log_probability(beam: int) -> None:
    """Also of sentences that were cut off by the limit: their end mark counts."""
    books = [random_book(seed, 3) for seed in range(3)]
    model, source = Table(*books), sources(3)
    for row, hypotheses in enumerate(beam_search(model, source, exactly(beam=beam, n_best=beam, max_extra=2))):
        assert hypotheses
        for hypothesis in hypotheses:
            assert hypothesis.score == hypothesis.log_probability
            assert hypothesis.log_probability == pytest.approx(log_probability(books[row], hypothesis.tokens), abs=1e-5)
            assert hypothesis.log_probability == pytest.approx(teacher_forced(model, source[row], hypothesis.tokens), abs=1e-5)


def test_the_length_penalty_makes_long_sentences_win() -> None:
    """A is likelier than B C A; divided by ((5 + 2) / 6)^α and ((5 + 4) / 6)^α the order turns."""
    book: Book = {
        (): {A: 0.5, B: 0.5},
        (A,): {EOS: 0.6, C: 0.4},
        (A, C): {EOS: 0.1, C: 0.9},
        (B,): {C: 0.8, A: 0.2},
        (B, C): {A: 0.8, C: 0.2},
        (B, C, A): {EOS: 0.9, A: 0.1},
    }
    short, long = math.log(0.5 * 0.6), math.log(0.5 * 0.8 * 0.8 * 0.9)
    for alpha in (0.0, 0.3, 1.0, 2.0):
        scores = {(A,): short / ((5 + 2) / 6) ** alpha, (B, C, A): long / ((5 + 4) / 6) ** alpha}
        found = found_in(book, beam=4, n_best=4, length_penalty=alpha)
        assert found[0].tokens == max(scores, key=scores.__getitem__)
        told = {h.tokens: h.score for h in found}
        assert {words: told[words] for words in scores} == pytest.approx(scores)
    assert found_in(book, beam=4, length_penalty=0.0)[0].tokens == (A,)
    assert found_in(book, beam=4, length_penalty=2.0)[0].tokens == (B, C, A)


def test_no_sentence_is_longer_than_its_limit() -> None:
    endless: Book = {words: {A: 0.34, B: 0.33, C: 0.329, EOS: 0.001} for words in every(6)}
    source = sources(1, [2]).repeat(2, 1)
    source[1, 1:] = torch.tensor([EOS, PAD])  # one token where the first has two
    for options, longest, lengths in (
        (SearchOptions(beam=2, max_ratio=2.0, max_extra=1), None, [5, 3]),
        (SearchOptions(beam=2, max_ratio=2.0, max_extra=1), 4, [4, 3]),
        (SearchOptions(beam=1, max_ratio=0.0, max_extra=0), None, [0, 0]),
        (SearchOptions(beam=3, max_ratio=1.5, max_extra=0), None, [3, 1]),
    ):
        found = beam_search(Table(endless), source, options, longest=longest)
        assert [len(hypotheses[0].tokens) for hypotheses in found] == lengths


def test_a_prefix_is_how_it_begins_and_counts_in_the_score() -> None:
    (best,) = beam_search(Table(TRAP), sources(1), exactly(beam=3), [[A]])[0]
    assert best.tokens == (A,)
    (best,) = beam_search(Table(TRAP), sources(1), exactly(beam=3), [[A, C]])[0]
    assert (best.tokens, best.log_probability) == ((A, C), pytest.approx(math.log(0.6 * 0.3)))


@pytest.mark.parametrize("beam", [1, 3, 41])
def test_with_a_prefix_it_is_the_best_that_begins_so(beam: int) -> None:
    """Each sentence of a batch has its own, or none; a wide beam finds the best of all that begin so."""
    books = [random_book(seed, 4) for seed in range(4)]
    prefixes: list[Words] = [(C,), (), (B, A), (A, A, A)]
    found = beam_search(Table(*books), sources(4), exactly(beam=beam, max_extra=3), prefixes)
    for book, prefix, (best,) in zip(books, prefixes, found, strict=True):
        assert best.tokens[: len(prefix)] == prefix
        assert best.log_probability == pytest.approx(log_probability(book, best.tokens), abs=1e-5)
        if beam == 41:
            rivals = [words for words in every(3) if words[: len(prefix)] == prefix]
            assert best.tokens == max(rivals, key=lambda words: log_probability(book, words))


def test_a_prefix_may_be_longer_than_the_limit() -> None:
    """Then it is the whole sentence."""
    book = random_book(1, 4)
    for beam in (1, 3):
        (best,) = beam_search(Table(book), sources(1), exactly(beam=beam, max_extra=2), [[C, C, C, B]])[0]
        assert best.tokens == (C, C, C, B)
        assert best.log_probability == pytest.approx(log_probability(book, (C, C, C, B)), abs=1e-5)


def test_an_impossible_prefix_gives_nothing_and_does_not_disturb_the_others() -> None:
    found = beam_search(Table(TRAP, TRAP), sources(2), exactly(beam=2), [[C], []])
    assert found[0] == []
    assert found[1][0].tokens == (B, C)


def test_company_changes_nothing() -> None:
    books = [random_book(seed, 4) for seed in range(5)]
    options = exactly(beam=3, n_best=3)
    together = beam_search(Table(*books), sources(5), options)
    for book, expected in zip(books, together, strict=True):
        (alone,) = beam_search(Table(book), sources(1), options)
        assert alone == expected


def test_finished_sentences_leave_the_batch() -> None:
    """The second ends after one word, the first goes on: from then on only its rows are computed."""
    long: Book = {(A,) * n: {A: 1.0} for n in range(4)} | {(A,) * 4: {EOS: 1.0}}
    model = Table(long, {(): {B: 1.0}})
    found = beam_search(model, sources(2), exactly(beam=2))
    assert [best.tokens for best, *_ in found] == [(A,) * 4, (B,)]
    assert model.rows == [4, 4, 2, 2, 2]


def test_what_may_yet_win_by_its_length_is_followed() -> None:
    """ln 0.55 against ln 0.45: behind at two tokens (÷ 7/6), ahead at four (÷ 9/6)."""
    book: Book = {(): {EOS: 0.55, A: 0.45}, (A,): {B: 1.0}, (A, B): {C: 1.0}}
    assert math.log(0.45) / (7 / 6) < math.log(0.55) < math.log(0.45) / (9 / 6)
    assert found_in(book, beam=2, length_penalty=1.0)[0].tokens == (A, B, C)


def test_a_hopeless_hypothesis_is_not_followed() -> None:
    """What is alive cannot reach what was found, whatever follows: the search is over long before the limit."""
    book: Book = {(): {EOS: 0.9, A: 0.1}} | {(A,) * n: {A: 1.0} for n in range(1, 50)}
    model = Table(book)
    beam_search(model, sources(1), exactly(beam=2, max_extra=40))
    assert len(model.rows) == 1


def test_padding_and_beginning_are_never_written() -> None:
    book: Book = {(): {PAD: 0.4, BOS: 0.4, A: 0.2}}
    for beam in (1, 2):
        assert found_in(book, beam=beam)[0].tokens == (A,)


def test_a_beam_wider_than_the_vocabulary() -> None:
    found = found_in(random_book(3, 2), beam=30, n_best=30, max_extra=2)
    assert len(found) == len(every(2)) == 1 + 3 + 9
    assert {h.tokens for h in found} == set(every(2))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"beam": 0}, "must be at least 1"),
        ({"n_best": 0}, "must be at least 1"),
        ({"beam": 2, "n_best": 3}, "n_best=3 sentences cannot come out of beam=2"),
        ({"length_penalty": -1.0}, "must not be negative"),
        ({"coverage_penalty": -1.0}, "must not be negative"),
        ({"max_extra": -1}, "must not be negative"),
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SearchOptions(**wrong)  # type: ignore[arg-type]


def test_the_search_keeps_no_gradient() -> None:
    model = Table(TRAP)
    beam_search(model, sources(1), exactly())
    assert model.weight.grad is None
