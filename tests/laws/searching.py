"""Laws of searching: a score is a log-probability, and a beam that is wide enough finds the best sentence there is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import torch
from laws.cases import VOCABULARY, Case, Talkative, make, sources
from torch import Tensor

from sightline.decode.options import SearchOptions
from sightline.decode.search import beam_search
from sightline.models.interface import Translates
from sightline.text.tokenizer import BOS, EOS, PAD

WORDS = range(EOS + 1, VOCABULARY)
LONGEST = 3
EVERYTHING = tuple(words for length in range(LONGEST + 1) for words in product(WORDS, repeat=length))


def teacher_forced(model: Translates, source: Tensor, tokens: Sequence[int]) -> float:
    """A sentence's log-probability in one pass, alone and without padding."""
    inputs, wanted = torch.tensor([[BOS, *tokens]]), torch.tensor([[*tokens, EOS]])
    log_probs, _ = model(inputs, model.begin(source[source != PAD][None]))
    return float(log_probs.gather(-1, wanted[..., None]).double().sum())


@torch.no_grad()
def score(case: Case) -> float:
    """At several widths, for every hypothesis of every sentence."""
    model, worst = Talkative(make(case)), 0.0
    for beam in (1, 2, 5):
        options = SearchOptions(beam, n_best=beam, length_penalty=0.0, max_ratio=1.0, max_extra=1)
        found = beam_search(model, sources(), options)
        for source, hypotheses in zip(sources(), found, strict=True):
            if not hypotheses:
                return math.inf
            for hypothesis in hypotheses:
                worst = max(worst, abs(hypothesis.log_probability - teacher_forced(model, source, hypothesis.tokens)))
    return worst


@torch.no_grad()
def enumeration(case: Case) -> float:
    """The best of all sentences of up to three words out of three, with and without a length penalty, and the next best."""
    model, worst = Talkative(make(case)), 0.0
    for penalty in (0.0, 1.0):
        options = SearchOptions(len(EVERYTHING), n_best=5, length_penalty=penalty, max_ratio=0.0, max_extra=LONGEST)
        found = beam_search(model, sources(), options)
        for source, hypotheses in zip(sources(), found, strict=True):
            ranked = sorted(((total / ((5 + size) / 6) ** penalty, words) for words, size, total in _all_scores(model, source)))
            best = ranked[: -options.n_best - 1 : -1]
            if [words for _, words in best] != [hypothesis.tokens for hypothesis in hypotheses]:
                return math.inf
            worst = max([worst, *(abs(a - b.score) for (a, _), b in zip(best, hypotheses, strict=True))])
    return worst


def _all_scores(model: Translates, source: Tensor) -> Iterator[tuple[tuple[int, ...], int, float]]:
    """Every sentence, its length with the end mark and its log-probability."""
    filled = torch.tensor([[BOS, *words, *[EOS] * (LONGEST + 1 - len(words))] for words in EVERYTHING])
    log_probs, _ = model(filled[:, :-1], model.begin(source[source != PAD].expand(len(EVERYTHING), -1)))
    each = log_probs.gather(-1, filled[:, 1:, None]).squeeze(-1).double()
    for words, row in zip(EVERYTHING, each, strict=True):
        yield words, len(words) + 1, float(row[: len(words) + 1].sum())
