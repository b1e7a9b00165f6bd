"""Laws of watching: it changes nothing, what it shows are shares, and a replay shows what the steps saw."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from laws.cases import Case, Model, begin, make, sources, targets
from laws.reading import gap, noises
from torch import Tensor

from sightline.nn.attention import Attention, watch
from sightline.text.tokenizer import PAD


def joined(notes: list[Tensor]) -> Tensor:
    """A module's notes of one reading, one after the other; where there were fewer keys yet, nobody looked."""
    keys = max(note.size(-1) for note in notes)
    return torch.cat([F.pad(note, (0, keys - note.size(-1))) for note in notes], -2)


def attending(model: Model) -> list[Attention]:
    """All modules that look."""
    return [module for module in model.modules() if isinstance(module, Attention)]


@torch.no_grad()
def watching(case: Case) -> float:
    """The twin gives the same outputs with the same parameters, and the model does not know of it."""
    model, tokens, worst = make(case), targets(), 0.0
    for chance in noises(case):
        before, _ = model(tokens, begin(model, sources(), chance))
        twin, notebook = watch(model)
        seen, _ = twin(tokens, begin(twin, sources(), chance))
        after, _ = model(tokens, begin(model, sources(), chance))
        own, shared = list(model.parameters()), list(twin.parameters())
        same = len(own) == len(shared) and all(a is b for a, b in zip(own, shared, strict=True))
        untouched = all(module.notes is None for module in attending(model))
        if not (same and untouched and len(notebook) == len(attending(model)) and all(notebook.values())):
            return math.inf
        worst = max(worst, gap(seen, before), gap(after, before))
    return worst


@torch.no_grad()
def shares(case: Case) -> float:
    """Rows sum to one; exactly nothing goes to padding or to a later token."""
    twin, notebook = watch(make(case))
    source, tokens, worst = sources(), targets(), 0.0
    twin(tokens, begin(twin, source))
    padding = (source == PAD)[:, None, None, :]
    later = torch.ones(tokens.size(1), tokens.size(1), dtype=torch.bool).triu(1)
    for name, notes in notebook.items():
        weights = joined(notes)
        of_source = name.endswith("cross") or "encoder" in name.split(".")
        if bool(weights.masked_select(padding if of_source else later).any()) or bool((weights < 0).any()):
            return math.inf
        worst = max(worst, gap(weights.sum(-1), torch.ones(())))
    return worst if notebook else math.inf


@torch.no_grad()
def replay(case: Case) -> float:
    """The whole target in one teacher-forced pass shows what one saw who wrote it word by word."""
    model, tokens, worst = make(case), targets(), 0.0
    at_once, whole = watch(model)
    at_once(tokens, begin(at_once, sources()))
    stepping, stepwise = watch(model)
    state = begin(stepping, sources())
    for token in tokens.split(1, 1):
        _, state = stepping(token, state)
    if whole.keys() != stepwise.keys():
        return math.inf
    for name in whole:
        one, other = joined(whole[name]), joined(stepwise[name])
        worst = max(worst, gap(one, other) if one.shape == other.shape else math.inf)
    return worst
