"""The engine that runs everything: any model, any search, on PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
import torch
from torch import nn

from sightline.data.batches import by_length
from sightline.decode.options import Hypothesis, SampleOptions, SearchOptions
from sightline.decode.sample import sample
from sightline.decode.search import Prefixes, beam_search
from sightline.models.interface import Translates
from sightline.tasks.translation import padded
from sightline.text.tokenizer import EOS

BATCH_TOKENS = 4096  # source tokens searched together, padding included
BATCH_CHOICES = 1 << 25  # hypotheses × vocabulary that are ranked together: 128 MB in fp32


class TorchEngine:
    """Searches in batches of sentences of like length. `vocabulary`: how many pieces the model chooses among."""

    def __init__(self, model: Translates, vocabulary: int) -> None:
        self.model, self.vocabulary = model, vocabulary

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return self._weight.device

    @property
    def recipe(self) -> str:
        """Its numbers, and the device where that is not the processor."""
        numbers = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}.get(self._weight.dtype, "fp64")
        return f"torch {numbers}" if self.device.type == "cpu" else f"torch {numbers}, {self.device.type}"

    def can(self, options: SearchOptions) -> str:
        """Everything."""
        return ""

    def search(
        self, sources: Sequence[Sequence[int]], options: SearchOptions, prefixes: Prefixes | None, longest: int
    ) -> list[list[Hypothesis]]:
        """Beam search, batch by batch."""
        found: list[list[Hypothesis]] = [[] for _ in sources]
        for rows in self._batches(sources, options.beam):
            starts = [prefixes[row] for row in rows] if prefixes is not None else None
            batch = self._padded([sources[row] for row in rows])
            for row, own in zip(rows, beam_search(self.model, batch, options, starts, longest), strict=True):
                found[row] = own
        return found

    def sample(
        self, sources: Sequence[Sequence[int]], numbers: Sequence[int], options: SampleOptions, longest: int
    ) -> list[list[Hypothesis]]:
        """`count` translations drawn for each source, in the order drawn; `numbers` tells the sources apart."""
        found: list[list[Hypothesis]] = [[] for _ in sources]
        for rows in self._batches(sources, options.count):
            batch = self._padded([sources[row] for row in rows])
            for row, own in zip(rows, sample(self.model, batch, [numbers[r] for r in rows], options, longest), strict=True):
                found[row] = own
        return found

    @property
    def _weight(self) -> nn.Parameter:
        return next(cast(nn.Module, self.model).parameters())

    def _batches(self, sources: Sequence[Sequence[int]], width: int) -> Iterator[list[int]]:
        most = max(1, BATCH_CHOICES // (width * self.vocabulary))
        lengths = np.array([len(source) for source in sources], np.int32)
        for rows in by_length(lengths, BATCH_TOKENS, most) if sources else ():
            yield rows.tolist()

    def _padded(self, sources: Sequence[Sequence[int]]) -> torch.Tensor:
        return padded([[*source, EOS] for source in sources]).to(self.device)
