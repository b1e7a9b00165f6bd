"""Beam search over any predictor; greedy search is a beam of one.

A sentence is finished by its end mark alone: at its longest only the end mark is allowed, so that every hypothesis is a whole
sentence whose score is its teacher-forced log-probability. Finished sentences leave the batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor

from sightline.decode.options import Hypothesis, SearchOptions
from sightline.decode.rank import normalised, with_coverage
from sightline.models.interface import Predictor, Translates
from sightline.nn.state import State
from sightline.text.tokenizer import BOS, EOS, PAD

NEVER = -math.inf
Prefixes = Sequence[Sequence[int]]


@torch.no_grad()
def beam_search(
    model: Translates,
    source: Int[Tensor, "B S"],
    options: SearchOptions,
    prefixes: Prefixes | None = None,
    longest: int | None = None,
) -> list[list[Hypothesis]]:
    """The best translations of each sentence, best first.

    `prefixes`: how each must begin, be it longer than the options allow. `longest`: the most tokens that the model can write.
    """
    lengths = source.ne(PAD).sum(1).tolist()
    limits = [options.limit(length - 1, longest) for length in lengths]  # the end mark is not counted
    found = beam(model, model.begin(source), limits, options, prefixes, source.device)
    if options.coverage_penalty:
        found = [
            with_coverage(model, source[row, : lengths[row]], hypotheses, options.coverage_penalty)
            for row, hypotheses in enumerate(found)
        ]
    return [hypotheses[: options.n_best] for hypotheses in found]


@dataclass(slots=True)
class _Sentence:
    """One sentence while it is being searched."""

    limit: int
    prefix: tuple[int, ...]
    finished: list[Hypothesis] = field(default_factory=list)

    def finish(self, tokens: tuple[int, ...], log_probability: float, options: SearchOptions) -> None:
        score = normalised(log_probability, len(tokens) + 1, options.length_penalty)
        self.finished.append(Hypothesis(tokens, log_probability, score))
        self.finished.sort(key=lambda hypothesis: -hypothesis.score)
        del self.finished[options.beam :]

    def done(self, best_alive: float, options: SearchOptions) -> bool:
        """Enough were found, or no hypothesis still alive can reach the worst of those asked for."""
        if best_alive == NEVER or len(self.finished) >= options.beam:
            return True
        if len(self.finished) < options.n_best or options.coverage_penalty:
            return False
        reachable = normalised(best_alive, self.limit + 1, options.length_penalty)
        return reachable <= self.finished[options.n_best - 1].score


def beam(
    predictor: Predictor,
    start: State,
    limits: Sequence[int],
    options: SearchOptions,
    prefixes: Prefixes | None = None,
    device: torch.device | None = None,
) -> list[list[Hypothesis]]:
    """All finished hypotheses (at most `beam`) of each row of `start`, best first."""
    given = prefixes if prefixes is not None else [()] * len(limits)
    everyone = [_Sentence(max(limit, len(prefix)), tuple(prefix)) for limit, prefix in zip(limits, given, strict=True)]
    alive, width, state = list(everyone), options.beam, start.repeat(options.beam)
    history = torch.full((len(alive), width, 1), BOS, device=device)
    scores = torch.full((len(alive), width), NEVER, device=device)
    scores[:, 0] = 0.0  # at first the copies of a sentence are one hypothesis
    while alive:
        log_probs, state = predictor(history[:, :, -1].reshape(-1, 1), state)
        totals = scores[..., None] + log_probs[:, -1].view(len(alive), width, -1)
        _restrict(totals, alive, history.size(2) - 1)
        scores, parents, tokens = _best(totals, width)
        ends = tokens == EOS
        if bool(ends[:, :width].any()):
            _collect(alive, history, scores, parents, ends, options)
        scores, parents, tokens = _continued(scores, parents, tokens, ends, width)
        stay = [row for row, best in enumerate(scores[:, 0].tolist()) if not alive[row].done(best, options)]
        history, scores, state = _advance(history, scores, parents, tokens, state, stay)
        alive = [alive[row] for row in stay]
    return [sentence.finished for sentence in everyone]


def _restrict(totals: Float[Tensor, "R K V"], alive: list[_Sentence], step: int) -> None:
    """Never padding or a second beginning; what the prefix says; at the limit the end alone."""
    totals[..., PAD] = NEVER
    totals[..., BOS] = NEVER
    for row, sentence in enumerate(alive):
        only = sentence.prefix[step] if step < len(sentence.prefix) else EOS if step >= sentence.limit else None
        if only is not None:
            kept = totals[row, :, only].clone()
            totals[row] = NEVER
            totals[row, :, only] = kept


def _best(totals: Float[Tensor, "R K V"], width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Scores, parents and tokens of twice the beam: at worst half of them end here."""
    rows, _, vocabulary = totals.shape
    flat = totals.view(rows, -1)
    scores, places = flat.topk(min(2 * width, flat.size(1)))
    return scores, places // vocabulary, places % vocabulary


def _collect(
    alive: list[_Sentence], history: Tensor, scores: Tensor, parents: Tensor, ends: Tensor, options: SearchOptions
) -> None:
    """Those among the beam's best that end here are finished."""
    width = options.beam
    for row, place in (ends[:, :width] & (scores[:, :width] > NEVER)).nonzero().tolist():
        tokens = tuple(history[row, parents[row, place], 1:].tolist())
        alive[row].finish(tokens, float(scores[row, place]), options)


def _continued(scores: Tensor, parents: Tensor, tokens: Tensor, ends: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best `width` that do not end here, in their order."""
    scores = scores.masked_fill(ends, NEVER)
    scores, chosen = scores.topk(min(width, scores.size(1)))
    parents, tokens = parents.gather(1, chosen), tokens.gather(1, chosen)
    missing = width - scores.size(1)
    if missing > 0:  # a vocabulary smaller than the beam
        scores = torch.nn.functional.pad(scores, (0, missing), value=NEVER)
        parents, tokens = (torch.nn.functional.pad(each, (0, missing)) for each in (parents, tokens))
    return scores, parents, tokens


def _advance(
    history: Tensor, scores: Tensor, parents: Tensor, tokens: Tensor, state: State, stay: list[int]
) -> tuple[Tensor, Tensor, State]:
    """Follow the chosen hypotheses; finished sentences leave."""
    rows, width = parents.shape
    kept = torch.tensor(stay, dtype=torch.int64, device=parents.device)
    came_from = kept[:, None] * width + parents[kept]
    if len(stay) < rows:
        history, scores, parents, tokens = (each[kept] for each in (history, scores, parents, tokens))
        state = state.select(came_from.flatten())
    elif width > 1:
        state = state.reorder(came_from.flatten())
    history = history.gather(1, parents[..., None].expand(-1, -1, history.size(2)))
    return torch.cat((history, tokens[..., None]), -1), scores, state
