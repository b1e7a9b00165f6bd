"""What a model is to everybody else. Search, sampling, loss and viewer know these protocols and nothing more.

The streaming law: reading tokens in any pieces gives the same as reading them at once,

    f(xy, s) == f(x, s) ++ f(y, s')        where  s' is the state after x.

So training is one call with the whole target and search is many calls with one token.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Float, Int
from torch import Tensor

from sightline.nn.noise import Noise
from sightline.nn.state import Memory, State


@runtime_checkable
class Encoder(Protocol):
    """Reads a whole source."""

    def __call__(self, tokens: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"], noise: Noise | None = None) -> Memory: ...


@runtime_checkable
class Decoder(Protocol):
    """Reads a target from left to right."""

    def start(self, memory: Memory | None, noise: Noise | None = None) -> State:
        """Before the first token; a language model has no memory."""
        ...

    def __call__(self, tokens: Int[Tensor, "B T"], state: State) -> tuple[Float[Tensor, "B T D"], State]:
        """Features of the next token after each of these, any T >= 1."""
        ...


@runtime_checkable
class Predictor(Protocol):
    """Decoder and output layer: all that a search sees."""

    def __call__(self, tokens: Int[Tensor, "B T"], state: State) -> tuple[Float[Tensor, "B T V"], State]:
        """Log-probabilities of the next token after each of these."""
        ...


@runtime_checkable
class Translates(Predictor, Protocol):
    """A predictor that continues a source: a model, or several together."""

    def begin(self, source: Int[Tensor, "B S"]) -> State:
        """Read these sources, padded with 0, and stand before the first target token."""
        ...
