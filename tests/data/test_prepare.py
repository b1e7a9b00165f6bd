"""From files to corpora: nothing lost, nothing leaked, the same bytes each time, whole or begun anew."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sightline.data import blocks, split, spool
from sightline.data.grammar import texts
from sightline.data.near import near_key
from sightline.data.prepare import CleanConfig, DataConfig, Prepared, TokenizerConfig, prepare, quiet
from sightline.data.readers import read_pairs
from sightline.errors import UserError

FRENCH, ENGLISH = (
    words.split()
    for words in (
        "le chat chien petit noir dort mange voit une maison rouge dans la rue avec son ami 3 14",
        "the cat dog little black sleeps eats sees a house red in the street with his friend 3 14",
    )
)
TOKENIZER = TokenizerConfig(size=400)


def make_pairs(count: int, seed: int = 0) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    choices = [draw.choices(range(len(FRENCH)), k=draw.randint(3, 9)) for _ in range(count)]
    return [(" ".join(FRENCH[i] for i in words), " ".join(ENGLISH[i] for i in words)) for words in choices]


def write_tsv(path: Path, pairs: list[tuple[str, str]]) -> str:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8", newline="\n")
    return str(path)


def run(folder: Path, *train: str, tell: Callable[[str], None] = quiet, seed: int = 1, **settings: Any) -> Prepared:
    config = DataConfig(train=train, **{"tokenizer": TOKENIZER, "workers": 1, "seed": seed, **settings})
    return prepare(config, "fr", "en", folder, tell)


def train_texts(prepared: Prepared) -> list[tuple[str, str]]:
    source, target = prepared.tokenizers
    corpus = prepared.train
    return [(source.decode(corpus.source(i).tolist()), target.decode(corpus.target(i).tolist())) for i in range(len(corpus))]


def audit(prepared: Prepared) -> list[dict[str, str]]:
    text = (prepared.folder / "dropped.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def content(folder: Path) -> dict[str, bytes]:
    """All files but the summary, which knows the time."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "summary.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_every_line_is_accounted_for(tmp_path: Path) -> None:
    pairs = make_pairs(300)
    lines = [f"{source}\t{target}" for source, target in pairs]
    lines[5] = "no tab"
    lines[6] = "\tnothing"
    lines[7] = "copy\tcopy"
    lines[8] = "a\x07b\tbell"
    lines[9] = lines[4]
    lines[10] = "un\t" + "very long " * 20
    lines[11] = "mot " * 300 + "\t" + "word " * 300
    lines[12] = "0123456789" * 6 + "\tmany pieces but few words"
    (tmp_path / "a.tsv").write_text("\n".join(lines))
    prepared = run(tmp_path / "out", str(tmp_path / "a.tsv"), clean=CleanConfig(max_pieces=50))
    summary, dropped = prepared.summary, audit(prepared)
    assert summary.read == 300
    assert summary.bad == 1
    assert summary.read == summary.bad + sum(summary.dropped.values()) + summary.train + summary.dev + summary.test
    assert (summary.train, summary.dev) == (len(prepared.train), len(prepared.dev))
    assert Counter(entry["rule"] for entry in dropped) == Counter({"unreadable": 1, **summary.dropped})
    place = {entry["at"].removeprefix(f"{tmp_path}/"): entry for entry in dropped}
    assert {f"a.tsv:{n}": place[f"a.tsv:{n}"]["rule"] for n in (6, 7, 8, 9, 10, 11, 12, 13)} == {
        "a.tsv:6": "unreadable",
        "a.tsv:7": "empty",
        "a.tsv:8": "copy",
        "a.tsv:9": "control",
        "a.tsv:10": "duplicate",
        "a.tsv:11": "ratio",
        "a.tsv:12": "length",
        "a.tsv:13": "pieces",
    }
    assert (place["a.tsv:10"]["source"], place["a.tsv:10"]["target"]) == pairs[4]
    assert "1 lines could not be read" in summary.text()
    assert "1 dropped: too many words (length)" in summary.text()


