"""A model as CTranslate2 reads it: the same weights under its names, in a folder that needs no Sightline.

model.bin            the weights, in int8 or as they are
config.json          how a translation begins, the norms' epsilon
*_vocabulary.json    the pieces, as the `tokenizers` library names them
tokenizer.json       the tokenizer as that library reads it (or one file for each side)
README.md            how to use it
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer as LibraryTokenizer
from torch import Tensor, nn

from sightline.errors import UserError
from sightline.models.config import TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.models.store import Stored
from sightline.models.transformer import TransformerDecoder, TransformerEncoder
from sightline.nn.attention import MultiHead
from sightline.nn.layers import FeedForward
from sightline.text.files import sync_folder, write_whole, writing
from sightline.text.tokenizer import BOS, EOS, UNK, Tokenizer

Quantization: TypeAlias = Literal["int8", "int16", "float32"]
QUANTIZATIONS: tuple[Quantization, ...] = get_args(Quantization)
POSITIONS = ("none", "sinusoidal", "learned")  # those that act on the embeddings; a table says it all
INSTALL = "pip install 'sightline[ctranslate2]'"


def library() -> Any:
    """CTranslate2; it is imported when it is asked for, and by nobody else."""
    try:
        import ctranslate2  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise UserError(f"this needs the package ctranslate2; install it with: {INSTALL}") from None
    return ctranslate2


def unfit(stored: Stored) -> str:
    """Why CTranslate2 cannot compute this model; nothing if it can."""
    if not isinstance(stored.model, Seq2Seq):
        return "a language model has no source to translate"
    for name, stack in (("encoder", stored.config.encoder), ("decoder", stored.config.decoder)):
        if not isinstance(stack, TransformerConfig):
            return f"its {name} is not a Transformer"
        if stack.position not in POSITIONS:
            return f"its {name} has positions of the kind {stack.position}, and only {', '.join(POSITIONS)} can be handed over"
    return ""


def export(stored: Stored, folder: Path, quantization: Quantization = "int8") -> None:
    """Write the model for CTranslate2, whole or not at all; the folder must not be there yet."""
    if reason := unfit(stored):
        raise UserError(f"{stored.folder}: {reason}, so there is no CTranslate2 model of it; its own engine is torch")
    if folder.exists():
        raise UserError(f"{folder}: is there already; take it away or name another folder")
    spec = _spec(stored, library().specs)
    spec.validate()
    spec.optimize(quantization)
    making = folder.absolute().parent / f".{folder.name}-{os.getpid()}"
    try:
        with writing(f"{folder}: the model could not be written", "make room, or choose a place you may write to"):
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir(parents=True)
            spec.save(str(making))
            for name, tokenizer in _named(stored).items():
                write_whole(making / name, library_json(tokenizer))
            write_whole(making / "README.md", _readme(stored, quantization))
            os.rename(making, folder)
            sync_folder(folder.absolute().parent)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def library_json(tokenizer: Tokenizer) -> str:
    """The tokenizer as the `tokenizers` library reads it."""
    return json.dumps(json.loads(tokenizer.to_json())["tokenizer"], ensure_ascii=False)


def names(tokenizer: Tokenizer) -> list[str]:
    """The name of every id, no two alike: those of the `tokenizers` library."""
    own = LibraryTokenizer.from_str(library_json(tokenizer))
    return [cast(str, own.id_to_token(i)) for i in range(tokenizer.size)]


def _named(stored: Stored) -> dict[str, Tokenizer]:
    source, target = stored.tokenizers
    if source.fingerprint == target.fingerprint:
        return {"tokenizer.json": source}
    return {"tokenizer.source.json": source, "tokenizer.target.json": target}


def _spec(stored: Stored, specs: Any) -> Any:
    model, config = cast(Seq2Seq, stored.model), stored.config
    encoder, decoder = cast(TransformerEncoder, model.encoder), cast(TransformerDecoder, model.decoder)
    spec = specs.TransformerSpec(
        _sizes(specs, specs.TransformerEncoderSpec, cast(TransformerConfig, config.encoder)),
        _sizes(specs, specs.TransformerDecoderSpec, cast(TransformerConfig, config.decoder)),
    )
    _stack(spec.encoder, spec.encoder.embeddings[0], encoder, config.dim, config.max_length)
    _stack(spec.decoder, spec.decoder.embeddings, decoder, config.dim, config.max_length)
    for own, layer in zip(spec.encoder.layer, cast(Sequence[Any], encoder.layers), strict=True):
        _self_attention(own.self_attention, layer.attend, layer.add_attended.norm)
        _feed_forward(own.ffn, layer.feed, layer.add_fed.norm)
    for own, layer in zip(spec.decoder.layer, cast(Sequence[Any], decoder.layers), strict=True):
        _self_attention(own.self_attention, layer.attend, layer.add_attended.norm)
        _cross_attention(own.attention, layer.cross, layer.add_crossed.norm)
        _feed_forward(own.ffn, layer.feed, layer.add_fed.norm)
    spec.decoder.projection.weight = _array(model.head.weight)
    source, target = (names(tokenizer) for tokenizer in stored.tokenizers)
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = target[UNK], target[BOS], target[EOS]
    spec.config.decoder_start_token = target[BOS]
    spec.config.layer_norm_epsilon = cast(Any, encoder.layers[0]).add_fed.norm.eps
    return spec


def _sizes(specs: Any, kind: Any, stack: TransformerConfig) -> Any:
    kinds = specs.common_spec.Activation
    activations = {"relu": kinds.RELU, "gelu": kinds.GELU, "gelu_tanh": kinds.GELUTanh, "swish": kinds.SWISH}
    return kind(stack.layers, stack.heads, stack.norm == "pre", activation=activations[stack.activation])


def _array(tensor: Tensor) -> NDArray[np.float32]:
    """A copy: making int8 of it works in place."""
    return tensor.detach().float().cpu().numpy().copy()


def _stack(spec: Any, embeddings: Any, stack: TransformerEncoder | TransformerDecoder, dim: int, longest: int) -> None:
    """What comes before the first layer and after the last."""
    embeddings.weight = _array(stack.embedding.table.weight)
    spec.scale_embeddings = stack.embedding.scale != 1
    table = stack.position.embed(torch.zeros(1, longest, dim), 0)
    spec.position_encodings.encodings = _array(table[0])
    if isinstance(stack.norm, nn.LayerNorm):
        _norm(spec.layer_norm, stack.norm)


def _self_attention(spec: Any, attention: MultiHead, norm: nn.LayerNorm) -> None:
    _linear(spec.linear[0], [attention.query, attention.key_value])
    _linear(spec.linear[1], [attention.output])
    _norm(spec.layer_norm, norm)


def _cross_attention(spec: Any, attention: MultiHead, norm: nn.LayerNorm) -> None:
    for own, layer in zip(spec.linear, (attention.query, attention.key_value, attention.output), strict=True):
        _linear(own, [layer])
    _norm(spec.layer_norm, norm)


def _feed_forward(spec: Any, feed: FeedForward, norm: nn.LayerNorm) -> None:
    _linear(spec.linear_0, [feed.wide])
    _linear(spec.linear_1, [feed.back])
    _norm(spec.layer_norm, norm)


def _linear(spec: Any, layers: Sequence[nn.Linear]) -> None:
    """Several layers of one input become one."""
    spec.weight = np.concatenate([_array(layer.weight) for layer in layers])
    spec.bias = np.concatenate([_array(layer.bias) for layer in layers])


def _norm(spec: Any, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _array(norm.weight), _array(norm.bias)


def _readme(stored: Stored, quantization: Quantization) -> str:
    files = list(_named(stored))
    source, target, longest = files[0], files[-1], stored.config.max_length
    return f"""# A translator for CTranslate2

From {stored.languages[0]} to {stored.languages[1]}, weights in {quantization}. Made by Sightline; to use it, only CTranslate2
and the `tokenizers` library are needed.

```python
import ctranslate2, tokenizers

translator = ctranslate2.Translator(".", inter_threads=2, intra_threads=1)
source = tokenizers.Tokenizer.from_file({source!r})
target = tokenizers.Tokenizer.from_file({target!r})

def translate(texts):
    pieces = [source.encode(text, add_special_tokens=False).tokens + [" eos"] for text in texts]
    found = translator.translate_batch(
        pieces,
        max_batch_size=32,
        beam_size=5,
        max_input_length={longest},
        max_decoding_length={longest - 1},
        suppress_sequences=[[" pad"], [" bos"]],
    )
    return [target.decode([target.token_to_id(piece) for piece in each.hypotheses[0]]) for each in found]
```

A source ends with the piece " eos" (each of the four special pieces begins with a space). With it, it may have at most
{longest} pieces, a translation one less: there are no positions for more. CTranslate2's `length_penalty` is not Sightline's: it
divides by length ^ α, Sightline by ((5 + length) / 6) ^ α.
"""
