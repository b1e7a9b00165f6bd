"""What a student learns from: every source once, in the teacher's words; nothing held out, nothing that failed; resumable."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from taught import ENDLESS, SILENT, Taught

from sightline.api import Model
from sightline.data.encoded import EncodedCorpus
from sightline.decode.options import SearchOptions
from sightline.errors import UserError
from sightline.models.store import find
from sightline.study import lesson as module
from sightline.study.lesson import Lesson, Material, prepare_lesson

OPTIONS = SearchOptions(beam=2)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


def learn(teacher: Model, folder: Path, material: Material | None = None, options: SearchOptions = OPTIONS) -> Lesson:
    return prepare_lesson(teacher, material or Material(), options, folder, lambda line: None)


def corpus(path: Path, *pairs: tuple[str, str]) -> str:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), "utf-8")
    return str(path)


def test_the_teachers_own_sources_are_translated_each_once(
    teacher: Model, taught: Taught, small_run: Path, tmp_path: Path
) -> None:
    lesson = learn(teacher, tmp_path)
    own = EncodedCorpus(small_run / "data" / "train")
    sources = [teacher.translator.tokenizers[0].decode(own.source(row)) for row in range(len(own))]
    assert taught.asked == list(dict.fromkeys(sources))
    assert [row["target"] for row in rows(lesson.train)] == [" ".join(reversed(text.split())) for text in taught.asked]
    assert rows(lesson.train)[0]["at"] == own.origin(0)
    for name in ("dev", "test"):
        assert rows(tmp_path / f"{name}.jsonl") == rows(small_run / "data" / f"{name}.jsonl")
    assert {path.name for path in tmp_path.iterdir()} == {
        "plan.json", "train.jsonl", "originals.jsonl", "dropped.jsonl", "dev.jsonl", "test.jsonl", "tokenizer.json",
    }  # fmt: skip


def test_stopped_anywhere_it_goes_on_and_ends_alike(
    teacher: Model, taught: Taught, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", 70)
    whole = learn(teacher, tmp_path / "whole")
    everything = taught.asked
    assert [len(call) for call in taught.calls][:3] == [70, 70, 70]
    taught.calls.clear()
    for number in (1, 3, 4):
        taught.stop_at = number
        with pytest.raises(KeyboardInterrupt):
            learn(teacher, tmp_path / "stopped")
    taught.stop_at = 0
    assert not (tmp_path / "stopped" / "train.jsonl").exists()
    again = learn(teacher, tmp_path / "stopped")
    assert taught.asked == everything  # nothing twice
    assert again.train.read_bytes() == whole.train.read_bytes()
    assert (again.folder / "dropped.jsonl").read_bytes() == (whole.folder / "dropped.jsonl").read_bytes()
    taught.calls.clear()
    assert learn(teacher, tmp_path / "stopped").train.read_bytes() == whole.train.read_bytes()
    assert not taught.calls  # all is there


@pytest.mark.parametrize("name", ["dropped.jsonl", "train.jsonl", "plan.json"])
def test_stopped_while_a_file_was_written_it_is_written_again(
    teacher: Model, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def stopped(made: str, path: str | Path) -> None:
        if Path(path).name == name:
            raise KeyboardInterrupt
        replace(made, path)

    whole = learn(teacher, tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr("sightline.text.files.os.replace", stopped)
        with pytest.raises(KeyboardInterrupt):
            learn(teacher, tmp_path / "stopped")
    assert learn(teacher, tmp_path / "stopped").train.read_bytes() == whole.train.read_bytes()


def test_only_what_teaches_is_kept_and_the_rest_is_accounted_for(teacher: Model, small_run: Path, tmp_path: Path) -> None:
    held = rows(small_run / "data" / "dev.jsonl")[0]["source"]
    file = corpus(
        tmp_path / "a.tsv",
        ("le chat dort", "the cat sleeps"),
        ("le chat dort", "the cat is asleep"),
        (f"un {SILENT}", "one"),
        (f"pour {ENDLESS}", "for ever"),
        (f"  {held.upper()} !", "held out, but for its letters"),
        ("", "nothing"),
    )
    text = tmp_path / "b.txt"
    text.write_text("la maison\nle chat dort\n", "utf-8")
    lesson = learn(teacher, tmp_path / "out", Material((file,), (str(text),), keep_originals=True))
    assert [(row["source"], row["target"]) for row in rows(lesson.train)] == [
        ("le chat dort", "dort chat le"), ("la maison", "maison la"),
    ]  # fmt: skip
    dropped = [(row["rule"], row["at"]) for row in rows(lesson.folder / "dropped.jsonl")]
    assert dropped == [
        ("duplicate", f"{file}:2"), ("held_out", f"{file}:5"), ("empty", f"{file}:6"), ("duplicate", f"{text}:2"),
        ("empty translation", f"{file}:3"), ("endless translation", f"{file}:4"),
    ]  # fmt: skip
    originals = [row["target"] for row in rows(lesson.originals)]
    assert originals == ["the cat sleeps", "the cat is asleep", "one", "for ever"]  # people did not fail


def test_another_lesson_is_not_mixed_in(teacher: Model, tmp_path: Path) -> None:
    file = corpus(tmp_path / "a.tsv", ("le chat dort", "the cat sleeps"))
    material = Material((file,))
    learn(teacher, tmp_path / "out", material)
    with pytest.raises(UserError, match=r"search\.beam was 2 and is now 3"):
        learn(teacher, tmp_path / "out", material, SearchOptions(beam=3))
    with pytest.raises(UserError, match=r"keep_originals was False and is now True"):
        learn(teacher, tmp_path / "out", Material((file,), keep_originals=True))
    corpus(tmp_path / "a.tsv", ("le chien dort", "the dog sleeps"))
    with pytest.raises(UserError, match=r"files\..*a\.tsv was"):
        learn(teacher, tmp_path / "out", material)


def test_held_out_pairs_may_be_named(teacher: Model, tmp_path: Path) -> None:
    dev = corpus(tmp_path / "dev.tsv", ("la lune", "the moon"))
    file = corpus(tmp_path / "a.tsv", ("La lune !", "the moon"), ("le soleil", "the sun"))
    lesson = learn(teacher, tmp_path / "out", Material((file,), dev=(dev,)))
    assert lesson.held_out("dev") == [("la lune", "the moon")]
    assert [row["source"] for row in rows(lesson.train)] == ["le soleil"]


def test_what_cannot_be_taught_from_is_refused(teacher: Model, small_run: Path, tmp_path: Path) -> None:
    file = corpus(tmp_path / "a.tsv", (f"un {SILENT}", "one"))
    for material, message in (
        (Material((file,)), "none of 1 translations is of use"),
        (Material(("-",)), "can be read only once"),
        (Material((corpus(tmp_path / "b.tsv", ("", "")),)), "nothing to translate"),
        (Material(("train.fr",)), "needs its other half"),
    ):
        with pytest.raises(UserError, match=message):
            learn(teacher, tmp_path / message.replace(" ", "-"), material)


def test_a_model_without_its_run_needs_files(taught: Taught, small_run: Path, tmp_path: Path) -> None:
    from sightline.api import load

    shutil.copytree(find(small_run), tmp_path / "alone")
    alone = load(tmp_path / "alone", engine="torch")
    with pytest.raises(UserError, match="the text it was trained on is not beside it"):
        learn(alone, tmp_path / "out")
    file = corpus(tmp_path / "a.tsv", ("le chat dort", "the cat sleeps"))
    with pytest.raises(UserError, match="name some with --dev"):
        learn(alone, tmp_path / "out", Material((file,)))
    assert learn(alone, tmp_path / "out", Material((file,), dev=(file,), texts=(str(_text(tmp_path)),))).held_out("test") == []


def _text(folder: Path) -> Path:
    path = folder / "text.txt"
    path.write_text("la maison\n", "utf-8")
    return path
