"""Which finished sentence wins: length and coverage penalties (Wu et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from sightline.decode.options import Hypothesis
from sightline.errors import UserError
from sightline.models.interface import Translates
from sightline.nn.attention import watch
from sightline.tasks.translation import padded
from sightline.text.tokenizer import BOS, PAD


def normalised(log_probability: float, tokens: int, length_penalty: float) -> float:
    """Without this a short sentence wins, because every further token costs."""
    return float(log_probability / ((5 + tokens) / 6) ** length_penalty)


def with_coverage(
    model: Translates, source: Int[Tensor, " S"], hypotheses: Sequence[Hypothesis], penalty: float
) -> list[Hypothesis]:
    """The hypotheses of one sentence, ranked anew: a source token that attention passed over costs."""
    if not hypotheses:
        return []
    looked = cross_attention(model, source, [hypothesis.tokens for hypothesis in hypotheses])
    costs = looked.clamp(min=1e-9, max=1.0).log().sum(-1)  # more than one look is no better than one
    ranked = [replace(h, score=h.score + penalty * float(cost)) for h, cost in zip(hypotheses, costs, strict=True)]
    return sorted(ranked, key=lambda hypothesis: -hypothesis.score)


def cross_attention(model: Translates, source: Int[Tensor, " S"], targets: Sequence[Sequence[int]]) -> Float[Tensor, "N S"]:
    """How much each of these sentences looked at each source token in all: by replay, the mean of all layers and heads."""
    assert isinstance(model, nn.Module)
    twin, notebook = watch(model)
    inputs = padded([[BOS, *tokens] for tokens in targets]).to(source.device)
    real = inputs.ne(PAD)
    twin(inputs, twin.begin(source.expand(len(targets), -1)))
    crossed = [torch.cat(notes, -2) for name, notes in notebook.items() if name.endswith("cross") and notes]
    if not crossed:
        raise UserError("a coverage penalty needs a model that looks at its source; this one has no cross-attention")
    mean = torch.stack([weights.float().mean(1) for weights in crossed]).mean(0)
    return (mean * real[..., None]).sum(1)