def test_kept_pairs_are_encoded_exactly_and_know_their_line(tmp_path: Path) -> None:
    pairs = make_pairs(200)
    prepared = run(tmp_path / "out", write_tsv(tmp_path / "a.tsv", pairs))
    kept = train_texts(prepared)
    assert Counter([*kept, *prepared.dev_texts(), *prepared.test_texts()]) == Counter(set(pairs))
    lines = [int(prepared.train.origin(i).removeprefix(f"{tmp_path / 'a.tsv'}:")) for i in range(len(prepared.train))]
    assert [pairs[line - 1] for line in lines] == kept
    assert lines == sorted(lines)
    source, target = prepared.tokenizers
    assert source is target
    for i, pair in enumerate(prepared.dev_texts()):
        assert (source.decode(prepared.dev.source(i).tolist()), target.decode(prepared.dev.target(i).tolist())) == pair
    prepared.train.verify()
    assert sorted(path.name for path in prepared.folder.iterdir()) == [
        "dev", "dev.jsonl", "dropped.jsonl", "summary.json", "test.jsonl", "tokenizer.json", "train",
    ]  # fmt: skip


def test_near_duplicates_never_straddle(tmp_path: Path) -> None:
    pairs = make_pairs(150)
    variants = [(f"{source.upper()} !", f"{target} {i}") for i, (source, target) in enumerate(pairs)]
    prepared = run(tmp_path / "out", write_tsv(tmp_path / "a.tsv", pairs + variants), dev_pairs=30, test_pairs=30)
    parts = [train_texts(prepared), prepared.dev_texts(), prepared.test_texts()]
    keys = [{near_key(source) for source, _ in part} for part in parts]
    assert len(parts[1]) == len(parts[2]) == 30
    assert not keys[0] & keys[1]
    assert not keys[0] & keys[2]
    assert not keys[1] & keys[2]


def test_workers_and_blocks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 40)
    pairs = make_pairs(800)
    pairs[10], pairs[20] = pairs[700], ("", "empty")
    path = write_tsv(tmp_path / "a.tsv", pairs)
    one, two = run(tmp_path / "one", path), run(tmp_path / "two", path, workers=2)
    assert content(one.folder) == content(two.folder)
    assert replace(one.summary, seconds=0.0) == replace(two.summary, seconds=0.0)
    other = run(tmp_path / "other", path, seed=2)
    assert sorted(other.dev_texts()) != sorted(one.dev_texts())


def test_a_finished_preparation_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_tsv(tmp_path / "a.tsv", make_pairs(100))
    first, before = run(tmp_path / "out", path), content(tmp_path / "out")
    os.utime(path)  # a new date alone is no change
    monkeypatch.setattr("sightline.data.prepare._prepare", None)
    told: list[str] = []
    again = run(tmp_path / "out", path, tell=told.append, workers=2)
    assert content(tmp_path / "out") == before
    assert again.summary == first.summary
    assert again.train.fingerprint == first.train.fingerprint
    assert len(told) == 1
    os.remove(path)
    run(tmp_path / "out", path, tell=told.append)
    assert f"{path} is not there any more" in told[1]


def test_changed_input_is_refused(tmp_path: Path) -> None:
    path = Path(write_tsv(tmp_path / "a.tsv", make_pairs(100)))
    run(tmp_path / "out", str(path))
    path.write_bytes(path.read_bytes().replace(b"chat", b"Chat", 1))
    with pytest.raises(UserError, match=r"a\.tsv: has changed since it was prepared; choose another output folder"):
        run(tmp_path / "out", str(path))


def test_other_settings_are_refused_and_named(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "a.tsv", make_pairs(100))
    run(tmp_path / "out", path)
    with pytest.raises(UserError, match=r"data\.tokenizer\.size was 400 and is now 500; choose another output folder"):
        run(tmp_path / "out", path, tokenizer=TokenizerConfig(size=500))
    with pytest.raises(UserError, match="seed was 1 and is now 2"):
        run(tmp_path / "out", path, seed=2)


