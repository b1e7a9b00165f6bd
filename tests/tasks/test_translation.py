"""Translation as a task: what a batch holds, what its loss is, where its lines come from, how BPE-dropout cuts them."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sightline.data.batches import BatchOrder
from sightline.data.encoded import EncodedCorpus, Rows, Side
from sightline.data.encoded_writer import CorpusWriter
from sightline.models.build import build
from sightline.models.config import ModelConfig, TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.nn.noise import Noise
from sightline.tasks.interface import Task
from sightline.tasks.translation import SIDES, TranslationTask, make_batch, padded, real_features
from sightline.text.bpe_dropout import coins
from sightline.text.learn import learn
from sightline.text.tokenizer import BOS, EOS, PAD, Tokenizer

STACK = TransformerConfig(layers=1, heads=2, hidden=32)
TEXTS = ["la maison rouge", "le chat mange la souris", "les maisons rouges", "un chat", "la souris mange", "rouge"]
sentences = st.lists(st.integers(4, 30), max_size=6)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return learn(TEXTS * 3, size=300)


@pytest.fixture(scope="module")
def corpus(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> EncodedCorpus:
    """The texts, to be translated into each other; the last one has an empty translation."""
    folder = tmp_path_factory.mktemp("tasks") / "corpus"
    rows = [tokenizer.encode(text) for text in TEXTS]
    sides = {name: Side(tokenizer.fingerprint, tokenizer.size) for name in ("source", "target")}
    with CorpusWriter(folder, sides, ["a.tsv", "b.tsv"]) as writer:
        pairs = {"source": Rows.of(rows, tokenizer.size), "target": Rows.of([*rows[1:], []], tokenizer.size)}
        writer.append(pairs, [0, 0, 0, 1, 1, 1], [1, 2, 7, 1, 2, 3])
    return EncodedCorpus(folder)


@pytest.fixture(scope="module")
def model(tokenizer: Tokenizer) -> Seq2Seq:
    made = build(ModelConfig(STACK, STACK, dim=16, dropout=0.2, max_length=64), tokenizer.size, tokenizer.size)
    assert isinstance(made, Seq2Seq)
    return made


def order(corpus: EncodedCorpus) -> BatchOrder:
    return BatchOrder(corpus.source_lengths, corpus.target_lengths, 40, seed=1)


def test_a_batch_by_hand() -> None:
    batch = make_batch([[5, 6], [7]], [[8], [9, 10]])
    assert batch.source.tolist() == [[5, 6, EOS], [7, EOS, PAD]]
    assert batch.inputs.tolist() == [[BOS, 8, PAD], [BOS, 9, 10]]
    assert batch.real.tolist() == [0, 1, 3, 4, 5]
    assert batch.targets.tolist() == [8, EOS, 9, 10, EOS]


def test_padding_by_hand() -> None:
    assert padded([[4], [5, 6, 7], []]).tolist() == [[4, PAD, PAD], [5, 6, 7], [PAD, PAD, PAD]]


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5))
def test_a_batch_holds_every_token_once_and_knows_which_are_real(pairs: list[tuple[list[int], list[int]]]) -> None:
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    batch = make_batch(sources, [np.array(target, np.uint16) for target in targets])
    assert [[token for token in row if token != PAD] for row in batch.source.tolist()] == [[*row, EOS] for row in sources]
    assert batch.targets.tolist() == [token for row in targets for token in (*row, EOS)]
    shifted = batch.inputs.roll(-1, 1).flatten()[batch.real]  # what comes next is what is to be predicted
    is_end = batch.targets == EOS
    assert torch.equal(shifted[~is_end], batch.targets[~is_end])
    assert len(batch.real) == sum(len(row) + 1 for row in targets)


def test_it_is_a_task(corpus: EncodedCorpus) -> None:
    task: Task = TranslationTask(corpus, order(corpus))
    count = task.batches(0)
    seen = sorted(int(row) for index in range(count) for row in task.rows(0, index))
    assert seen == list(range(len(TEXTS)))


def test_tokens_count_the_end_marks_and_origins_are_lines(corpus: EncodedCorpus) -> None:
    task = TranslationTask(corpus, order(corpus))
    rows = np.array([0, 5, 2])
    assert task.tokens(rows) == len(corpus.target(0)) + 1 + 1 + len(corpus.target(2)) + 1
    assert task.origins(rows) == ["a.tsv:1", "b.tsv:3", "a.tsv:7"]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("kind", ["uniform", "others"])
def test_the_loss_is_the_smoothed_cross_entropy_of_the_model(
    smoothing: float, kind: str, corpus: EncodedCorpus, model: Seq2Seq
) -> None:
    rows = np.arange(len(TEXTS))
    task = TranslationTask(corpus, order(corpus), smoothing, kind)  # type: ignore[arg-type]
    batch = make_batch([corpus.source(i) for i in rows], [corpus.target(i) for i in rows])
    told, _ = model(batch.inputs, model.begin(batch.source))
    told = told.flatten(0, 1)[batch.real].detach()
    right = told[torch.arange(len(batch.targets)), batch.targets]
    everywhere = told.mean(1)
    if kind == "others":
        everywhere = (told.sum(1) - right) / (told.size(1) - 1)
    expected = -((1 - smoothing) * right + smoothing * everywhere).sum()
    assert float(task.loss(model, rows, 0, None).detach()) == pytest.approx(float(expected), rel=1e-5)


def test_features_are_computed_for_real_tokens_only(corpus: EncodedCorpus, model: Seq2Seq) -> None:
    batch = make_batch([corpus.source(1), corpus.source(5)], [corpus.target(1), corpus.target(5)])
    assert real_features(model, batch, None).shape == (len(batch.targets), 16)


def test_noise_reaches_the_model(corpus: EncodedCorpus, model: Seq2Seq) -> None:
    task, rows = TranslationTask(corpus, order(corpus)), np.arange(3)
    noisy = [float(task.loss(model, rows, 0, Noise.of(seed, 0, torch.from_numpy(rows))).detach()) for seed in (1, 1, 2)]
    assert noisy[0] == noisy[1] != noisy[2]


def cuts(task: TranslationTask, epoch: int) -> list[list[int]]:
    return [list(map(int, row)) for row in task._cut("source", np.arange(len(task.corpus)), epoch)]


def test_bpe_dropout_cuts_anew_by_seed_epoch_and_sample_alone(corpus: EncodedCorpus, tokenizer: Tokenizer) -> None:
    def dropping(seed: int = 1) -> TranslationTask:
        return TranslationTask(corpus, order(corpus), bpe_dropout=0.5, tokenizers=(tokenizer, tokenizer), seed=seed)

    first = cuts(dropping(), 0)
    assert first == cuts(dropping(), 0)
    assert first != cuts(dropping(), 1)
    assert first != cuts(dropping(seed=2), 0)
    backwards = dropping()._cut("source", np.arange(len(TEXTS))[::-1].copy(), 0)
    assert [list(row) for row in backwards] == first[::-1], "whatever stands beside it"
    assert first != cuts(TranslationTask(corpus, order(corpus)), 0)
    assert [tokenizer.decode(ids) for ids in first] == TEXTS


def test_no_two_cuts_draw_from_one_series_of_numbers(
    corpus: EncodedCorpus, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither seeds nor epochs, samples and sides: not even a part of the series, begun earlier or later, is the same."""
    keys: list[int] = []

    def note(self: Tokenizer, text: str, rate: float, key: int) -> list[int]:
        keys.append(key)
        return []

    monkeypatch.setattr(Tokenizer, "encode_with_dropout", note)
    for seed in range(4):
        task = TranslationTask(corpus, order(corpus), bpe_dropout=0.5, tokenizers=(tokenizer, tokenizer), seed=seed)
        for epoch, name in itertools.product(range(3), SIDES):
            task._cut(name, np.arange(len(TEXTS)), epoch)
    assert len(keys) == 4 * 3 * 2 * len(TEXTS)
    drawn = [coin for key in keys for coin in itertools.islice(coins(key), 50)]
    assert len(set(drawn)) == len(drawn)


