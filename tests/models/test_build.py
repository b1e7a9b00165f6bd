"""From config to model: how many numbers there are to learn, what is shared, what is refused."""

from __future__ import annotations

import math

import pytest
import torch

from sightline.models.build import build
from sightline.models.config import (
    SHORTEST,
    ModelConfig,
    RecurrentDecoderConfig,
    RecurrentEncoderConfig,
    TransformerConfig,
)
from sightline.models.seq2seq import Seq2Seq, parameter_count
from sightline.nn.attention import MultiHead

VOCABULARY = 37_000  # of both languages together, as published


def published(dim: int, hidden: int, heads: int) -> ModelConfig:
    """Six layers a side (Vaswani et al. 2017, table 3)."""
    stack = TransformerConfig(layers=6, heads=heads, hidden=hidden)
    return ModelConfig(stack, stack, dim=dim)


def by_hand(dim: int, hidden: int) -> int:
    """One table; per encoder layer one attention, per decoder layer two; a feed-forward and a norm after each part."""
    attention = 4 * (dim * dim + dim)
    feed = dim * hidden + hidden + hidden * dim + dim
    norm = 2 * dim
    return VOCABULARY * dim + 6 * (attention + feed + 2 * norm) + 6 * (2 * attention + feed + 3 * norm)


@pytest.mark.parametrize(
    ("config", "exact", "paper"),
    [
        pytest.param(published(512, 2048, 8), 63_082_496, 65e6, id="base"),
        pytest.param(published(1024, 4096, 16), 214_245_376, 213e6, id="big"),
    ],
)
def test_the_published_transformers_have_the_published_size(config: ModelConfig, exact: int, paper: float) -> None:
    with torch.device("meta"):  # counted, not filled
        model = build(config, VOCABULARY, VOCABULARY)
    assert isinstance(config.decoder, TransformerConfig)
    assert parameter_count(model) == by_hand(config.dim, config.decoder.hidden) == exact
    assert exact == pytest.approx(paper, rel=0.05)


SMALL = TransformerConfig(layers=1, heads=2, hidden=24)


def test_tying() -> None:
    shared = {}
    for tie in ("all", "target", "none"):
        model = build(ModelConfig(SMALL, SMALL, dim=16, tie=tie), 10, 10)
        assert isinstance(model, Seq2Seq)
        tables = [model.encoder.embedding.table.weight, model.decoder.embedding.table.weight, model.head.weight]
        shared[tie] = len({id(table) for table in tables})
    assert shared == {"all": 1, "target": 2, "none": 3}


def test_two_vocabularies_cannot_share_one_table() -> None:
    with pytest.raises(ValueError, match=r"one vocabulary for both languages: set tokenizer\.joint=true or tie='target'"):
        build(ModelConfig(SMALL, SMALL, dim=16, tie="all"), 10, 11)


def test_the_seed_decides_every_weight() -> None:
    def flat(seed: int) -> torch.Tensor:
        config = ModelConfig(SMALL, RecurrentDecoderConfig(score="additive", input_feeding=True), dim=16, tie="none")
        return torch.cat([parameter.detach().flatten() for parameter in build(config, 10, 10, seed).parameters()])

    torch.manual_seed(1)
    one = flat(3)
    torch.manual_seed(2)
    assert torch.equal(flat(3), one)
    assert not torch.equal(flat(4), one)


def test_weights_begin_as_they_are_said_to() -> None:
    model = build(ModelConfig(TransformerConfig(layers=1, heads=4, hidden=256), SMALL, dim=64, tie="all"), 2000, 2000)
    assert isinstance(model, Seq2Seq)
    assert float(model.head.weight.detach().std()) == pytest.approx(64**-0.5, rel=0.02)
    (layer,) = model.encoder.layers
    assert isinstance(layer.attend, MultiHead)
    square = math.sqrt(6 / (64 + 64))  # keys and values are two layers, though kept as one
    for weight in (layer.attend.query.weight, *layer.attend.key_value.weight.chunk(2), layer.attend.output.weight):
        assert float(weight.detach().abs().max()) == pytest.approx(square, rel=0.02)
    assert not any(bool(p.any()) for name, p in model.named_parameters() if name.endswith("bias"))


def test_a_forget_gate_begins_open() -> None:
    model = build(ModelConfig(RecurrentEncoderConfig(), RecurrentDecoderConfig(), dim=16), 10, 10)
    assert isinstance(model, Seq2Seq)
    for layer in (*model.encoder.layers, *model.decoder.layers):
        for name, bias in layer.named_parameters():
            if "bias" in name:
                gates = bias.detach().chunk(4)
                assert [float(gate.sum()) for gate in gates] == [0, len(gates[1]) if "bias_ih" in name else 0, 0, 0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TransformerConfig(layers=0), "layers=0 must be at least 1"),
        (lambda: TransformerConfig(heads=0), "heads=0 must be at least 1"),
        (lambda: TransformerConfig(attention_dropout=1.0), r"attention_dropout=1.0 must lie in \[0, 1\)"),
        (lambda: RecurrentEncoderConfig(layers=0), "layers=0"),
        (lambda: RecurrentDecoderConfig(layers=-1), "layers=-1"),
        (lambda: ModelConfig(dim=0), "dim=0 must be at least 1"),
        (lambda: ModelConfig(dropout=-0.1), "dropout=-0.1 must lie"),
        (lambda: ModelConfig(max_length=SHORTEST - 1), f"at least {SHORTEST}"),
        (lambda: ModelConfig(dim=516), r"dim=516 must be a multiple of encoder\.heads=8"),
        (lambda: ModelConfig(SMALL, TransformerConfig(heads=1), dim=15), r"multiple of encoder\.heads=2"),
        (lambda: ModelConfig(None, TransformerConfig(heads=1), dim=15), "decoder.position='sinusoidal' turns channels in pairs"),
        (lambda: ModelConfig(None, TransformerConfig(heads=2, position="rotary"), dim=6), "position='rotary' turns"),
        (lambda: ModelConfig(RecurrentEncoderConfig(), RecurrentDecoderConfig(), dim=15), "even for a bidirectional"),
    ],
)
def test_what_cannot_be_built_is_refused_at_once(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("position", ["none", "learned", "alibi", "relative"])
def test_odd_sizes_are_fine_where_nothing_turns_in_pairs(position: str) -> None:
    assert position in ("none", "learned", "alibi", "relative")
    stack = TransformerConfig(layers=1, heads=3, hidden=8, position=position)  # type: ignore[arg-type]
    model = build(ModelConfig(stack, stack, dim=15), 10, 10)
    assert isinstance(model, Seq2Seq)
    log_probs, _ = model(torch.tensor([[1, 5]]), model.begin(torch.tensor([[4, 2]])))
    assert log_probs.shape == (1, 2, 10)
