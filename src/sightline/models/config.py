"""What a model is made of, in numbers and names. Only `build` reads these; no module ever sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sightline.models.recurrent import CellName
from sightline.nn.layers import ActivationName, NormOrder
from sightline.nn.positions import PositionName
from sightline.nn.scores import ScoreName

Tying: TypeAlias = Literal["all", "target", "none"]
SHORTEST = 8  # pieces: a character in the bytes of UTF-8, and the space before it


@dataclass(frozen=True)
class TransformerConfig:
    """A stack of attention layers, as encoder or as decoder."""

    kind: Literal["transformer"] = "transformer"
    layers: int = 6
    heads: int = 8
    hidden: int = 2048  # channels inside the feed-forward layers
    position: PositionName = "sinusoidal"
    norm: NormOrder = "post"
    activation: ActivationName = "relu"
    attention_dropout: float = 0.0  # on the weights
    hidden_dropout: float = 0.0  # inside the feed-forward layers

    def __post_init__(self) -> None:
        _at_least_1(self, "layers", "heads", "hidden")
        _rates(self, "attention_dropout", "hidden_dropout")


@dataclass(frozen=True)
class RecurrentEncoderConfig:
    """LSTM or GRU layers that read the source."""

    kind: Literal["recurrent"] = "recurrent"
    layers: int = 2
    cell: CellName = "lstm"
    bidirectional: bool = True

    def __post_init__(self) -> None:
        _at_least_1(self, "layers")


@dataclass(frozen=True)
class RecurrentDecoderConfig:
    """LSTM or GRU layers that write the target."""

    kind: Literal["recurrent"] = "recurrent"
    layers: int = 2
    cell: CellName = "lstm"
    score: ScoreName | Literal["none"] = "bilinear"  # how it looks at the source; "none": through one vector only
    input_feeding: bool = False  # what was seen at a step is read at the next

    def __post_init__(self) -> None:
        _at_least_1(self, "layers")


EncoderConfig: TypeAlias = TransformerConfig | RecurrentEncoderConfig
DecoderConfig: TypeAlias = TransformerConfig | RecurrentDecoderConfig


@dataclass(frozen=True)
class ModelConfig:
    """Any encoder under any decoder; without an encoder it is a language model."""

    encoder: EncoderConfig | None = field(default_factory=TransformerConfig)
    decoder: DecoderConfig = field(default_factory=TransformerConfig)
    dim: int = 512  # channels of every state
    dropout: float = 0.1  # after every sub-layer and on the embeddings
    tie: Tying = "all"  # one table for source, target and output ("all"), for target and output ("target"), or three
    max_length: int = 512  # the longest input or output, in pieces

    def __post_init__(self) -> None:
        _at_least_1(self, "dim")
        _rates(self, "dropout")
        if self.max_length < SHORTEST:
            raise ValueError(f"max_length={self.max_length} must be at least {SHORTEST}: one character can take as many pieces")
        for name, stack in (("encoder", self.encoder), ("decoder", self.decoder)):
            if isinstance(stack, TransformerConfig) and self.dim % stack.heads:
                raise ValueError(f"dim={self.dim} must be a multiple of {name}.heads={stack.heads}")
            if isinstance(stack, TransformerConfig) and self._turned_in_pairs(stack) % 2:
                raise ValueError(f"{name}.position={stack.position!r} turns channels in pairs: make dim={self.dim} even per head")
        if isinstance(self.encoder, RecurrentEncoderConfig) and self.encoder.bidirectional and self.dim % 2:
            raise ValueError(f"dim={self.dim} must be even for a bidirectional encoder")

    def _turned_in_pairs(self, stack: TransformerConfig) -> int:
        """How many channels a sine and a cosine share."""
        return {"sinusoidal": self.dim, "rotary": self.dim // stack.heads}.get(stack.position, 0)


def _at_least_1(config: object, *names: str) -> None:
    for name in names:
        if getattr(config, name) < 1:
            raise ValueError(f"{name}={getattr(config, name)} must be at least 1")


def _rates(config: object, *names: str) -> None:
    for name in names:
        if not 0 <= getattr(config, name) < 1:
            raise ValueError(f"{name}={getattr(config, name)} must lie in [0, 1)")