def test_a_loss_under_bpe_dropout_is_finite_and_still_weighed_by_the_usual_length(
    corpus: EncodedCorpus, tokenizer: Tokenizer, model: Seq2Seq
) -> None:
    plain = TranslationTask(corpus, order(corpus))
    task = TranslationTask(corpus, order(corpus), bpe_dropout=0.5, tokenizers=(tokenizer, tokenizer))
    rows = np.arange(len(TEXTS))
    assert task.tokens(rows) == plain.tokens(rows)
    assert float(task.loss(model, rows, 0, None).detach()) > float(plain.loss(model, rows, 0, None).detach())  # more pieces


def test_bpe_dropout_cuts_no_finer_than_a_model_can_read(corpus: EncodedCorpus, tokenizer: Tokenizer) -> None:
    """Learned positions end somewhere: what would have more pieces is cut as usual."""
    usual = cuts(TranslationTask(corpus, order(corpus)), 0)
    longest = max(map(len, usual)) + 2
    both = (tokenizer, tokenizer)
    free = cuts(TranslationTask(corpus, order(corpus), bpe_dropout=0.9, tokenizers=both), 0)
    bound = cuts(TranslationTask(corpus, order(corpus), bpe_dropout=0.9, tokenizers=both, longest=longest), 0)
    assert bound == [own if len(own) <= longest else plain for own, plain in zip(free, usual, strict=True)]
    assert bound != free
    assert bound != usual


def test_bpe_dropout_without_tokenizers_is_a_mistake(corpus: EncodedCorpus) -> None:
    with pytest.raises(ValueError, match="BPE-dropout needs the tokenizers"):
        TranslationTask(corpus, order(corpus), bpe_dropout=0.1)


def test_its_fingerprint_is_that_of_the_samples(corpus: EncodedCorpus, tokenizer: Tokenizer, tmp_path: Path) -> None:
    def other(vocabulary: int, last: list[int]) -> EncodedCorpus:
        folder = tmp_path / f"{vocabulary} {last}"
        rows = {name: Rows.of([list(corpus.row(name, i)) for i in range(5)] + [last], vocabulary) for name in SIDES}
        with CorpusWriter(folder, dict.fromkeys(SIDES, Side(tokenizer.fingerprint, vocabulary)), ["x"]) as writer:
            writer.append(rows, [0] * 6, range(6))
        return EncodedCorpus(folder)

    prints = [TranslationTask(other(300, last), order(corpus)).fingerprint for last in ([5], [6], [5, 6])]
    assert len({*prints, TranslationTask(corpus, order(corpus)).fingerprint}) == 4
    assert TranslationTask(EncodedCorpus(corpus.folder), order(corpus), 0.1).fingerprint == corpus.fingerprint
