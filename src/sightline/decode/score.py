"""How likely a model finds given pairs: one teacher-forced pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import nn

from sightline.data.batches import by_length
from sightline.models.interface import Translates
from sightline.tasks.translation import make_batch
from sightline.text.tokenizer import Tokenizer

BATCH_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class PairScore:
    """Of one pair: the log-probability of each target piece, the end mark last."""

    pieces: tuple[str, ...]
    log_probabilities: tuple[float, ...]

    @property
    def total(self) -> float:
        """Of the whole target."""
        return sum(self.log_probabilities)

    @property
    def perplexity(self) -> float:
        """Per piece: as uncertain as a choice among so many."""
        return float(np.exp(-self.total / len(self.log_probabilities)))


@torch.no_grad()
def score_pairs(model: Translates, tokenizers: tuple[Tokenizer, Tokenizer], pairs: Sequence[tuple[str, str]]) -> list[PairScore]:
    """In the order given. White space around a text is left out, as in training."""
    sources = tokenizers[0].encode_batch([source.strip() for source, _ in pairs])
    targets = tokenizers[1].encode_batch([target.strip() for _, target in pairs])
    device = next(cast(nn.Module, model).parameters()).device
    lengths = np.array([max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)], np.int32)
    found: dict[int, PairScore] = {}
    for rows in by_length(lengths, BATCH_TOKENS) if pairs else ():
        batch = make_batch([sources[row] for row in rows], [targets[row] for row in rows]).to(device)
        log_probs, _ = model(batch.inputs, model.begin(batch.source))
        own = log_probs.flatten(0, 1)[batch.real].gather(1, batch.targets[:, None]).squeeze(1).tolist()
        for row in rows:
            count = len(targets[row]) + 1
            pieces = (*tokenizers[1].pieces(targets[row]), "</s>")
            found[int(row)], own = PairScore(pieces, tuple(own[:count])), own[count:]
    return [found[row] for row in range(len(pairs))]
