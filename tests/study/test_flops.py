"""The arithmetic of a model, counted by formula, is what PyTorch counts in the model itself."""

from __future__ import annotations

from typing import cast

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from sightline.models.build import build
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.nn.attention import watch
from sightline.study.flops import Work, work_of

VOCABULARY = 40
STACK = TransformerConfig(layers=3, heads=2, hidden=48, norm="pre")
CASES = {
    "transformer": ModelConfig(STACK, TransformerConfig(layers=2, heads=4, hidden=24), dim=16),
    "one way": ModelConfig(
        RecurrentEncoderConfig(layers=2, bidirectional=False), RecurrentDecoderConfig(layers=2), dim=16, tie="target"
    ),
    "both ways": ModelConfig(
        RecurrentEncoderConfig(layers=3, cell="gru"), RecurrentDecoderConfig(layers=1, cell="gru", score="dot"), dim=16
    ),
    "feeding": ModelConfig(
        RecurrentEncoderConfig(layers=1), RecurrentDecoderConfig(layers=2, score="additive", input_feeding=True), dim=16
    ),
    "bottleneck": ModelConfig(
        RecurrentEncoderConfig(layers=1), RecurrentDecoderConfig(layers=2, score="none"), dim=16, tie="none"
    ),
    "mixed": ModelConfig(STACK, RecurrentDecoderConfig(layers=1, score="bilinear"), dim=16),
    "language model": ModelConfig(None, STACK, dim=16, tie="target"),
}


def products(model: nn.Module) -> int:
    """Operations of all weights that are multiplied with, each once; not of tables, biases and norms."""
    tables = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    own = sum(p.numel() for p in model.parameters() if p.dim() > 1 and id(p) not in tables)
    energies = sum(p.numel() for name, p in model.named_parameters() if "energy" in name)  # counted with the attention
    return 2 * (own - energies + output(cast(Seq2Seq, model)))


def output(model: Seq2Seq) -> int:
    """The output layer's weight, if it is a table, too."""
    tables = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    return model.head.weight.numel() if id(model.head.weight) in tables else 0


@pytest.mark.parametrize("name", CASES)
def test_every_weight_works_once_a_token(name: str) -> None:
    config = CASES[name]
    found = work_of(config, VOCABULARY)
    assert found.begin + found.read + found.write == products(build(config, VOCABULARY, VOCABULARY))


def test_torch_counts_the_same() -> None:
    config, (batch, source, target) = CASES["transformer"], (2, 7, 5)
    model = build(config, VOCABULARY, VOCABULARY)
    seen, _ = watch(cast(Seq2Seq, model))  # whose attention is plain products

    def ids(length: int) -> Tensor:
        return torch.full((batch, length), 9)

    with FlopCounterMode(display=False) as counter, torch.no_grad():
        seen.head(seen.features(ids(target), seen.begin(ids(source)))[0])
    # The model computes what the causal mask hides, too; the mathematics does not ask for it.
    hidden = work_of(config, VOCABULARY).look_back * target * (target - 1) / 2
    assert counter.get_total_flops() == batch * (work_of(config, VOCABULARY).forward(source, target) + hidden)


def test_the_three_ways_to_use_a_model() -> None:
    work = Work(begin=1, read=2, look=3, write=5, look_across=7, look_back=11)
    assert work.reading(4) == 1 + 4 * 2 + 16 * 3
    assert work.writing(4, 3) == 3 * 5 + 12 * 7 + 6 * 11
    assert work.forward(4, 3) == work.reading(4) + work.writing(4, 3) == work.training(4, 3) / 3
    assert work.decoding(4, 3, beam=5) == work.reading(4) + 5 * work.writing(4, 3)


def test_the_model_of_the_comparisons() -> None:
    stack = TransformerConfig(layers=3, heads=4, hidden=1024)
    work = work_of(ModelConfig(stack, stack, dim=256), 8000)
    assert 42e6 < work.training(15, 15.8) / 15.8 < 48e6  # about 45 MFLOP for each target token
