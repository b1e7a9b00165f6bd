"""Predictors whose probabilities stand in the test: what a search must find can be worked out on paper."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from itertools import product

import torch
from torch import Tensor, nn

from sightline.nn.state import State
from sightline.text.tokenizer import BOS, EOS, PAD

A, B, C = 3, 4, 5
VOCABULARY = 6
WORDS = (A, B, C)
Words = tuple[int, ...]
Book = Mapping[Words, Mapping[int, float]]  # what has been written -> the probability of each next token


class Table(nn.Module):
    """A book of probabilities per source; the source's first token says which. What no book tells ends at once."""

    def __init__(self, *books: Book) -> None:
        super().__init__()
        self.books = books
        self.rows: list[int] = []  # of each call
        self.weight = nn.Parameter(torch.zeros(1))  # a model has some, and they are somewhere

    def begin(self, source: Tensor) -> State:
        return State(source[:, :1], torch.zeros(len(source), 0, dtype=torch.int64))

    def forward(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        assert isinstance(state.fixed, Tensor)
        assert isinstance(state.live, Tensor)
        self.rows.append(len(tokens))
        seen = torch.cat((state.live, tokens), 1)
        out = torch.full((*tokens.shape, VOCABULARY), -math.inf)
        for row, step in product(*map(range, tokens.shape)):
            written = tuple(seen[row, 1 : state.length + step + 1].tolist())
            book = self.books[int(state.fixed[row]) - A]
            for token, probability in book.get(written, {EOS: 1.0}).items():
                out[row, step, token] = math.log(probability)
        return out, State(state.fixed, seen, state.length + tokens.size(1))


def log_probability(book: Book, words: Words) -> float:
    """Of the whole sentence, end mark included."""
    total = 0.0
    for place, token in enumerate((*words, EOS)):
        probability = book.get(words[:place], {EOS: 1.0}).get(token, 0.0)
        total += math.log(probability) if probability else -math.inf
    return total


def every(longest: int) -> list[Words]:
    """All sentences up to a length."""
    return [words for length in range(longest + 1) for words in product(WORDS, repeat=length)]


def random_book(seed: int, longest: int) -> Book:
    """Lively probabilities after everything that can be written; ending is unlikely, or the shortest would always win."""
    chance = random.Random(seed)
    book = {}
    for words in every(longest):
        weights = {token: chance.random() ** 2 + 0.01 for token in WORDS} | {EOS: 0.3 * chance.random() + 0.01}
        book[words] = {token: weight / sum(weights.values()) for token, weight in weights.items()}
    return book


def sources(count: int, lengths: Sequence[int] | None = None) -> Tensor:
    """A source per book, of these many tokens without the end mark."""
    lengths = lengths or [1] * count
    rows = [[A + number, *[A] * (length - 1), EOS] for number, length in enumerate(lengths)]
    return torch.tensor([[*row, *[PAD] * (max(lengths) + 1 - len(row))] for row in rows])


def teacher_forced(model: nn.Module, source: Tensor, words: Words) -> float:
    """A sentence's log-probability by the model itself, in one pass."""
    log_probs, _ = model(torch.tensor([[BOS, *words]]), model.begin(source[None]))  # type: ignore[operator]
    return float(log_probs[0].gather(-1, torch.tensor([*words, EOS])[:, None]).double().sum())
