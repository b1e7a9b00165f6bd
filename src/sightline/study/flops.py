"""How much arithmetic a model is: the floating-point operations of its matrix products, by length of source and target.

Counted is what the mathematics asks for: nothing for padding, for what a mask hides, for a second look at what is known
already. An addition and a multiplication are two operations. Norms, activations and softmax are left out, as everybody does.
"""

from __future__ import annotations

from dataclasses import dataclass

from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig

BACKWARD = 2  # times the forward pass: the gradient of the input, and that of the weights
GATES = {"lstm": 4, "gru": 3}


@dataclass(frozen=True, slots=True)
class Work:
    """Operations of one forward pass over one sentence pair of S source and T target tokens, end marks included."""

    begin: float = 0.0  # once
    read: float = 0.0  # × S: encoder, and what the decoder makes of its states once
    look: float = 0.0  # × S²: the source looks at itself
    write: float = 0.0  # × T: decoder and output layer
    look_across: float = 0.0  # × T·S: the target looks at the source
    look_back: float = 0.0  # × T(T+1)/2: the target looks at itself

    def __add__(self, other: Work) -> Work:
        return Work(
            self.begin + other.begin,
            self.read + other.read,
            self.look + other.look,
            self.write + other.write,
            self.look_across + other.look_across,
            self.look_back + other.look_back,
        )

    def forward(self, source: float, target: float) -> float:
        """Reading a pair, as in scoring it."""
        return self.reading(source) + self.writing(source, target)

    def training(self, source: float, target: float) -> float:
        """A forward and a backward pass."""
        return (1 + BACKWARD) * self.forward(source, target)

    def decoding(self, source: float, target: float, beam: int = 1) -> float:
        """Searching a translation of so many tokens, keeping `beam` hypotheses."""
        return self.reading(source) + beam * self.writing(source, target)

    def reading(self, source: float) -> float:
        """Until the first target token."""
        return self.begin + source * (self.read + self.look * source)

    def writing(self, source: float, target: float) -> float:
        """All target tokens of one hypothesis."""
        return target * (self.write + self.look_across * source + self.look_back * (target + 1) / 2)


def work_of(config: ModelConfig, target_vocabulary: int) -> Work:
    """A model's work. Tables of embeddings are looked up, so only the output layer depends on a vocabulary."""
    found = Work(write=_linear(config.dim, target_vocabulary)) + _decoder(config)
    return found if config.encoder is None else found + _encoder(config.encoder, config.dim)


def _linear(inputs: int, outputs: int) -> float:
    return 2.0 * inputs * outputs


def _encoder(stack: TransformerConfig | RecurrentEncoderConfig, dim: int) -> Work:
    match stack:
        case TransformerConfig():
            token = 4 * _linear(dim, dim) + 2 * _linear(dim, stack.hidden)
            return Work(read=stack.layers * token, look=stack.layers * _attention(dim))
        case RecurrentEncoderConfig():
            ways = 2 if stack.bidirectional else 1
            return Work(read=stack.layers * ways * _cell(stack.cell, dim, dim // ways))


def _decoder(config: ModelConfig) -> Work:
    dim, stack, has_source = config.dim, config.decoder, config.encoder is not None
    match stack:
        case TransformerConfig():
            token = 4 * _linear(dim, dim) + 2 * _linear(dim, stack.hidden)
            own = Work(write=stack.layers * token, look_back=stack.layers * _attention(dim))
            crossed = Work(
                read=stack.layers * 2 * _linear(dim, dim),
                write=stack.layers * 2 * _linear(dim, dim),
                look_across=stack.layers * _attention(dim),
            )
            return own + crossed if has_source else own
        case RecurrentDecoderConfig():
            return _recurrent_decoder(stack, dim, has_source)


def _recurrent_decoder(stack: RecurrentDecoderConfig, dim: int, has_source: bool) -> Work:
    looks = has_source and stack.score != "none"
    first = 2 * dim if looks and stack.input_feeding else dim
    cells = _cell(stack.cell, first, dim) + (stack.layers - 1) * _cell(stack.cell, dim, dim)
    found = Work(begin=_linear(dim, stack.layers * dim) if has_source else 0.0, write=cells)
    if not looks:
        return found
    found += Work(write=_linear(2 * dim, dim), look_across=_attention(dim))
    match stack.score:
        case "bilinear":
            return found + Work(read=_linear(dim, dim))
        case "additive":  # its score, vᵀtanh(Wq + Uk), is as many products as a dot is
            return found + Work(read=_linear(dim, dim), write=_linear(dim, dim))
        case _:
            return found


def _attention(dim: int) -> float:
    """One query and one key: how well they fit, and the share of the value. As many in all heads together as in one."""
    return 4.0 * dim


def _cell(cell: str, inputs: int, hidden: int) -> float:
    """A step of one recurrent layer, in one direction."""
    return GATES[cell] * (_linear(inputs, hidden) + _linear(hidden, hidden))
