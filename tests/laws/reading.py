"""Laws of reading: in pieces, from left to right, in company, and with every parameter at work."""

from __future__ import annotations

import math
from itertools import combinations

import torch
from laws.cases import SAMPLES, Case, Model, Talkative, begin, make, noise, sources, targets
from torch import Tensor

from sightline.decode.options import SearchOptions
from sightline.decode.search import beam_search
from sightline.models.seq2seq import LanguageModel
from sightline.nn.noise import Noise
from sightline.nn.state import State
from sightline.text.tokenizer import PAD


def gap(a: Tensor, b: Tensor) -> float:
    """The largest difference; not a number counts as infinite."""
    largest = float((a - b).abs().max())
    return math.inf if math.isnan(largest) else largest


def noises(case: Case) -> tuple[Noise | None, ...]:
    """Without dropout and with it; an ensemble is never trained as one."""
    return (None,) if case.is_ensemble else (None, noise())


def in_pieces(model: Model, tokens: Tensor, start: State, cuts: tuple[int, ...]) -> Tensor:
    """Read the tokens in pieces that begin at the cuts."""
    outputs, state = [], start
    for piece in tokens.tensor_split(cuts, 1):
        out, state = model(piece, state)
        outputs.append(out)
    return torch.cat(outputs, 1)


@torch.no_grad()
def stream(case: Case) -> float:
    """Every way of cutting the target, each time from the same state, which reading must leave as it was."""
    model, tokens, worst = make(case), targets(5), 0.0
    places = range(1, tokens.size(1))
    for chance in noises(case):
        start = begin(model, sources(), chance)
        whole, _ = model(tokens, start)
        for count in (1, 2, 3, 4) if chance is None else (1, 4):
            for cuts in combinations(places, count):
                worst = max(worst, gap(in_pieces(model, tokens, start, cuts), whole))
    return worst


@torch.no_grad()
def causal(case: Case) -> float:
    """Other tokens from some place on: nothing changes before it."""
    model, tokens, worst = make(case), targets(), 0.0
    start = begin(model, sources())
    whole, _ = model(tokens, start)
    for place in range(1, tokens.size(1)):
        other = tokens.clone()
        other[:, place:] = 3 + (other[:, place:] - 2) % 3
        changed, _ = model(other, start)
        worst = max(worst, gap(changed[:, :place], whole[:, :place]))
    return worst


@torch.no_grad()
def company(case: Case) -> float:
    """Each sentence alone, without padding, against all together: outputs (dropout on and off), memory and search."""
    model, source, tokens, worst = make(case), sources(), targets(), 0.0
    for chance in noises(case):
        together, _ = model(tokens, begin(model, source, chance))
        for row, alone in enumerate(source):
            own = None if chance is None else noise(SAMPLES[row : row + 1])
            out, _ = model(tokens[row : row + 1], begin(model, alone[alone != PAD][None], own))
            worst = max(worst, gap(out, together[row : row + 1]))
    options = SearchOptions(beam=2, n_best=2, max_ratio=1.0, max_extra=1)
    found = beam_search(Talkative(model), source, options)
    for row, alone in enumerate(source):
        (own_best,) = beam_search(Talkative(model), alone[alone != PAD][None], options)
        if [h.tokens for h in own_best] != [h.tokens for h in found[row]]:
            return math.inf
        worst = max([worst, *(abs(a.score - b.score) for a, b in zip(own_best, found[row], strict=True))])
    return worst


def gradient(case: Case) -> float:
    """How many parameters a loss leaves without a gradient."""
    model, tokens = make(case), targets(8)
    assert isinstance(model, LanguageModel) or not case.is_ensemble
    log_probs, _ = model(tokens[:, :-1], begin(model, sources()))
    (-log_probs.gather(-1, tokens[:, 1:, None]).sum()).backward()
    idle = [n for n, p in model.named_parameters() if p.grad is None or not bool(p.grad.isfinite().all() and p.grad.any())]
    return float(len(idle))