@pytest.mark.parametrize("name", ["tokenizer.json", "train/source.ids", "dev/meta.json"])
def test_a_damaged_preparation_is_refused(tmp_path: Path, name: str) -> None:
    path = write_tsv(tmp_path / "a.tsv", make_pairs(100))
    run(tmp_path / "out", path)
    file = tmp_path / "out" / name
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(UserError, match=name.rpartition("/")[2]):
        run(tmp_path / "out", path)


def test_a_foreign_tokenizer_is_refused(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "a.tsv", make_pairs(100))
    run(tmp_path / "out", path)
    other = run(tmp_path / "other", path, tokenizer=TokenizerConfig(kind="chars", size=400))
    shutil.copy(other.folder / "tokenizer.json", tmp_path / "out")
    with pytest.raises(UserError, match="do not belong together"):
        run(tmp_path / "out", path)


KILLED = """
import os, sys
from unittest.mock import patch
from sightline.data.prepare import DataConfig, TokenizerConfig, prepare
from pathlib import Path

step, source, folder = sys.argv[1:]
with patch(f"sightline.data.prepare.{step}", lambda *_, **__: os._exit(9)):
    prepare(DataConfig((source,), tokenizer=TokenizerConfig(size=400), workers=1), "fr", "en", Path(folder))
"""


@pytest.mark.parametrize("step", ["clean", "decide", "encode", "shutil.rmtree", "Summary.write"])
def test_a_killed_preparation_is_begun_anew(tmp_path: Path, step: str) -> None:
    path = write_tsv(tmp_path / "a.tsv", make_pairs(100))
    whole = content(run(tmp_path / "whole", path).folder)
    killed = subprocess.run([sys.executable, "-c", KILLED, step, path, str(tmp_path / "out")], check=False)
    assert killed.returncode == 9
    assert (tmp_path / "out" / "dropped.jsonl").exists()
    assert not (tmp_path / "out" / "summary.json").exists()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    run(tmp_path / "out", path)
    assert content(tmp_path / "out") == whole | {"notes.txt": b"mine"}


def test_given_sets_are_kept_whole_and_out_of_training(tmp_path: Path) -> None:
    pairs = list(dict.fromkeys(make_pairs(220)))[:200]
    train = write_tsv(tmp_path / "a.tsv", pairs)
    dev = [(pairs[3][0].upper(), "other"), ("", "empty"), ("neuf", "new"), ("neuf", "new"), ("q" * 260, "long")]
    test = [(f"{pairs[7][0]} .", "x"), ("", "empty"), ("x\x07", "x\x07"), ("neuf", "new"), ("neuf", "new")]
    prepared = run(
        tmp_path / "out",
        train,
        dev=(write_tsv(tmp_path / "dev.tsv", dev),),
        test=(write_tsv(tmp_path / "test.tsv", test),),
    )
    assert prepared.dev_texts() == [dev[0], dev[2], dev[3]]
    assert [prepared.dev.origin(i).rpartition("/")[2] for i in range(3)] == ["dev.tsv:1", "dev.tsv:3", "dev.tsv:4"]
    assert prepared.test_texts() == test
    assert sorted((entry["rule"], entry["at"].rpartition("/")[2]) for entry in audit(prepared)) == [
        ("empty", "dev.tsv:2"),
        ("held_out", "a.tsv:4"),
        ("held_out", "a.tsv:8"),
        ("pieces", "dev.tsv:5"),
    ]
    assert prepared.summary.read == 210
    assert prepared.summary.train == 198


