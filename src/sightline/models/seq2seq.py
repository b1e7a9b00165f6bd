"""Whole models: an encoder and a decoder, or a decoder alone. Both are predictors."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from sightline.models.interface import Decoder, Encoder
from sightline.nn.layers import OutputLayer
from sightline.nn.noise import Noise
from sightline.nn.state import Memory, State
from sightline.text.tokenizer import PAD


def log_probabilities(logits: Float[Tensor, "*rows V"]) -> Float[Tensor, "*rows V"]:
    """Always in fp32: a sum of many log-probabilities ranks hypotheses."""
    return torch.log_softmax(logits, -1, dtype=torch.float32)


class Seq2Seq(nn.Module):
    """Encoder, decoder, output layer."""

    def __init__(self, encoder: Encoder, decoder: Decoder, head: OutputLayer) -> None:
        super().__init__()
        self.encoder, self.decoder, self.head = encoder, decoder, head

    def encode(self, source: Int[Tensor, "B S"], noise: Noise | None = None) -> Memory:
        """Read the source, padded with 0."""
        return self.encoder(source, source != PAD, noise)

    def begin(self, source: Int[Tensor, "B S"], noise: Noise | None = None) -> State:
        """Read the source and stand before the first target token."""
        own, others = (None, None) if noise is None else (noise.fork(0), noise.fork(1))
        return self.decoder.start(self.encode(source, own), others)

    def features(self, tokens: Int[Tensor, "B T"], state: State) -> tuple[Float[Tensor, "B T D"], State]:
        """What the output layer reads."""
        return self.decoder(tokens, state)

    def forward(self, tokens: Int[Tensor, "B T"], state: State) -> tuple[Float[Tensor, "B T V"], State]:
        features, state = self.decoder(tokens, state)
        return log_probabilities(self.head(features)), state


class LanguageModel(nn.Module):
    """A decoder with nothing to look back at but itself."""

    def __init__(self, decoder: Decoder, head: OutputLayer) -> None:
        super().__init__()
        self.decoder, self.head = decoder, head

    def begin(self, noise: Noise | None = None) -> State:
        """Before the first token."""
        return self.decoder.start(None, noise)

    def features(self, tokens: Int[Tensor, "B T"], state: State) -> tuple[Float[Tensor, "B T D"], State]:
        """What the output layer reads."""
        return self.decoder(tokens, state)

    def forward(self, tokens: Int[Tensor, "B T"], state: State) -> tuple[Float[Tensor, "B T V"], State]:
        features, state = self.decoder(tokens, state)
        return log_probabilities(self.head(features)), state


def parameter_count(model: nn.Module) -> int:
    """Numbers to learn; shared ones count once."""
    return sum(parameter.numel() for parameter in model.parameters())
