"""The same weights under the names of Hugging Face's Pegasus, the pre-norm Transformer with sinusoidal positions, and back.

Pegasus keeps its sines in the first half of the channels and its cosines in the second; ours take turns. The channels that
pass from layer to layer may stand in any order if all weights agree on it, so the mapping is a change of names and of order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from sightline.models.config import ModelConfig, TransformerConfig
from sightline.text.tokenizer import BOS, EOS, PAD

# What a layer's parts are called: ours, theirs, and how the stream of channels passes through ("in", "out" or "norm").
_LAYER = {
    "attend": "self_attn",
    "cross": "encoder_attn",
    "add_attended.norm": "self_attn_layer_norm",
    "add_crossed.norm": "encoder_attn_layer_norm",
    "add_fed.norm": "final_layer_norm",
    "feed.wide": "fc1",
    "feed.back": "fc2",
}


def settings(config: ModelConfig, vocabulary: int) -> dict[str, Any]:
    """The arguments of `PegasusConfig` for the same shape."""
    encoder, decoder = config.encoder, config.decoder
    assert isinstance(encoder, TransformerConfig)
    assert isinstance(decoder, TransformerConfig)
    if {encoder.norm, decoder.norm} != {"pre"} or {encoder.position, decoder.position} != {"sinusoidal"} or config.tie != "all":
        raise SystemExit("only a pre-norm Transformer with sinusoidal positions and one tied table has a Pegasus of its shape")
    return {
        "vocab_size": vocabulary,
        "d_model": config.dim,
        "encoder_layers": encoder.layers,
        "decoder_layers": decoder.layers,
        "encoder_attention_heads": encoder.heads,
        "decoder_attention_heads": decoder.heads,
        "encoder_ffn_dim": encoder.hidden,
        "decoder_ffn_dim": decoder.hidden,
        "activation_function": encoder.activation,
        "dropout": config.dropout,
        "attention_dropout": encoder.attention_dropout,
        "activation_dropout": encoder.hidden_dropout,
        "scale_embedding": True,
        "max_position_embeddings": config.max_length,
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
        "forced_eos_token_id": None,
    }


def to_pegasus(ours: Mapping[str, Tensor], dim: int) -> dict[str, Tensor]:
    """Our weights under their names, in their order of channels."""
    order = torch.cat((torch.arange(0, dim, 2), torch.arange(1, dim, 2)))
    theirs: dict[str, Tensor] = {}
    for name, tensor in ours.items():
        for other, part in _their_parts(name, tensor):
            theirs[other] = _reordered(other, part, order).contiguous()
    return theirs


def from_pegasus(theirs: Mapping[str, Tensor], like: Mapping[str, Tensor], dim: int) -> dict[str, Tensor]:
    """Their weights under our names; `like` says which names those are."""
    order = torch.stack((torch.arange(dim // 2), torch.arange(dim // 2) + dim // 2), 1).flatten()
    ours: dict[str, Tensor] = {}
    for name, tensor in like.items():
        parts = [_reordered(other, theirs[other].float(), order) for other, _ in _their_parts(name, tensor)]
        ours[name] = torch.cat(parts).contiguous()
    return ours


def _their_parts(name: str, tensor: Tensor) -> list[tuple[str, Tensor]]:
    """What one of our tensors is called there; keys and values are one layer here and two there."""
    if "layers." not in name:
        if name.endswith("table.weight") or name.startswith("head."):
            return [("model.shared.weight", tensor)]
        stack, _, kind = name.split(".")  # the norm after the last layer
        return [(f"model.{stack}.layer_norm.{kind}", tensor)]
    stack, _, number, *middle, kind = name.split(".")
    begin = f"model.{stack}.layers.{number}"
    if middle[0] in ("attend", "cross"):
        inner = f"{begin}.{_LAYER[middle[0]]}"
        if middle[1] == "key_value":
            k, v = tensor.chunk(2)
            return [(f"{inner}.k_proj.{kind}", k), (f"{inner}.v_proj.{kind}", v)]
        return [(f"{inner}.{'q_proj' if middle[1] == 'query' else 'out_proj'}.{kind}", tensor)]
    return [(f"{begin}.{_LAYER['.'.join(middle)]}.{kind}", tensor)]


def _reordered(name: str, tensor: Tensor, order: Tensor) -> Tensor:
    """Rows where a layer writes the stream of channels, columns where it reads it."""
    layer = name.split(".")[-2]
    if layer in ("out_proj", "fc2") or "norm" in layer:
        return tensor[order]
    if name.endswith("bias"):
        return tensor
    return tensor[:, order]