def test_texts_may_hold_tabs_and_line_ends(tmp_path: Path) -> None:
    rows = [{"fr": f"un\tdeux\n{i}", "en": f"one\ttwo\u2028{i}"} for i in range(3)]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    prepared = run(tmp_path / "out", write_tsv(tmp_path / "a.tsv", make_pairs(50)), test=(str(tmp_path / "test.jsonl"),))
    assert prepared.test_texts() == [(row["fr"], row["en"]) for row in rows]


def test_standard_input_is_prepared_and_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_tsv(tmp_path / "a.tsv", make_pairs(100))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(path).read_bytes())))
    prepared = run(tmp_path / "piped", "-")
    assert train_texts(prepared) == train_texts(run(tmp_path / "out", path))
    assert prepared.train.origin(0).startswith("standard input:")
    monkeypatch.setattr("sys.stdin", None)
    assert len(run(tmp_path / "piped", "-").train) == len(prepared.train)


def test_separate_vocabularies(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "a.tsv", make_pairs(300))
    prepared = run(tmp_path / "out", path, tokenizer=TokenizerConfig(size=320, joint=False))
    source, target = prepared.tokenizers
    assert source.fingerprint != target.fingerprint
    assert (tmp_path / "out" / "tokenizer.source.json").exists()
    assert prepared.train.side("target").tokenizer == target.fingerprint
    assert train_texts(prepared)[0] in make_pairs(300)
    assert run(tmp_path / "out", path, tokenizer=TokenizerConfig(size=320, joint=False)).tokenizers[1].size == target.size


def test_the_tokenizer_learns_from_the_training_text_alone(tmp_path: Path) -> None:
    train = write_tsv(tmp_path / "a.tsv", make_pairs(100))
    dev = write_tsv(tmp_path / "dev.tsv", [("ÿ" * 9, "þ" * 9)] * 9)
    source, _ = run(tmp_path / "out", train, dev=(dev,), tokenizer=TokenizerConfig(kind="chars", size=400)).tokenizers
    assert all(piece.startswith("<0x") for piece in source.pieces(source.encode("ÿ"))[1:])


def test_a_sample_is_enough_for_the_tokenizer(tmp_path: Path) -> None:
    told: list[str] = []
    path = write_tsv(tmp_path / "a.tsv", make_pairs(2000))
    run(tmp_path / "out", path, tokenizer=TokenizerConfig(size=400, sample=1000), tell=told.append)
    (line,) = (line for line in told if line.startswith("learnt"))
    assert 400 < int(line.split(" from ")[1].split(" ")[0]) < 600


def test_progress_is_told_in_a_few_lines(tmp_path: Path) -> None:
    told: list[str] = []
    lines = "".join(f"{source}\t{target}\n" for source, target in make_pairs(400)) + "no tab\n" * 9
    (tmp_path / "a.tsv").write_text(lines)
    run(tmp_path / "out", str(tmp_path / "a.tsv"), tell=told.append)
    assert [line.partition(": ")[2] for line in told if line.startswith("skipped")] == ["no tab"] * 5
    assert sum("/s)" in line for line in told) == 2
    assert len(told) < 12


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["\tx"] * 30, r"a\.tsv: nothing to train on is left of 30 pairs \(30 empty\)"),
        (["a b\tc d"] * 30, r"nothing to train on is left of 30 pairs \(29 duplicate\)"),
        (["no tab"] * 9, r"\(9 unreadable\)"),
        ([], r"is left of 0 pairs \(none dropped\)"),
        ([f"A {i}.\tB {i}" for i in range(99)], r"none of 99 pairs can be held out"),
    ],
)
def test_too_little_is_an_error_that_says_why(tmp_path: Path, lines: list[str], reason: str) -> None:
    (tmp_path / "a.tsv").write_text("\n".join(lines))
    with pytest.raises(UserError, match=reason):
        run(tmp_path / "out", str(tmp_path / "a.tsv"))
    assert not (tmp_path / "out" / "summary.json").exists()


