"""Laws of learning: copying and reversing are learnt, and looking comes out as a diagonal of its own accord."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import torch
from laws.cases import Case, Lesson
from laws.watching import joined
from torch import Tensor

from sightline.decode.options import SearchOptions
from sightline.decode.search import beam_search
from sightline.models.build import build
from sightline.models.config import ModelConfig, TransformerConfig
from sightline.models.recurrent import RecurrentEncoder
from sightline.models.seq2seq import Seq2Seq
from sightline.nn.attention import watch
from sightline.nn.output_loss import output_cross_entropy
from sightline.tasks.translation import make_batch, real_features
from sightline.text.tokenizer import BOS, EOS, UNK

WORDS = range(UNK + 1, UNK + 9)
UPDATES: dict[Lesson, int] = {"quick": 300, "slow": 3000}
Exercise = Literal["copy", "reverse"]


def copying(case: Case) -> float:
    """Say again what was said."""
    return lesson(case, "copy", UPDATES[case.lesson or "slow"])


def reversing(case: Case) -> float:
    """Say it from the end."""
    return lesson(case, "reverse", UPDATES[case.lesson or "slow"])


def lesson(case: Case, exercise: Exercise, updates: int, rows: int = 32) -> float:
    """The share of words that come out wrong after training, or of looks that miss the diagonal, whichever is larger."""
    torch.manual_seed(1)
    model = build(_roomier(case.config), max(WORDS) + 1, max(WORDS) + 1, seed=1)
    assert isinstance(model, Seq2Seq)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), fused=True)
    generator = torch.Generator().manual_seed(1)
    for update in range(1, updates + 1):
        optimiser.param_groups[0]["lr"] = 0.005 * min(update / 40, 2 * (1 - update / (updates + 1)), 1.0)
        batch = make_batch(*_pairs(exercise, rows, generator))
        loss = output_cross_entropy(real_features(model, batch, None), model.head.weight, batch.targets)
        optimiser.zero_grad()
        (loss / len(batch.real)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return _faults(model, exercise, generator)


def _roomier(config: ModelConfig) -> ModelConfig:
    """Enough channels to learn something; one layer and few heads, so that the work is not shared out; no dropout."""
    encoder, decoder = config.encoder, config.decoder
    changes = {"heads": 2, "hidden": 64, "attention_dropout": 0.0, "hidden_dropout": 0.0}
    if isinstance(encoder, TransformerConfig):
        encoder = replace(encoder, layers=1, **changes)
    if isinstance(decoder, TransformerConfig):
        decoder = replace(decoder, **changes)
    return replace(config, dim=32, dropout=0.0, encoder=encoder, decoder=replace(decoder, layers=1))


def _pairs(exercise: Exercise, rows: int, generator: torch.Generator) -> tuple[list[list[int]], list[list[int]]]:
    said = []
    for _ in range(rows):
        length = int(torch.randint(2, 6, (1,), generator=generator))
        said.append([WORDS[int(i)] for i in torch.randperm(len(WORDS), generator=generator)[:length]])
    return said, said if exercise == "copy" else [words[::-1] for words in said]


@torch.no_grad()
def _faults(model: Seq2Seq, exercise: Exercise, generator: torch.Generator) -> float:
    said, wanted = _pairs(exercise, 64, generator)
    batch = make_batch(said, wanted)
    written = [best.tokens for best, *_ in beam_search(model, batch.source, SearchOptions(beam=1))]
    wrong = sum(
        a != b for words, own in zip(wanted, written, strict=True) for a, b in zip(words, _as_long(own, words), strict=True)
    )
    twin, notebook = watch(model)
    twin(batch.inputs, twin.begin(batch.source))
    weights = torch.cat([joined(notes) for name, notes in notebook.items() if name.endswith("cross")], 1)
    # A recurrent state knows the word before it too, so that all looks may fall one place beside the diagonal.
    shifts = (0, 1, -1) if isinstance(model.encoder, RecurrentEncoder) else (0,)
    missed = min(_missed(weights, [len(words) for words in said], exercise, shift) for shift in shifts)
    return max(wrong / sum(map(len, wanted)), missed)


def _as_long(own: tuple[int, ...], wanted: list[int]) -> list[int]:
    """Cut or filled up: a missing or superfluous word is a wrong one."""
    extra = [BOS] * (len(wanted) - len(own))
    return [*own[: len(wanted)], *extra] if len(own) <= len(wanted) else [EOS] * len(wanted)


def _missed(weights: Tensor, lengths: list[int], exercise: Exercise, shift: int) -> float:
    """Of the best head: how often a word was written while it looked most at another than the one being said again."""
    hits = torch.zeros(weights.size(1))
    for row, length in enumerate(lengths):
        places = torch.arange(length)
        diagonal = shift + (places if exercise == "copy" else places.flip(0))
        hits += (weights[row, :, :length].argmax(-1) == diagonal).sum(-1)
    return 1 - float(hits.max()) / sum(lengths)
