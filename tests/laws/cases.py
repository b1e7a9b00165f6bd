"""One row per architecture. Every row passes every law that applies to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from sightline.models.build import build
from sightline.models.combine import Ensemble
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.models.recurrent import CellName
from sightline.models.seq2seq import LanguageModel, Seq2Seq
from sightline.nn.noise import Noise
from sightline.nn.positions import PositionName
from sightline.nn.scores import ScoreName
from sightline.nn.state import State
from sightline.text.tokenizer import EOS, PAD

VOCABULARY = 6  # PAD, BOS, EOS and three words: few enough to go through all sentences
DIM = 16
SAMPLES = (7, 8, 9)  # their numbers in a corpus
Whole = Seq2Seq | LanguageModel
Model = Whole | Ensemble
Lesson = Literal["quick", "slow"]


@dataclass(frozen=True)
class Case:
    """One architecture: a config, or several for an ensemble."""

    name: str
    configs: tuple[ModelConfig, ...]
    lesson: Lesson | None = None  # in which suite it is taught to copy and to reverse, if at all

    @property
    def config(self) -> ModelConfig:
        """Of a model that is one."""
        (only,) = self.configs
        return only

    @property
    def is_ensemble(self) -> bool:
        return len(self.configs) > 1

    @property
    def has_source(self) -> bool:
        return self.configs[0].encoder is not None

    @property
    def looks_at_source(self) -> bool:
        """Has cross-attention, in some member."""
        return any(map(_crosses, self.configs))

    @property
    def has_attention(self) -> bool:
        """Of any sort."""
        stacks = [stack for config in self.configs for stack in (config.encoder, config.decoder)]
        return self.looks_at_source or any(isinstance(stack, TransformerConfig) for stack in stacks)


def _crosses(config: ModelConfig) -> bool:
    has_score = not isinstance(config.decoder, RecurrentDecoderConfig) or config.decoder.score != "none"
    return config.encoder is not None and has_score


class Talkative(nn.Module):
    """A model where a translator is asked for, unsure of its words and loath to end: the best sentence is not the shortest."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def begin(self, source: Tensor) -> State:
        return begin(self.model, source)

    def forward(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        log_probs, state = self.model(tokens, state)
        unsure = log_probs / 3
        unsure[..., EOS] = unsure.min(-1).values - 1.0
        return unsure.log_softmax(-1), state


def make(case: Case, seed: int = 0) -> Model:
    """The row's model with lively weights: no bias is zero and no norm is neutral, so that none can be forgotten unseen."""
    models = [build(config, VOCABULARY, VOCABULARY, seed + number) for number, config in enumerate(case.configs)]
    generator = torch.Generator().manual_seed(seed)
    for model in models:
        for parameter in model.parameters():
            parameter.data += 0.2 * torch.randn(parameter.shape, generator=generator)
    translators = [model.eval() for model in models if isinstance(model, Seq2Seq)]
    return Ensemble(translators).eval() if case.is_ensemble else models[0].eval()


def begin(model: Model, source: Tensor, noise: Noise | None = None) -> State:
    """Before the first target token of any row's model."""
    if isinstance(model, LanguageModel):
        return model.begin(noise)
    return model.begin(source) if isinstance(model, Ensemble) else model.begin(source, noise)


def sources() -> Tensor:
    """Sentences of unlike lengths, ended and padded."""
    return torch.tensor([[4, EOS, PAD, PAD, PAD], [3, 4, 5, 3, EOS], [5, 5, EOS, PAD, PAD]])


def targets(length: int = 6) -> Tensor:
    """A target per source, beginning with BOS."""
    words = torch.tensor([[1, 3, 4, 5, 5, 3, 4, 4], [1, 4, 4, 3, 5, 4, 3, 5], [1, 5, 3, 3, 4, 5, 5, 3]])
    return words[:, :length]


def noise(samples: tuple[int, ...] = SAMPLES) -> Noise:
    """Dropout for these samples."""
    return Noise.of(1, 4, torch.tensor(samples))


def _transformer(
    position: PositionName = "sinusoidal", norm: Literal["pre", "post"] = "pre", layers: int = 2
) -> TransformerConfig:
    return TransformerConfig(
        layers=layers, heads=4, hidden=24, position=position, norm=norm, attention_dropout=0.2, hidden_dropout=0.2
    )


def _whole(
    encoder: TransformerConfig | RecurrentEncoderConfig | None, decoder: TransformerConfig | RecurrentDecoderConfig
) -> ModelConfig:
    return ModelConfig(encoder, decoder, dim=DIM, dropout=0.2, max_length=16)


def _transformers() -> list[Case]:
    post = _transformer(norm="post")
    rows = [Case("Transformer, post-norm, sinusoidal", (_whole(post, post),), "slow")]
    for position in get_args(PositionName):
        stack = _transformer(position)
        lesson: Lesson | None = None if position == "none" else "quick" if position == "sinusoidal" else "slow"
        rows.append(Case(f"Transformer, pre-norm, {_PLAIN[position]}", (_whole(stack, stack),), lesson))
    return rows


_PLAIN: dict[PositionName, str] = {
    "none": "no positions",
    "sinusoidal": "sinusoidal",
    "learned": "learned",
    "rotary": "rotary",
    "alibi": "ALiBi",
    "relative": "relative",
}


def _recurrent(cell: CellName, bidirectional: bool, score: ScoreName | Literal["none"], feeding: bool) -> Case:
    reading = "bidirectional" if bidirectional else "unidirectional"
    looking = "without attention" if score == "none" else score + (", input feeding" if feeding else "")
    encoder = RecurrentEncoderConfig(layers=2, cell=cell, bidirectional=bidirectional)
    decoder = RecurrentDecoderConfig(layers=2, cell=cell, score=score, input_feeding=feeding)
    config = replace(_whole(encoder, decoder), tie="target")
    return Case(f"{cell.upper()}, {reading}, {looking}", (config,), _TAUGHT.get((cell, bidirectional, score, feeding)))


_TAUGHT: dict[tuple[CellName, bool, ScoreName | Literal["none"], bool], Lesson] = {
    ("gru", True, "additive", False): "quick",
    ("gru", True, "scaled_dot", True): "slow",
    ("lstm", True, "bilinear", True): "slow",
    ("lstm", False, "dot", False): "slow",
}


def _recurrents() -> list[Case]:
    rows = []
    for cell in get_args(CellName):
        for bidirectional in (False, True):
            for score in get_args(ScoreName):
                rows += [_recurrent(cell, bidirectional, score, feeding) for feeding in (False, True)]
            rows.append(_recurrent(cell, bidirectional, "none", False))
    return rows


def _others() -> list[Case]:
    stack, reader = _transformer(), RecurrentEncoderConfig(cell="gru")
    writer = RecurrentDecoderConfig(cell="lstm", score="additive", input_feeding=True)
    lstm, gru = RecurrentDecoderConfig(cell="lstm", score="none"), RecurrentDecoderConfig(cell="gru", score="none")
    unlike = (
        replace(_whole(stack, stack), tie="none"),
        _whole(RecurrentEncoderConfig(), writer),
        _whole(reader, gru),
    )
    return [
        Case("Transformer encoder, LSTM decoder", (_whole(stack, writer),), "slow"),
        Case("GRU encoder, Transformer decoder", (_whole(reader, stack),), "slow"),
        Case("language model: Transformer, post-norm, sinusoidal", (_whole(None, _transformer(norm="post")),)),
        Case("language model: Transformer, pre-norm, rotary", (_whole(None, _transformer("rotary")),)),
        Case("language model: LSTM", (_whole(None, lstm),)),
        Case("language model: GRU", (_whole(None, gru),)),
        Case("ensemble: Transformer, LSTM with attention, GRU without", unlike),
    ]


CASES: tuple[Case, ...] = (*_transformers(), *_recurrents(), *_others())


def case(name: str) -> Case:
    """The row of this name."""
    return next(row for row in CASES if row.name == name)
