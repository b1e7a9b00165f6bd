"""The unigram model against all cuts of a word, counted one by one."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest

from sightline.text.learn import learn
from sightline.text.pipeline import FIRST_PIECE
from sightline.text.unigram import UNSEEN, learn_scores

WORDS = {"abab": 5, "ab": 4, "abc": 3, "ca": 2, "b": 1}
CHARACTERS = ["a", "b", "c"]
CANDIDATES = ["ab", "ba", "ca", "abab", "bab"]  # so that no word has two equally likely cuts


def cuts(word: str) -> list[list[str]]:
    """Every way to cut a word."""
    places = range(1, len(word))
    chosen = itertools.chain.from_iterable(itertools.combinations(places, n) for n in range(len(word)))
    return [[word[a:b] for a, b in itertools.pairwise([0, *ends, len(word)])] for ends in chosen]


def best_cut(word: str, scores: dict[str, float]) -> tuple[float, list[str]]:
    possible = [cut for cut in cuts(word) if all(piece in scores for piece in cut)]
    return max((sum(scores[piece] for piece in cut), cut) for cut in possible)


def test_scores_are_log_probabilities_likeliest_first() -> None:
    scores = learn_scores(WORDS, CHARACTERS, CANDIDATES, 8)
    assert [score for _, score in scores] == sorted((score for _, score in scores), reverse=True)
    assert sum(math.exp(score) for _, score in scores) == pytest.approx(1, abs=1e-5)


def test_two_rounds_of_counting_by_hand() -> None:
    """With room for all candidates nothing is let go: only the two counts of the best cuts, here over all cuts."""
    scores = dict.fromkeys([*CHARACTERS, *CANDIDATES], 0.0)
    scores = {piece: -math.log(len(scores)) for piece in scores}
    for _ in range(2):
        counts: Counter[str] = Counter()
        for word, count in WORDS.items():
            for piece in best_cut(word, scores)[1]:
                counts[piece] += count
        full = {piece: max(float(counts[piece]), UNSEEN) for piece in scores}
        scores = {piece: math.log(count / sum(full.values())) for piece, count in full.items()}
    found = dict(learn_scores(WORDS, CHARACTERS, CANDIDATES, 8))
    assert found.keys() == scores.keys()
    for piece, score in scores.items():
        assert found[piece] == pytest.approx(score, abs=2e-6), piece


def test_what_the_text_would_miss_least_goes_first() -> None:
    """abab is two likely pieces anyway; without ca its text would need an a, which nothing else needs."""
    kept = {piece for piece, _ in learn_scores(WORDS, CHARACTERS, CANDIDATES, 5)}
    assert kept == {*CHARACTERS, "ab", "ca"}
    assert {piece for piece, _ in learn_scores(WORDS, CHARACTERS, CANDIDATES, 1)} == set(CHARACTERS)


def test_no_words_and_no_candidates_leave_the_characters() -> None:
    assert learn_scores({}, ["a"], [], 5) == [("a", 0.0)]


def test_the_tokenizer_cuts_the_likeliest_way() -> None:
    tokenizer = learn(["abab ab abc ca b abab ab"] * 4, "unigram", FIRST_PIECE + 9, 1)
    pieces = tokenizer.pieces(range(FIRST_PIECE, tokenizer.size))
    assert pieces[0] == "▁ab"
    assert tokenizer.pieces(tokenizer.encode("abab")) in (["▁abab"], ["▁ab", "ab"])