def test_no_data_or_no_place_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no training data; name"):
        run(tmp_path / "out")
    with pytest.raises(UserError, match="there is no such file"):
        run(tmp_path / "out", str(tmp_path / "a.tsv"))
    assert not (tmp_path / "out").exists()
    path = write_tsv(tmp_path / "a.tsv", make_pairs(50))
    with pytest.raises(UserError, match="cannot be written to"):
        run(Path(path) / "out", path)
    with pytest.raises(UserError, match="standard input can be read only once"):
        run(tmp_path / "out", "-", dev=("-",))


@pytest.mark.parametrize(
    "wrong",
    [{"dev_pairs": 0}, {"test_pairs": -1}, {"workers": -1}, {"dev": ("d.tsv",), "dev_pairs": 5}],
)
def test_senseless_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(reversed(wrong))):
        DataConfig(**wrong)


def test_the_built_in_corpus_is_the_same_in_any_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(texts(3, "train", 240))
    assert [(pair.source, pair.target) for pair in read_pairs(["builtin:240"], "fr", "en", seed=3)] == whole
    assert [(pair.target, pair.source) for pair in read_pairs(["builtin:240"], "en", "fr", seed=3)] == whole
    monkeypatch.setattr(blocks, "BLOCK", 20)
    settings: dict[str, Any] = {"seed": 3, "test": ("builtin:test:30",)}
    one = run(tmp_path / "one", "builtin:240", **settings)
    two = run(tmp_path / "two", "builtin:240", workers=2, **settings)
    assert content(one.folder) == content(two.folder)
    assert set(train_texts(one)) <= set(whole)
    assert one.summary.train + sum(one.summary.dropped.values()) == 240 - 12
    assert whole[int(one.train.origin(7).removeprefix("builtin:240:")) - 1] == train_texts(one)[7]
    assert len(one.test_texts()) == 30
    run(tmp_path / "one", "builtin:240", **settings)


def test_a_changed_generator_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "out", "builtin:60")
    monkeypatch.setattr("sightline.data.grammar.texts", lambda _, *rest: texts(2, *rest))
    with pytest.raises(UserError, match="builtin:60: has changed since it was prepared"):
        run(tmp_path / "out", "builtin:60")


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((blocks, "BLOCK"), (split, "PART"), (spool, "CHUNK")):
        monkeypatch.setattr(module, name, 200)
    peaks = []
    for count in (2000, 12_000):
        path = write_tsv(tmp_path / f"{count}.tsv", make_pairs(count))
        tracemalloc.start()
        run(tmp_path / str(count), path, dev_pairs=50, test_pairs=50, tokenizer=TokenizerConfig(size=400, sample=600))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # A byte or two for each pair, for what becomes of it; holding the texts would take hundreds.
    assert peaks[1] - peaks[0] < 15 * 10_000


def test_multi30k(tmp_path: Path, shared_data: Path) -> None:
    folder = shared_data / "multi30k"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    dev, test = (tuple(str(folder / f"{part}.{code}.gz") for code in ("de", "en")) for part in ("val", "test_2016_flickr"))
    config = DataConfig(
        train=(str(folder / "train.en.gz"), str(folder / "train.de.gz")),
        dev=dev,
        test=test,
        clean=CleanConfig(max_ratio=3.0),
        tokenizer=TokenizerConfig(size=2000),
    )
    prepared = prepare(config, "en", "de", tmp_path / "out")
    summary = prepared.summary
    assert (summary.read, summary.dev, summary.test) == (29_000 + 1014 + 1000, 1014, 1000)
    assert 28_950 < summary.train < 29_000
    assert summary.dropped["duplicate"] == 3
    assert prepared.test_texts()[0] == (
        "A man in an orange hat starring at something.",
        "Ein Mann mit einem orangefarbenen Hut, der etwas anstarrt.",
    )
    held = {near_key(source) for source, _ in [*prepared.dev_texts(), *prepared.test_texts()]}
    assert not held & {near_key(source) for source, _ in train_texts(prepared)}
