"""Sentences drawn at random: a function of (seed, sentence, draw, position), not of the company they are drawn in."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from sightline.decode.options import Hypothesis, SampleOptions
from sightline.decode.rank import normalised
from sightline.models.interface import Predictor, Translates
from sightline.nn.noise import GOLDEN, mix
from sightline.nn.state import State
from sightline.text.tokenizer import BOS, EOS, PAD


@torch.no_grad()
def sample(
    model: Translates,
    source: Int[Tensor, "B S"],
    numbers: Sequence[int],
    options: SampleOptions,
    longest: int | None = None,
) -> list[list[Hypothesis]]:
    """`count` translations of each sentence, in the order drawn; `numbers` tells the sentences apart.

    `longest`: the most tokens that the model can write.
    """
    limits = [options.limit(length - 1, longest) for length in source.ne(PAD).sum(1).tolist()]
    keys = torch.tensor(numbers, dtype=torch.int64, device=source.device)
    return draw(model, model.begin(source), keys, limits, options)


def draw(
    predictor: Predictor, start: State, keys: Int[Tensor, " B"], limits: Sequence[int], options: SampleOptions
) -> list[list[Hypothesis]]:
    """`count` sentences from each row of `start`."""
    count, rows = options.count, len(limits)
    state = start.repeat(count)
    alive = torch.arange(rows * count, device=keys.device)
    keys = _keys(options.seed, keys, count)
    most = torch.tensor(limits, device=keys.device).repeat_interleave(count)
    texts: list[list[int]] = [[] for _ in range(rows * count)]
    totals = torch.zeros(rows * count, dtype=torch.float64, device=keys.device)
    tokens = torch.full((rows * count,), BOS, device=keys.device)
    step = 0
    while len(alive):
        log_probs, state = predictor(tokens[:, None], state)
        last = log_probs[:, -1].clone()
        last[:, [PAD, BOS]] = -torch.inf
        tokens = _pick(_filtered(last, options), _uniform(keys[alive], step))
        tokens = torch.where(most[alive] <= step, EOS, tokens)
        totals[alive] += last.gather(1, tokens[:, None]).squeeze(1).double()
        going = tokens.ne(EOS).nonzero().squeeze(1)
        for row, token in zip(alive[going].tolist(), tokens[going].tolist(), strict=True):
            texts[row].append(token)
        if len(going) < len(alive):
            alive, tokens, state = alive[going], tokens[going], state.select(going)
        step += 1
    drawn = [
        Hypothesis(tuple(text), total, normalised(total, len(text) + 1, 1.0))
        for text, total in zip(texts, totals.tolist(), strict=True)
    ]
    return [drawn[row * count : (row + 1) * count] for row in range(rows)]


def _keys(seed: int, numbers: Int[Tensor, " B"], count: int) -> Int[Tensor, " N"]:
    """A key per draw."""
    draws = torch.arange(1, count + 1, device=numbers.device)
    sentences = mix(mix(torch.tensor(seed, device=numbers.device) + GOLDEN) ^ (numbers * GOLDEN))
    return mix(sentences[:, None] + draws * GOLDEN).flatten()


def _uniform(keys: Int[Tensor, " N"], step: int) -> Float[Tensor, " N"]:
    """Numbers in [0, 1) with 53 random bits."""
    bits = mix(keys + torch.tensor(step + 1) * GOLDEN)
    return ((bits >> 11) & ((1 << 53) - 1)).double() * 2.0**-53


def _filtered(log_probs: Float[Tensor, "N V"], options: SampleOptions) -> Float[Tensor, "N V"]:
    """Weights to draw by, not normalised. Of equally likely tokens the one with the lower number counts as likelier."""
    weights = torch.softmax(log_probs.double() / options.temperature, -1)
    if not options.top_k and options.top_p == 1:
        return weights
    ordered, places = weights.sort(stable=True, dim=-1, descending=True)
    if options.top_k:
        ordered[:, options.top_k :] = 0.0
    if options.top_p < 1:
        before = ordered.cumsum(-1) - ordered
        ordered = ordered.where(before < options.top_p * ordered.sum(-1, keepdim=True), 0.0)
    return torch.zeros_like(weights).scatter(1, places, ordered)


def _pick(weights: Float[Tensor, "N V"], uniform: Float[Tensor, " N"]) -> Int[Tensor, " N"]:
    """The token at which the running sum passes the drawn share of the whole."""
    sums = weights.cumsum(-1)
    return torch.searchsorted(sums, (uniform * sums[:, -1])[:, None], right=True).squeeze(1).clamp(max=weights.size(1) - 1)
