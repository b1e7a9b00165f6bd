"""The coverage penalty: a source token that nothing looked at costs what the formula says."""

from __future__ import annotations

import math

import pytest
import torch
from hand_table import EOS, VOCABULARY, A, B, Book, Table, sources
from torch import Tensor, nn

from sightline.decode.options import SearchOptions
from sightline.decode.rank import cross_attention, normalised
from sightline.decode.search import beam_search
from sightline.errors import UserError
from sightline.nn.attention import Attention
from sightline.nn.state import State

# What each token looks at, once it has been read: shares of source token 0, source token 1, end mark.
LOOKS = {1: (0.8, 0.1, 0.1), A: (0.6, 0.2, 0.2), B: (0.05, 0.9, 0.05)}
SAYS: Book = {(): {A: 1.0}, (A,): {A: 0.6, B: 0.4}, (A, A): {EOS: 1.0}, (A, B): {EOS: 1.0}}


class Looker(Table):
    """A table that looks at its source as `LOOKS` says: softmax(log share) is the share."""

    def __init__(self, *books: Book) -> None:
        super().__init__(*books)
        self.cross = Attention(score=lambda q, k: q @ k.transpose(-1, -2))
        shares = torch.full((VOCABULARY, 3), 1 / 3)
        for token, row in LOOKS.items():
            shares[token] = torch.tensor(row)
        self.shares = nn.Parameter(shares.log())

    def forward(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        q = self.shares[tokens][:, None]
        places = torch.eye(3).expand(len(tokens), 1, 3, 3)
        self.cross(q, places, places)
        return super().forward(tokens, state)


def cost(*read: int) -> float:
    """Σ over source tokens of log min(1, Σ over what was read of its share)."""
    return sum(math.log(min(1.0, sum(LOOKS[token][place] for token in read))) for place in range(3))


def test_looks_are_summed_over_the_sentence() -> None:
    looked = cross_attention(Looker(SAYS), sources(1, [2])[0], [(A, A), (A,)])
    expected = [[0.8 + 0.6 + 0.6, 0.1 + 0.2 + 0.2, 0.1 + 0.2 + 0.2], [0.8 + 0.6, 0.1 + 0.2, 0.1 + 0.2]]
    torch.testing.assert_close(looked, torch.tensor(expected))


@pytest.mark.parametrize("beta", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_penalty_is_its_formula(alpha: float, beta: float) -> None:
    options = SearchOptions(beam=2, n_best=2, length_penalty=alpha, coverage_penalty=beta, max_ratio=0.0, max_extra=3)
    (found,) = beam_search(Looker(SAYS), sources(1, [2]), options)
    expected = {
        words: normalised(math.log(probability), 3, alpha) + beta * cost(1, *words)
        for words, probability in (((A, A), 0.6), ((A, B), 0.4))
    }
    assert {h.tokens: h.score for h in found} == pytest.approx(expected, abs=1e-5)
    assert found[0].score >= found[1].score


def test_it_prefers_the_sentence_that_looked_at_everything() -> None:
    def best(beta: float) -> tuple[int, ...]:
        options = SearchOptions(beam=2, length_penalty=0.0, coverage_penalty=beta, max_ratio=0.0, max_extra=3)
        return beam_search(Looker(SAYS), sources(1, [2]), options)[0][0].tokens

    assert cost(1, A, B) > cost(1, A, A)
    assert best(0.0) == (A, A)
    assert best(2.0) == (A, B)


def test_an_impossible_sentence_has_nothing_to_rank() -> None:
    options = SearchOptions(beam=2, coverage_penalty=1.0)
    assert beam_search(Looker(SAYS), sources(1, [2]), options, [[B]]) == [[]]


def test_a_model_that_does_not_look_cannot_be_asked() -> None:
    with pytest.raises(UserError, match="coverage penalty needs a model that looks at its source"):
        beam_search(Table(SAYS), sources(1, [2]), SearchOptions(beam=2, coverage_penalty=0.5))
