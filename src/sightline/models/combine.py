"""Predictors made of predictors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from sightline.models.interface import Translates
from sightline.nn.state import State


class Ensemble(nn.Module):
    """The mean of several models' probabilities. They may be of unlike kinds but must share their vocabularies."""

    def __init__(self, models: Sequence[Translates]) -> None:
        super().__init__()
        self.models = nn.ModuleList(cast(Sequence[nn.Module], models))

    def begin(self, source: Int[Tensor, "B S"]) -> State:
        states = [model.begin(source) for model in self.models]  # type: ignore[operator]
        return State(tuple(s.fixed for s in states), tuple(s.live for s in states))

    def forward(self, tokens: Int[Tensor, "B T"], state: State) -> tuple[Float[Tensor, "B T V"], State]:
        votes, live = [], []
        for model, fixed, own in zip(self.models, state.fixed, state.live, strict=True):  # type: ignore[arg-type]
            log_probs, after = model(tokens, State(fixed, own, state.length))
            votes.append(log_probs)
            live.append(after.live)
        mean = torch.logsumexp(torch.stack(votes), 0) - math.log(len(votes))
        return mean, State(state.fixed, tuple(live), state.length + tokens.size(1))
