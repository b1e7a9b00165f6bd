"""How good is a model in training? By loss on the development pairs, and by translating some of them."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from torch import nn

from sightline.data.batches import BatchOrder, by_length
from sightline.data.prepare import Prepared
from sightline.decode.options import SearchOptions
from sightline.decode.translate import Translator
from sightline.evaluate.metrics import quick_bleu, quick_chrf
from sightline.models.seq2seq import Seq2Seq
from sightline.tasks.translation import TranslationTask
from sightline.train.config import RunConfig

BATCH_TOKENS = 4096


class Judge:
    """Figures of a model: `loss` per token, not smoothed, and BLEU and chrF of greedy translations."""

    def __init__(self, prepared: Prepared, config: RunConfig) -> None:
        dev = prepared.dev
        self.task = TranslationTask(dev, BatchOrder(dev.source_lengths, dev.target_lengths, 1 << 20, 0))
        self.batches = by_length(np.maximum(dev.source_lengths, dev.target_lengths), BATCH_TOKENS)
        self.tokens = self.task.tokens(np.arange(len(dev)))
        self.tokenizers, self.max_length = prepared.tokenizers, config.model.max_length
        texts = prepared.dev_texts()[: config.train.validate_sentences]
        self.sources, self.references = [source for source, _ in texts], [target for _, target in texts]

    def __call__(self, model: nn.Module) -> dict[str, float]:
        with torch.no_grad():
            loss = sum(float(self.task.loss(model, rows, 0, None)) for rows in self.batches) / self.tokens
        figures = {"loss": loss}
        if self.sources:
            translator = Translator(cast(Seq2Seq, model), self.tokenizers, self.max_length)
            found = [translation.text for translation in translator.translate(self.sources, SearchOptions(beam=1))]
            figures |= {"bleu": quick_bleu(found, self.references), "chrf": quick_chrf(found, self.references)}
        return figures
