"""The same weights in PyTorch's own modules give the same outputs."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from sightline.models.build import build
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.models.recurrent import CellName, RecurrentDecoder, RecurrentEncoder
from sightline.models.seq2seq import LanguageModel, Seq2Seq
from sightline.models.transformer import DecoderLayer, EncoderLayer, TransformerDecoder, TransformerEncoder
from sightline.nn.attention import MultiHead, watch
from sightline.nn.masks import causal, over_keys

DIM, HEADS, HIDDEN, VOCABULARY = 16, 4, 24, 11
CLOSE = {"rtol": 0.0, "atol": 1e-5}
SOURCE = torch.tensor([[4, 5, 6, 7, 2], [8, 9, 2, 0, 0]])
TARGET = torch.tensor([[1, 5, 6, 4], [1, 9, 8, 10]])
REAL = SOURCE != 0


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def lively(module: nn.Module) -> None:
    """Biases that are not zero and norms that are not neutral."""
    for parameter in module.parameters():
        parameter.data += 0.2 * torch.randn(parameter.shape)


def put(into: nn.Module, values: nn.Module) -> None:
    """Copy a module's weights into one of the same shape."""
    into.load_state_dict(values.state_dict())


def put_attention(into: nn.MultiheadAttention, ours: MultiHead) -> None:
    into.in_proj_weight.data = torch.cat((ours.query.weight, ours.key_value.weight))
    into.in_proj_bias.data = torch.cat((ours.query.bias, ours.key_value.bias))
    put(into.out_proj, ours.output)


def built(config: ModelConfig) -> Seq2Seq:
    model = build(config, VOCABULARY, VOCABULARY)
    assert isinstance(model, Seq2Seq)
    lively(model)
    return model.eval()


@pytest.mark.parametrize("mask", ["none", "padding", "causal"])
def test_multi_head_attention(mask: Literal["none", "padding", "causal"]) -> None:
    ours, theirs = MultiHead(DIM, HEADS), nn.MultiheadAttention(DIM, HEADS, batch_first=True)
    lively(ours)
    put_attention(theirs, ours)
    x, y = torch.randn(2, 5, DIM), torch.randn(2, 5, DIM)
    own = {"none": None, "padding": over_keys(REAL), "causal": causal(5, 5)}[mask]
    forbidden = ~torch.ones(5, 5, dtype=torch.bool).tril() if mask == "causal" else None
    expected, shares = theirs(
        x, y, y, key_padding_mask=~REAL if mask == "padding" else None, attn_mask=forbidden, average_attn_weights=False
    )
    torch.testing.assert_close(ours(x, *ours.keys(y), own), expected, **CLOSE)
    seen, notebook = watch(nn.Sequential(ours))
    torch.testing.assert_close(seen[0](x, *ours.keys(y), own), expected, **CLOSE)
    torch.testing.assert_close(notebook["0"][0], shares, **CLOSE)


def put_encoder_layer(into: nn.TransformerEncoderLayer, ours: EncoderLayer) -> None:
    put_attention(into.self_attn, ours.attend)
    for theirs, own in (
        (into.norm1, ours.add_attended.norm),
        (into.norm2, ours.add_fed.norm),
        (into.linear1, ours.feed.wide),
        (into.linear2, ours.feed.back),
    ):
        put(theirs, own)


def put_decoder_layer(into: nn.TransformerDecoderLayer, ours: DecoderLayer) -> None:
    assert ours.cross is not None
    assert ours.add_crossed is not None
    put_attention(into.self_attn, ours.attend)
    put_attention(into.multihead_attn, ours.cross)
    for theirs, own in (
        (into.norm1, ours.add_attended.norm),
        (into.norm2, ours.add_crossed.norm),
        (into.norm3, ours.add_fed.norm),
        (into.linear1, ours.feed.wide),
        (into.linear2, ours.feed.back),
    ):
        put(theirs, own)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_transformer(norm: Literal["post", "pre"], activation: Literal["relu", "gelu"]) -> None:
    stack = TransformerConfig(layers=2, heads=HEADS, hidden=HIDDEN, norm=norm, activation=activation)
    model = built(ModelConfig(stack, stack, DIM, dropout=0.1, tie="all"))
    encoder, decoder = model.encoder, model.decoder
    assert isinstance(encoder, TransformerEncoder)
    assert isinstance(decoder, TransformerDecoder)
    reference = nn.Transformer(DIM, HEADS, 2, 2, HIDDEN, 0.1, activation, batch_first=True, norm_first=norm == "pre").eval()
    for theirs, ours in zip(reference.encoder.layers, encoder.layers, strict=True):
        put_encoder_layer(theirs, ours)
    for theirs, ours in zip(reference.decoder.layers, decoder.layers, strict=True):
        put_decoder_layer(theirs, ours)
    for theirs, ours in ((reference.encoder, encoder), (reference.decoder, decoder)):
        if norm == "pre":
            put(theirs.norm, ours.norm)
        else:
            theirs.norm = None  # PyTorch's class normalises once more at the end, which the paper does not
    expected = reference(
        encoder.position.embed(encoder.embedding(SOURCE), 0),
        decoder.position.embed(decoder.embedding(TARGET), 0),
        tgt_mask=~torch.ones(4, 4, dtype=torch.bool).tril(),
        src_key_padding_mask=~REAL,
        memory_key_padding_mask=~REAL,
    )
    features, _ = model.features(TARGET, model.begin(SOURCE))
    torch.testing.assert_close(features, expected, **CLOSE)


