"""From a config to a model: the one place that wires, ties, initialises and numbers."""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn

from sightline.models.config import (
    EncoderConfig,
    ModelConfig,
    RecurrentDecoderConfig,
    RecurrentEncoderConfig,
    TransformerConfig,
)
from sightline.models.interface import Decoder, Encoder
from sightline.models.recurrent import RecurrentDecoder, RecurrentEncoder
from sightline.models.seq2seq import LanguageModel, Seq2Seq
from sightline.models.transformer import DecoderLayer, EncoderLayer, Sizes, TransformerDecoder, TransformerEncoder
from sightline.nn.attention import Attention, MultiHead
from sightline.nn.layers import Embedding, OutputLayer
from sightline.nn.noise import number_sites
from sightline.nn.positions import make_position
from sightline.nn.scores import make_score


def build(config: ModelConfig, source_vocabulary: int, target_vocabulary: int, seed: int = 0) -> Seq2Seq | LanguageModel:
    """A fresh model. The same seed gives the same weights."""
    target = _embedding(config.decoder, config.dim, target_vocabulary)
    tied = None if config.tie == "none" else cast(nn.Parameter, target.table.weight)
    head = OutputLayer(config.dim, target_vocabulary, tied)
    decoder = _decoder(config, target)
    model: Seq2Seq | LanguageModel
    if config.encoder is None:
        model = LanguageModel(decoder, head)
    else:
        source = _embedding(config.encoder, config.dim, source_vocabulary)
        if config.tie == "all":
            if source_vocabulary != target_vocabulary:
                raise ValueError("tie='all' needs one vocabulary for both languages: set tokenizer.joint=true or tie='target'")
            source.table.weight = target.table.weight
        model = Seq2Seq(_encoder(config, config.encoder, source), decoder, head)
    initialise(model, seed)
    number_sites(model)
    return model


def _embedding(stack: EncoderConfig | RecurrentDecoderConfig, dim: int, vocabulary: int) -> Embedding:
    return Embedding(vocabulary, dim, scaled=isinstance(stack, TransformerConfig))


def _sizes(config: ModelConfig, stack: TransformerConfig) -> Sizes:
    return Sizes(
        config.dim,
        stack.heads,
        stack.hidden,
        stack.norm,
        stack.activation,
        config.dropout,
        stack.attention_dropout,
        stack.hidden_dropout,
    )


def _encoder(config: ModelConfig, stack: EncoderConfig, embedding: Embedding) -> Encoder:
    match stack:
        case TransformerConfig():
            position = make_position(stack.position, config.dim, stack.heads, config.max_length)
            layers = [EncoderLayer(_sizes(config, stack), position) for _ in range(stack.layers)]
            return TransformerEncoder(embedding, layers, position, config.dim, config.dropout, stack.norm)
        case RecurrentEncoderConfig():
            return RecurrentEncoder(embedding, config.dim, stack.layers, stack.cell, stack.bidirectional, config.dropout)


def _decoder(config: ModelConfig, embedding: Embedding) -> Decoder:
    stack, has_source = config.decoder, config.encoder is not None
    match stack:
        case TransformerConfig():
            position = make_position(stack.position, config.dim, stack.heads, config.max_length)
            layers = [DecoderLayer(_sizes(config, stack), position, has_source) for _ in range(stack.layers)]
            return TransformerDecoder(embedding, layers, position, config.dim, config.dropout, stack.norm)
        case RecurrentDecoderConfig():
            looks = has_source and stack.score != "none"
            attention = Attention(make_score(stack.score, config.dim)) if looks and stack.score != "none" else None
            return RecurrentDecoder(
                embedding, config.dim, stack.layers, stack.cell, attention, stack.input_feeding, has_source, config.dropout
            )


def initialise(model: nn.Module, seed: int) -> None:
    """Every weight of a model, in one place.

    embeddings      normal, deviation 1/√dim: unit length after the √dim scaling, small logits where tied
    linear layers   Xavier uniform, no bias; keys and values as two layers of their own
    recurrent       uniform within 1/√hidden; an LSTM's forget gate opens with a bias of 1
    norms           weight 1, bias 0 (PyTorch's default)
    """
    generator = torch.Generator().manual_seed(seed)
    output_of_its_own = {id(m.project): m for m in model.modules() if isinstance(m, OutputLayer)}
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, 0.0, module.embedding_dim**-0.5, generator=generator)
        elif isinstance(module, nn.Linear) and id(module) not in output_of_its_own:
            nn.init.xavier_uniform_(module.weight, generator=generator)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.LSTM | nn.GRU):
            _initialise_recurrent(module, generator)
    for module in model.modules():
        if isinstance(module, MultiHead):
            for half in module.key_value.weight.chunk(2):
                nn.init.xavier_uniform_(half, generator=generator)
    embeddings = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    for head in output_of_its_own.values():
        if id(head.project.weight) not in embeddings:
            nn.init.xavier_uniform_(head.project.weight, generator=generator)


def _initialise_recurrent(module: nn.LSTM | nn.GRU, generator: torch.Generator) -> None:
    bound = 1 / math.sqrt(module.hidden_size)
    for name, parameter in module.named_parameters():
        if "bias" not in name:
            nn.init.uniform_(parameter, -bound, bound, generator=generator)
            continue
        nn.init.zeros_(parameter)
        if isinstance(module, nn.LSTM) and "bias_ih" in name:
            _forget_gate(parameter).fill_(1.0)


def _forget_gate(bias: Tensor) -> Tensor:
    """PyTorch keeps the four gates as input, forget, cell, output."""
    return bias.detach().chunk(4)[1]
