"""The same weights in Hugging Face's classes, built from small random configs, give the same logits."""

from __future__ import annotations

import math
import os

import pytest
import torch
from torch import Tensor, nn

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers import GPT2Config, GPT2LMHeadModel, MarianConfig, MarianMTModel

from sightline.models.build import build
from sightline.models.config import ModelConfig, TransformerConfig
from sightline.models.seq2seq import LanguageModel, Seq2Seq
from sightline.models.transformer import DecoderLayer, EncoderLayer, TransformerDecoder, TransformerEncoder
from sightline.nn.attention import MultiHead

DIM, HEADS, HIDDEN, VOCABULARY, REACH = 16, 4, 24, 23, 32
CLOSE = {"rtol": 0.0, "atol": 1e-5}
SOURCE = torch.tensor([[4, 5, 6, 7, 2], [8, 9, 2, 0, 0]])
TARGET = torch.tensor([[1, 5, 6, 4, 11, 12], [1, 9, 8, 10, 22, 3]])


def lively(module: nn.Module) -> None:
    """Biases that are not zero and norms that are not neutral."""
    torch.manual_seed(0)
    for parameter in module.parameters():
        parameter.data += 0.2 * torch.randn(parameter.shape)


class Interleaved:
    """Marian keeps its sines in the first half of the channels and its cosines in the second; ours take turns.

    The channels that pass from layer to layer may stand in any order if all weights agree on it, and nothing else is changed.
    """

    order = torch.stack((torch.arange(DIM // 2), torch.arange(DIM // 2) + DIM // 2), 1).flatten()

    def reads(self, into: nn.Linear, *theirs: nn.Linear) -> None:
        """One layer, or several as one, whose input is the stream of channels."""
        into.weight.data = torch.cat([each.weight for each in theirs])[:, self.order].clone()
        into.bias.data = torch.cat([each.bias for each in theirs]).clone()

    def writes(self, into: nn.Linear, theirs: nn.Linear) -> None:
        into.weight.data, into.bias.data = theirs.weight[self.order].clone(), theirs.bias[self.order].clone()

    def norm(self, into: nn.LayerNorm, theirs: nn.LayerNorm) -> None:
        into.weight.data, into.bias.data = theirs.weight[self.order].clone(), theirs.bias[self.order].clone()

    def attention(self, into: MultiHead, theirs: nn.Module) -> None:
        self.reads(into.query, theirs.q_proj)
        self.reads(into.key_value, theirs.k_proj, theirs.v_proj)
        self.writes(into.output, theirs.out_proj)

    def layer(self, into: EncoderLayer | DecoderLayer, theirs: nn.Module) -> None:
        self.attention(into.attend, theirs.self_attn)
        self.norm(into.add_attended.norm, theirs.self_attn_layer_norm)
        self.reads(into.feed.wide, theirs.fc1)
        self.writes(into.feed.back, theirs.fc2)
        self.norm(into.add_fed.norm, theirs.final_layer_norm)
        if isinstance(into, DecoderLayer):
            assert into.cross is not None
            assert into.add_crossed is not None
            self.attention(into.cross, theirs.encoder_attn)
            self.norm(into.add_crossed.norm, theirs.encoder_attn_layer_norm)


def marian(activation: str) -> MarianMTModel:
    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=DIM,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=HIDDEN,
        decoder_ffn_dim=HIDDEN,
        activation_function=activation,
        scale_embedding=True,
        max_position_embeddings=REACH,
        pad_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=0,
        forced_eos_token_id=2,
    )
    model = MarianMTModel(config).eval()
    fixed = (model.model.encoder.embed_positions.weight, model.model.decoder.embed_positions.weight)
    kept = [weight.clone() for weight in fixed]
    lively(model)
    for weight, before in zip(fixed, kept, strict=True):  # the sinusoids are no weights, though it keeps them as such
        weight.data.copy_(before)
    return model


@pytest.mark.parametrize("activation", ["swish", "relu"])
def test_marian(activation: str) -> None:
    theirs, channels = marian(activation), Interleaved()
    stack = TransformerConfig(layers=2, heads=HEADS, hidden=HIDDEN, activation="swish" if activation == "swish" else "relu")
    ours = build(ModelConfig(stack, stack, DIM, tie="all"), VOCABULARY, VOCABULARY).eval()
    assert isinstance(ours, Seq2Seq)
    assert isinstance(ours.encoder, TransformerEncoder)
    assert isinstance(ours.decoder, TransformerDecoder)
    ours.head.weight.data.copy_(theirs.model.shared.weight[:, channels.order])
    for mine, their in ((ours.encoder, theirs.model.encoder), (ours.decoder, theirs.model.decoder)):
        for own, other in zip(mine.layers, their.layers, strict=True):
            channels.layer(own, other)
    with torch.no_grad():
        expected = theirs(SOURCE, attention_mask=(SOURCE != 0).long(), decoder_input_ids=TARGET).logits
        features, _ = ours.features(TARGET, ours.begin(SOURCE))
        torch.testing.assert_close(ours.head(features), expected, **CLOSE)


def put_turned(into: nn.Linear, weight: Tensor, bias: Tensor) -> None:
    """GPT-2 keeps its matrices as (inputs, outputs)."""
    into.weight.data, into.bias.data = weight.t().clone(), bias.clone()


def put_block(into: DecoderLayer, theirs: nn.Module) -> None:
    attend = theirs.attn
    put_turned(into.attend.query, attend.c_attn.weight[:, :DIM], attend.c_attn.bias[:DIM])
    put_turned(into.attend.key_value, attend.c_attn.weight[:, DIM:], attend.c_attn.bias[DIM:])
    put_turned(into.attend.output, attend.c_proj.weight, attend.c_proj.bias)
    put_turned(into.feed.wide, theirs.mlp.c_fc.weight, theirs.mlp.c_fc.bias)
    put_turned(into.feed.back, theirs.mlp.c_proj.weight, theirs.mlp.c_proj.bias)
    into.add_attended.norm.load_state_dict(theirs.ln_1.state_dict())
    into.add_fed.norm.load_state_dict(theirs.ln_2.state_dict())


def test_gpt2() -> None:
    config = GPT2Config(vocab_size=VOCABULARY, n_positions=REACH, n_embd=DIM, n_layer=2, n_head=HEADS, n_inner=HIDDEN)
    theirs = GPT2LMHeadModel(config).eval()
    lively(theirs)
    stack = TransformerConfig(layers=2, heads=HEADS, hidden=HIDDEN, position="learned", norm="pre", activation="gelu_tanh")
    ours = build(ModelConfig(None, stack, DIM, tie="none", max_length=REACH), VOCABULARY, VOCABULARY).eval()
    assert isinstance(ours, LanguageModel)
    assert isinstance(ours.decoder, TransformerDecoder)
    words = theirs.transformer.wte.weight
    ours.decoder.embedding.table.weight.data.copy_(words / math.sqrt(DIM))  # ours are multiplied by √dim, GPT-2's are not
    ours.head.weight.data.copy_(words)
    ours.decoder.position.table.weight.data.copy_(theirs.transformer.wpe.weight)
    ours.decoder.norm.load_state_dict(theirs.transformer.ln_f.state_dict())
    for own, other in zip(ours.decoder.layers, theirs.transformer.h, strict=True):
        put_block(own, other)
    with torch.no_grad():
        features, _ = ours.features(TARGET, ours.begin())
        torch.testing.assert_close(ours.head(features), theirs(TARGET).logits, **CLOSE)
