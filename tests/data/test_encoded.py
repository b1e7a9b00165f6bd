"""Encoded corpora: what is written comes back, whole or not at all."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.data.encoded import EncodedCorpus, Rows, Side
from sightline.data.encoded_writer import CorpusWriter
from sightline.errors import UserError

SENTENCES = [[5, 6, 7], [], [8], [300, 301, 302, 303]]


def write(folder: Path, sentences: list[list[int]], vocabulary: int = 400, chunk: int = 3) -> EncodedCorpus:
    """A one-sided corpus whose sample i comes from line 10 i of one of two files."""
    with CorpusWriter(folder, {"text": Side("abc", vocabulary)}, ["even.txt", "odd.txt"]) as writer:
        for begin in range(0, len(sentences), chunk):
            part = range(begin, min(begin + chunk, len(sentences)))
            rows = Rows.of([sentences[i] for i in part], vocabulary)
            writer.append({"text": rows}, [i % 2 for i in part], [10 * i for i in part])
    return EncodedCorpus(folder)


def write_pairs(folder: Path) -> EncodedCorpus:
    sides = {"source": Side("abc", 400), "target": Side("def", 70_000)}
    with CorpusWriter(folder, sides, ["a.tsv"]) as writer:
        target = Rows.of([[1], [2, 69_999], [], [3]], 70_000)
        writer.append({"source": Rows.of(SENTENCES, 400), "target": target}, [0] * 4, [1, 2, 4, 9])
    return EncodedCorpus(folder)


def test_both_sides_come_back(tmp_path: Path) -> None:
    corpus = write_pairs(tmp_path / "c")
    assert corpus.sides == ("source", "target")
    assert [corpus.source(i).tolist() for i in range(len(corpus))] == SENTENCES
    assert [corpus.target(i).tolist() for i in range(len(corpus))] == [[1], [2, 69_999], [], [3]]
    assert corpus.source_lengths.tolist() == [3, 0, 1, 4]
    assert corpus.target_lengths.tolist() == [1, 2, 0, 1]
    assert corpus.target_lengths.dtype == np.int32
    assert (corpus.side("source").tokens, corpus.side("source").longest) == (8, 4)
    assert corpus.side("target").tokenizer == "def"
    assert [corpus.origin(i) for i in range(4)] == ["a.tsv:1", "a.tsv:2", "a.tsv:4", "a.tsv:9"]
    corpus.verify()


@given(st.lists(st.lists(st.integers(0, 399), max_size=6), max_size=20), st.integers(1, 7))
def test_any_sentences_in_any_chunks_give_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[int]], chunk: int
) -> None:
    root = tmp_path_factory.mktemp("any")
    corpus, whole = write(root / "a", sentences, chunk=chunk), write(root / "b", sentences, chunk=1000)
    assert [corpus.row("text", i).tolist() for i in range(len(corpus))] == sentences
    assert corpus.lengths("text").tolist() == [len(sentence) for sentence in sentences]
    assert [corpus.origin(i) for i in range(len(corpus))] == [
        f"{('even.txt', 'odd.txt')[i % 2]}:{10 * i}" for i in range(len(sentences))
    ]
    for file in sorted(corpus.folder.iterdir()):
        assert file.read_bytes() == (whole.folder / file.name).read_bytes()


@pytest.mark.parametrize(("vocabulary", "bytes_each"), [(65_536, 2), (65_537, 4)])
def test_ids_take_the_smallest_type_that_holds_them(tmp_path: Path, vocabulary: int, bytes_each: int) -> None:
    corpus = write(tmp_path / "c", [[vocabulary - 1, 0]], vocabulary)
    assert corpus.row("text", 0).tolist() == [vocabulary - 1, 0]
    assert (tmp_path / "c" / "text.ids").stat().st_size == 2 * bytes_each


def test_ids_outside_the_vocabulary_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="id 400 is not in a vocabulary of 400"):
        write(tmp_path / "c", [[400]])
    assert not list(tmp_path.iterdir())


def test_sentences_are_read_only_and_bounded(tmp_path: Path) -> None:
    corpus = write(tmp_path / "c", SENTENCES)
    with pytest.raises(ValueError, match="read-only"):
        corpus.row("text", 0)[0] = 9
    for outside in (-1, 4):
        with pytest.raises(IndexError):
            corpus.row("text", outside)


def test_sides_of_unequal_length_are_refused(tmp_path: Path) -> None:
    writer = CorpusWriter(tmp_path / "c", {"source": Side("a", 9), "target": Side("b", 9)}, ["f"])
    with pytest.raises(ValueError, match="target: 1 sentences"), writer:
        writer.append({"source": Rows.of([[1], [2]], 9), "target": Rows.of([[1]], 9)}, [0, 0], [1, 2])
    assert not list(tmp_path.iterdir())


def test_an_unfinished_corpus_has_no_name_and_does_not_stand_in_the_way(tmp_path: Path) -> None:
    with CorpusWriter(tmp_path / "c", {"text": Side("abc", 400)}, ["f"]) as unfinished:
        unfinished.append({"text": Rows.of([[1, 2]], 400)}, [0], [1])
        with pytest.raises(UserError, match="no encoded corpus here"):
            EncodedCorpus(tmp_path / "c")
        shutil.copytree(tmp_path / "c.partial", tmp_path / "left")
    shutil.rmtree(tmp_path / "c")
    (tmp_path / "left").rename(tmp_path / "c.partial")  # as a kill leaves it
    corpus = write(tmp_path / "c", SENTENCES)
    assert len(corpus) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_a_finished_corpus_is_not_overwritten(tmp_path: Path) -> None:
    write(tmp_path / "c", SENTENCES)
    with pytest.raises(UserError, match="exists already"):
        write(tmp_path / "c", [[1]])
    assert len(EncodedCorpus(tmp_path / "c")) == 4


@pytest.mark.parametrize("name", ["source.ids", "target.ids", "source.offsets", "target.offsets", "origin"])
def test_a_cut_or_missing_file_is_named(tmp_path: Path, name: str) -> None:
    path = write_pairs(tmp_path / "c").folder / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UserError, match=rf"{name}: \d+ bytes, but meta.json says"):
        EncodedCorpus(tmp_path / "c")
    path.unlink()
    with pytest.raises(UserError, match=f"{name}: missing"):
        EncodedCorpus(tmp_path / "c")


def test_a_changed_file_is_found(tmp_path: Path) -> None:
    corpus = write(tmp_path / "c", SENTENCES)
    ids = tmp_path / "c" / "text.ids"
    ids.write_bytes(b"\1" + ids.read_bytes()[1:])
    with pytest.raises(UserError, match=r"text.ids: the content has changed"):
        corpus.verify()
    offsets = tmp_path / "c" / "text.offsets"
    offsets.write_bytes(offsets.read_bytes()[:-8] + bytes(8))
    with pytest.raises(UserError, match=r"offsets: damaged"):
        EncodedCorpus(tmp_path / "c")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "sightline-corpus", "version": 1}', "\udcff"])
def test_a_damaged_meta_is_named(tmp_path: Path, text: str) -> None:
    write(tmp_path / "c", SENTENCES)
    (tmp_path / "c" / "meta.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UserError, match=r"meta.json: damaged"):
        EncodedCorpus(tmp_path / "c")


def test_another_format_version_is_refused(tmp_path: Path) -> None:
    meta = write(tmp_path / "c", SENTENCES).folder / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"version": 2}))
    with pytest.raises(UserError, match="not a corpus of format version 1"):
        EncodedCorpus(tmp_path / "c")


def test_fingerprint_follows_content_not_place(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a", SENTENCES)
    assert corpus.fingerprint == write(tmp_path / "elsewhere", SENTENCES).fingerprint
    assert corpus.fingerprint != write(tmp_path / "b", SENTENCES[::-1]).fingerprint
    moved = write(tmp_path / "c", [[5, 6], [7], [8], [300, 301, 302, 303]])  # the same ids, cut elsewhere
    assert corpus.fingerprint != moved.fingerprint


def test_a_copy_in_another_process_maps_the_files_again(tmp_path: Path) -> None:
    many = write(tmp_path / "c", [[1, 2, 3]] * 10_000)
    sent = pickle.dumps(many)
    assert len(sent) < 1000
    assert pickle.loads(sent).row("text", 9_999).tolist() == [1, 2, 3]
