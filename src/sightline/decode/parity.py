"""Do two engines write the same? Greedy translations compared token for token, and whether rounding explains a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from sightline.decode.engine import Engine
from sightline.decode.options import SearchOptions
from sightline.decode.torch_engine import TorchEngine
from sightline.tasks.translation import padded
from sightline.text.tokenizer import BOS, EOS

TIE = 1e-3  # pieces whose log-probabilities are as near may change places by rounding in fp32


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two translations of a sentence part."""

    row: int
    place: int  # the first unlike token
    tokens: tuple[int, int]  # PyTorch's and the other's
    lead: float  # by how much PyTorch finds its own more likely, in log-probability

    @property
    def is_tie(self) -> bool:
        """Rounding explains it."""
        return abs(self.lead) <= TIE


@dataclass(frozen=True, slots=True)
class Parity:
    """Of how many sentences, where they differ."""

    sentences: int
    differences: tuple[Difference, ...]

    @property
    def equal(self) -> int:
        """Sentences that are the same to the last token."""
        return self.sentences - len(self.differences)

    @property
    def faults(self) -> tuple[Difference, ...]:
        """Those that rounding does not explain, the clearest first."""
        return tuple(sorted((each for each in self.differences if not each.is_tie), key=lambda each: -abs(each.lead)))


def compare(reference: TorchEngine, other: Engine, sources: Sequence[Sequence[int]], longest: int) -> Parity:
    """Both translate these rows by greedy search."""
    options = SearchOptions(beam=1)
    own, others = (engine.search(sources, options, None, longest) for engine in (reference, other))
    pairs = [((*first.tokens, EOS), (*second.tokens, EOS)) for (first,), (second,) in zip(own, others, strict=True)]
    differing = [row for row, (first, second) in enumerate(pairs) if first != second]
    return Parity(len(sources), tuple(_difference(reference, row, sources[row], *pairs[row]) for row in differing))


@torch.no_grad()
def _difference(
    reference: TorchEngine, row: int, source: Sequence[int], first: Sequence[int], second: Sequence[int]
) -> Difference:
    place = next(place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    model, device = reference.model, reference.device
    tokens = padded([[BOS, *first[:place]]]).to(device)
    log_probs, _ = model(tokens, model.begin(padded([[*source, EOS]]).to(device)))
    a, b = first[place], second[place]
    return Difference(row, place, (a, b), float(log_probs[0, -1, a] - log_probs[0, -1, b]))