def flat(layers: nn.ModuleList, cell: CellName, bidirectional: bool = False) -> nn.LSTM | nn.GRU:
    """A stack of our layers as one module of PyTorch's."""
    first = layers[0]
    assert isinstance(first, nn.LSTM | nn.GRU)
    kind = nn.LSTM if cell == "lstm" else nn.GRU
    whole = kind(first.input_size, first.hidden_size, len(layers), batch_first=True, bidirectional=bidirectional)
    states = [layer.state_dict() for layer in layers]
    renamed = {name.replace("_l0", f"_l{depth}"): value for depth, state in enumerate(states) for name, value in state.items()}
    whole.load_state_dict(renamed)
    return whole


def recurrent(cell: CellName, bidirectional: bool) -> tuple[Seq2Seq, RecurrentEncoder, RecurrentDecoder]:
    encoder = RecurrentEncoderConfig(layers=2, cell=cell, bidirectional=bidirectional)
    model = built(ModelConfig(encoder, RecurrentDecoderConfig(layers=2, cell=cell, score="none"), DIM))
    assert isinstance(model.encoder, RecurrentEncoder)
    assert isinstance(model.decoder, RecurrentDecoder)
    return model, model.encoder, model.decoder


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_recurrent_encoder(cell: CellName, bidirectional: bool) -> None:
    """Each sentence alone and unpadded in PyTorch's module; its last states are our summary."""
    model, encoder, _ = recurrent(cell, bidirectional)
    reference, memory = flat(encoder.layers, cell, bidirectional), model.encode(SOURCE)
    for row, length in enumerate(REAL.sum(1).tolist()):
        states, last = reference(encoder.embedding(SOURCE[row : row + 1, :length]))
        hidden: Tensor = last[0] if cell == "lstm" else last
        torch.testing.assert_close(memory.states[row : row + 1, :length], states, **CLOSE)
        assert not memory.states[row, length:].any()
        ends = hidden[-2:] if bidirectional else hidden[-1:]
        torch.testing.assert_close(memory.summary[row], ends[:, 0].flatten(), **CLOSE)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_recurrent_decoder_without_attention(cell: CellName) -> None:
    model, _, decoder = recurrent(cell, False)
    reference, memory = flat(decoder.layers, cell), model.encode(SOURCE)
    assert decoder.bridge is not None
    hidden = torch.tanh(decoder.bridge(memory.summary)).view(2, 2, DIM).transpose(0, 1).contiguous()
    begun = (hidden, torch.zeros_like(hidden)) if cell == "lstm" else hidden
    expected, _ = reference(decoder.embedding(TARGET), begun)
    features, _ = model.features(TARGET, decoder.start(memory))
    torch.testing.assert_close(features, expected, **CLOSE)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_recurrent_language_model(cell: CellName) -> None:
    config = ModelConfig(None, RecurrentDecoderConfig(layers=2, cell=cell, score="none"), DIM)
    model = build(config, VOCABULARY, VOCABULARY)
    lively(model)
    decoder = model.decoder
    assert isinstance(model, LanguageModel)
    assert isinstance(decoder, RecurrentDecoder)
    expected, _ = flat(decoder.layers, cell)(decoder.embedding(TARGET))
    features, _ = model.features(TARGET, model.begin())
    torch.testing.assert_close(features, expected, **CLOSE)
