"""A Transformer's shape and weights in the form in which the native engine takes them (native/engine/model.hpp reads it)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sightline.models.seq2seq import Seq2Seq
from sightline.models.transformer import DecoderLayer, EncoderLayer, TransformerDecoder, TransformerEncoder
from sightline.nn.layers import FeedForward, Residual
from sightline.nn.normalisers import softmax
from sightline.nn.positions import Learned, NoPosition, Position, Sinusoidal
from sightline.nn.scores import scaled_dot

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "swish")  # in the order of `Activation` in model.hpp
Stack = TransformerEncoder | TransformerDecoder


class StackShape(ctypes.Structure):
    """An encoder or a decoder, as in model.hpp."""

    _fields_ = [(name, ctypes.c_int32) for name in ("layers", "heads", "hidden", "pre_norm", "activation")]


class Shape(ctypes.Structure):
    """A model, as in model.hpp."""

    _fields_ = [
        *((name, ctypes.c_int32) for name in ("dim", "source_vocabulary", "target_vocabulary", "int8")),
        *((name, ctypes.c_float) for name in ("source_scale", "target_scale", "epsilon")),
        ("encoder", StackShape),
        ("decoder", StackShape),
    ]


def unfit(model: nn.Module) -> str:
    """What it is about a model that the native engine does not know; nothing if it knows it all."""
    if not isinstance(model, Seq2Seq):
        return "it translates with one encoder and one decoder; anything else needs the torch engine"
    for name, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        if not isinstance(stack, Stack):
            return f"its {name} is not a Transformer's"
        if not isinstance(stack.position, Sinusoidal | Learned | NoPosition):
            return f"its {name} turns or weighs by position ({type(stack.position).__name__.lower()}); it knows added ones alone"
    odd = [m for m in model.modules() if hasattr(m, "normalise") and (m.score is not scaled_dot or m.normalise is not softmax)]
    return "one of its attentions is not the scaled dot product's" if odd else ""


def shape_of(model: Seq2Seq, int8: bool) -> Shape:
    """All its sizes."""
    encoder, decoder = stacks(model)
    (source, dim), target = encoder.embedding.table.weight.shape, decoder.embedding.table.num_embeddings
    epsilon = _first(decoder).add_fed.norm.eps
    scales = encoder.embedding.scale, decoder.embedding.scale
    return Shape(dim, source, target, int8, *scales, epsilon, _stack_shape(encoder), _stack_shape(decoder))


def stacks(model: Seq2Seq) -> tuple[TransformerEncoder, TransformerDecoder]:
    """Encoder and decoder of a model that is fit."""
    return cast(TransformerEncoder, model.encoder), cast(TransformerDecoder, model.decoder)


def weights_of(model: Seq2Seq) -> list[Float[Tensor, "..."]]:
    """All weights in the order in which model.cpp asks for them, in fp32; a shared one is the same tensor each time."""
    made: dict[int, Tensor] = {}
    return [made.setdefault(id(w), w.detach().to("cpu", torch.float32).contiguous()) for w in _in_order(model)]


def position_table(position: Position, dim: int, length: int) -> Float[Tensor, "N {dim}"] | None:
    """What a scheme adds at the first `length` positions, as far as it has any; None if it adds nothing."""
    if isinstance(position, NoPosition):
        return None
    reach = min(length, position.table.num_embeddings) if isinstance(position, Learned) else length
    with torch.no_grad():
        return position.embed(torch.zeros(1, reach, dim), 0)[0].contiguous()


def _first(stack: Stack) -> EncoderLayer | DecoderLayer:
    return cast(EncoderLayer | DecoderLayer, stack.layers[0])


def _stack_shape(stack: Stack) -> StackShape:
    layer = _first(stack)
    hidden, activation = layer.feed.wide.out_features, ACTIVATIONS.index(layer.feed.activation)
    return StackShape(len(stack.layers), layer.attend.heads, hidden, layer.add_fed.order == "pre", activation)


def _in_order(model: Seq2Seq) -> Iterator[Tensor]:
    encoder, decoder = stacks(model)
    yield encoder.embedding.table.weight
    yield decoder.embedding.table.weight
    yield model.head.weight
    for layer in cast(list[EncoderLayer], encoder.layers):
        yield from _both(layer.add_attended.norm, layer.attend.query, layer.attend.key_value, layer.attend.output)
        yield from _feed(layer.add_fed, layer.feed)
    yield from _both(encoder.norm)
    for above in cast(list[DecoderLayer], decoder.layers):
        yield from _both(above.add_attended.norm, above.attend.query, above.attend.key_value, above.attend.output)
        assert above.cross is not None
        assert above.add_crossed is not None
        yield from _both(above.add_crossed.norm, above.cross.query, above.cross.key_value, above.cross.output)
        yield from _feed(above.add_fed, above.feed)
    yield from _both(decoder.norm)


def _feed(added: Residual, feed: FeedForward) -> Iterator[Tensor]:
    yield from _both(added.norm, feed.wide, feed.back)


def _both(*modules: nn.Module) -> Iterator[Tensor]:
    """Weight and bias of each; an identity has none."""
    for module in modules:
        if isinstance(module, nn.Linear | nn.LayerNorm):
            yield from (module.weight, module.bias)
