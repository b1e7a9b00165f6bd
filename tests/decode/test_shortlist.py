"""Shortlists: a word's translations are found, kept beside the model, and another model's are refused."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sightline import load
from sightline.cli import app
from sightline.data.encoded import EncodedCorpus, Rows, Side
from sightline.data.encoded_writer import CorpusWriter
from sightline.decode.shortlist import FILE, Shortlist, coverage, learn_shortlist
from sightline.errors import UserError
from sightline.native import why_not
from sightline.text.learn import learn
from sightline.text.tokenizer import BOS, EOS, PAD, Tokenizer

WORDS = 20  # of each language; word i is translated by word i, in any order
READ = learn([" ".join(f"s{i}" for i in range(WORDS))], "words", 100, min_frequency=1)
WRITTEN = learn([" ".join(f"t{i}" for i in range(WORDS)) + " the"], "words", 100, min_frequency=1)
BOTH = (READ, WRITTEN)


def one(tokenizer: Tokenizer, word: str) -> int:
    (piece,) = tokenizer.encode(word)
    return piece


THE = one(WRITTEN, "the")


def write(folder: Path, pairs: list[tuple[list[int], list[int]]]) -> EncodedCorpus:
    sides = {"source": Side(READ.fingerprint, READ.size), "target": Side(WRITTEN.fingerprint, WRITTEN.size)}
    with CorpusWriter(folder, sides, ["a.tsv"]) as writer:
        rows = {"source": Rows.of([s for s, _ in pairs], READ.size), "target": Rows.of([t for _, t in pairs], WRITTEN.size)}
        writer.append(rows, [0] * len(pairs), list(range(len(pairs))))
    return EncodedCorpus(folder)


@pytest.fixture
def corpus(tmp_path: Path) -> EncodedCorpus:
    """Every translation begins with a word that nothing in the source stands for."""
    chance, pairs = random.Random(1), []
    for _ in range(200):
        words = chance.sample(range(WORDS), 5)
        source = [one(READ, f"s{i}") for i in words]
        pairs.append((source, [THE, *(one(WRITTEN, f"t{i}") for i in chance.sample(words, 5))]))
    return write(tmp_path / "corpus", pairs)


def test_a_words_translation_comes_first(corpus: EncodedCorpus) -> None:
    made = learn_shortlist(corpus, BOTH, per_piece=3, frequent=1)
    assert made.of_each.shape == (READ.size, 3)
    for i in range(WORDS):
        assert made.of_each[one(READ, f"s{i}"), 0] == one(WRITTEN, f"t{i}")
    assert made.always.tolist() == [EOS, THE]
    assert (made.of_each[[PAD, BOS, EOS]] == -1).all()  # what never stands in a source has no translation


def test_few_pieces_cover_all_that_is_written(corpus: EncodedCorpus) -> None:
    made = learn_shortlist(corpus, BOTH, per_piece=1, frequent=1)
    assert made.of([one(READ, "s3"), one(READ, "s7"), one(READ, "s3")]).tolist() == sorted(
        [EOS, THE, one(WRITTEN, "t3"), one(WRITTEN, "t7")]
    )
    assert coverage(made, corpus) == (7.0, 1.0)
    share = coverage(Shortlist(made.of_each, np.array([EOS], np.int32)), corpus)[1]
    assert share == pytest.approx(5 / 6)


def test_it_comes_back_as_it_was_written(corpus: EncodedCorpus, tmp_path: Path) -> None:
    assert Shortlist.beside(tmp_path) is None
    made = learn_shortlist(corpus, BOTH)
    assert made.save(tmp_path) == tmp_path / FILE
    found = Shortlist.beside(tmp_path)
    assert found is not None
    assert np.array_equal(found.of_each, made.of_each)
    assert np.array_equal(found.always, made.always)


def test_a_damaged_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a list")
    with pytest.raises(UserError, match="learn it again, or delete it"):
        Shortlist.beside(tmp_path)


def test_another_models_is_refused(corpus: EncodedCorpus) -> None:
    made = learn_shortlist(corpus, BOTH)
    made.check(READ.size, WRITTEN.size)
    for sizes in ((READ.size + 1, WRITTEN.size), (READ.size, WRITTEN.size - 1)):
        with pytest.raises(UserError, match="belongs to another model"):
            made.check(*sizes)


@pytest.mark.parametrize("what", ["below", "outside", "flat"])
def test_numbers_that_are_no_places_in_the_vocabulary_are_refused(corpus: EncodedCorpus, what: str) -> None:
    """Model folders come from other people, and the engine would read and write wherever these numbers point."""
    sound = learn_shortlist(corpus, BOTH)
    sound.check(READ.size, WRITTEN.size)
    of_each, always = sound.of_each.copy(), sound.always.copy()
    if what == "below":
        always = np.array([EOS, -5_000_000], np.int32)
    elif what == "outside":
        of_each[0, 0] = WRITTEN.size
    else:
        of_each = of_each.ravel()
    with pytest.raises(UserError, match="or is damaged"):
        Shortlist(of_each, always).check(READ.size, WRITTEN.size)


def test_a_corpus_of_other_tokenizers_is_refused(corpus: EncodedCorpus) -> None:
    with pytest.raises(UserError, match="not prepared with the tokenizers of this model"):
        learn_shortlist(corpus, (WRITTEN, READ))


def test_an_empty_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to learn a shortlist from"):
        learn_shortlist(write(tmp_path / "empty", []), BOTH)


def test_a_large_corpus_is_sampled(corpus: EncodedCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.decode.shortlist.MOST_MEETINGS", 3000)  # half of it
    made = learn_shortlist(corpus, BOTH, per_piece=3, frequent=1)
    first = [int(made.of_each[one(READ, f"s{i}"), 0] == one(WRITTEN, f"t{i}")) for i in range(WORDS)]
    assert sum(first) > WORDS - 3


def test_the_command_puts_it_beside_the_model_and_it_is_used(small_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(small_run, run)
    done = CliRunner().invoke(app, ["shortlist", str(run), "--per-piece", "5", "--frequent", "10"])
    assert done.exit_code == 0, done.output
    assert str(run / "model" / FILE) in done.output
    assert load(run, engine="torch").engine() == "torch fp32"
    if why_not("engine"):
        pytest.skip(why_not("engine"))
    assert "shortlist" in load(run).engine()
    (run / "model" / FILE).unlink()
    assert "shortlist" not in load(run).engine()
