"""From a teacher to a student: the teacher's words, pieces and held-out pairs, a model of its own, and a table of both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from taught import Taught
from typer.testing import CliRunner

from sightline.api import Model, load
from sightline.cli import app
from sightline.config import load as load_config
from sightline.data.encoded import EncodedCorpus
from sightline.decode.options import SearchOptions
from sightline.errors import UserError
from sightline.runs.train import Outcome, train_model
from sightline.study import beside
from sightline.study import distill as module
from sightline.study.distill import Distillation, distill
from sightline.study.lesson import Lesson, Material
from sightline.train.config import RunConfig

SHORT = (
    "data.workers=1", "model.encoder.layers=2", "train.max_updates=4", "train.validate_every=2", "train.validate_sentences=0",
    "train.judge=loss", "train.average=0", "train.precision=fp32", "train.device=cpu", "train.tokens=600",
)  # fmt: skip


def wanted(small_run: Path, student: Path, *changes: str, **more: object) -> Distillation:
    return Distillation((small_run,), student, changes=(*SHORT, *changes), engine="torch", **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def student(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole way, once."""
    folder, said = tmp_path_factory.mktemp("distilled") / "student", list[str]()
    with pytest.MonkeyPatch.context() as patch:
        known = Taught()
        patch.setattr(Model, "translate", lambda model, texts, options=None: known.translate(model, texts, options))
        patch.setattr(beside, "TURN", 0.0)
        patch.setattr(beside, "SHORTEST", 0.0)
        outcome, found = distill(wanted(small_run, folder), said.append)
    assert outcome.reason == "4 updates"
    assert found is not None
    assert [each.name for each in found.standings] == [str(small_run), str(folder)]
    return folder


def test_the_student_is_trained_on_the_teachers_words(student: Path) -> None:
    config = load_config(RunConfig, student / "config.toml")
    assert config.data.train == (str(student / "distilled" / "train.jsonl"),)
    corpus, (_, target) = EncodedCorpus(student / "data" / "train"), load(student, engine="torch").translator.tokenizers
    taught = {json.loads(line)["target"] for line in (student / "distilled" / "train.jsonl").read_text().split("\n")[:-1]}
    assert {target.decode(corpus.target(row)) for row in range(len(corpus))} <= taught


def test_it_has_the_teachers_pieces_and_can_vote_with_it(student: Path, small_run: Path) -> None:
    both = load(small_run, student, engine="torch")
    assert (student / "model" / "tokenizer.json").read_bytes() == (small_run / "model" / "tokenizer.json").read_bytes()
    assert len(both.translate(["le chat dort"], SearchOptions(beam=2))) == 1


def test_it_is_judged_by_pairs_that_were_held_out_from_the_teacher(student: Path, small_run: Path) -> None:
    for name in ("dev.jsonl", "test.jsonl"):
        assert (student / "data" / name).read_text() == (small_run / "data" / name).read_text()


def test_it_has_a_deep_encoder_and_a_shallow_decoder_of_the_teachers_width(student: Path) -> None:
    model = load_config(RunConfig, student / "config.toml").model
    assert (model.dim, model.encoder.layers, model.decoder.layers) == (16, 2, 1)  # type: ignore[union-attr]
    assert (model.decoder.heads, model.encoder.hidden) == (2, 32)  # type: ignore[union-attr]


def test_the_table_says_how_large_how_fast_and_how_good(student: Path, small_run: Path) -> None:
    told = json.loads((student / "comparison.json").read_text())
    first, second = told["models"]
    assert (first["name"], second["name"]) == (str(small_run), str(student))
    assert first["parameters"] == 12_032
    assert second["megabytes"] == pytest.approx((student / "model" / "model.safetensors").stat().st_size / 1e6)
    assert first["greedy_times"]["median"] == first["beam_times"]["low"] == 1.0
    assert first["contrast"] is None
    assert second["contrast"]["difference"]["value"] == pytest.approx(second["bleu"]["value"] - first["bleu"]["value"])
    assert second["bleu"]["low"] <= second["bleu"]["value"] <= second["bleu"]["high"]
    assert any("sha256" in note for note in told["recipe"].values())
    page = (student / "comparison.md").read_text()
    assert f"| {student} |" in page
    assert "nrefs:1" in page


def test_the_same_command_again_only_measures(
    student: Path, small_run: Path, taught: Taught, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "TURN", 0.0)
    monkeypatch.setattr(beside, "SHORTEST", 0.0)
    weights = (student / "model" / "model.safetensors").read_bytes()
    _, found = distill(wanted(small_run, student, others=(small_run / "model",)), lambda line: None)
    assert found is not None
    assert len(found.standings) == 3  # another model beside the two
    assert (student / "model" / "model.safetensors").read_bytes() == weights


def test_translations_made_for_one_student_serve_another(
    student: Path, small_run: Path, tmp_path: Path, taught: Taught, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "TURN", 0.0)
    monkeypatch.setattr(beside, "SHORTEST", 0.0)
    distill(wanted(small_run, tmp_path / "other", "model.dropout=0.2", lesson=student), lambda line: None)
    assert len(taught.calls[0]) == 20  # held-out sources, to be measured by
    copied = tmp_path / "other" / "distilled" / "train.jsonl"
    assert copied.read_bytes() == (student / "distilled" / "train.jsonl").read_bytes()
    with pytest.raises(UserError, match=r"search\.beam was 5 and is now 2"):
        distill(wanted(small_run, tmp_path / "third", lesson=student, search=SearchOptions(beam=2)), lambda line: None)
    with pytest.raises(UserError, match="no finished translations here"):
        distill(wanted(small_run, tmp_path / "fourth", lesson=small_run), lambda line: None)


def test_originals_are_learnt_besides(teacher: Model, small_run: Path, tmp_path: Path) -> None:
    request = module._request(
        wanted(small_run, tmp_path, material=Material(keep_originals=True)), teacher, Lesson(tmp_path), True
    )
    assert request.config().data.train == (str(tmp_path / "train.jsonl"), str(tmp_path / "originals.jsonl"))
    assert request.config().data.test_pairs is None
    assert module._request(wanted(small_run, tmp_path), teacher, Lesson(tmp_path), False).config().data.test_pairs == 0


def test_a_teacher_with_pieces_apart_or_of_another_kind(tmp_path: Path, taught: Taught) -> None:
    from whole_run import request

    apart = ("data.tokenizer.joint=false", "model.tie=target", "train.max_updates=2", "train.validate_every=2")
    train_model(
        request(*apart, "train.validate_sentences=0", "train.judge=loss", "data.test=[]", "data.test_pairs=0"), tmp_path / "t"
    )
    teacher = load(tmp_path / "t", engine="torch")
    config = module._request(wanted(tmp_path / "t", tmp_path / "s"), teacher, Lesson(tmp_path), False).config()
    assert (config.model.tie, config.data.tokenizer.joint, config.data.tokenizer.kind) == ("target", False, "bpe")
    outcome, found = distill(wanted(tmp_path / "t", tmp_path / "s"), lambda line: None)
    assert found is not None
    assert "dev.jsonl" in dict(found.recipe)["test set"]  # there is no test set
    pieces = [
        [each.fingerprint for each in load(path, engine="torch").translator.tokenizers]
        for path in (tmp_path / "t", tmp_path / "s")
    ]
    assert pieces[0] == pieces[1]
    assert outcome.scores == ()


def test_mistakes_come_before_any_translation(small_run: Path, tmp_path: Path, taught: Taught) -> None:
    with pytest.raises(UserError, match=r"nearest is 'model\.dropout'"):
        distill(wanted(small_run, tmp_path / "s", "model.dropot=0.1"), lambda line: None)
    with pytest.raises(UserError, match="there is no preset"):
        distill(wanted(small_run, tmp_path / "s", preset="tinny"), lambda line: None)
    assert not taught.calls


def test_several_processes_are_refused(small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="without torchrun"):
        distill(wanted(small_run, tmp_path / "s"), lambda line: None)


def test_what_is_typed_arrives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given: list[Distillation] = []

    def stopped(wanted: Distillation, tell: object) -> tuple[Outcome, None]:
        given.append(wanted)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "distill", stopped)
    typed = [
        "distill",
        "t",
        "a.tsv",
        "model.dim=64",
        "-o",
        "s",
        "--with",
        "t2",
        "--text",
        "b.txt",
        "--beam",
        "3",
        "--keep-originals",
    ]
    done = CliRunner().invoke(app, typed)
    assert done.exit_code == 130
    assert given == [
        Distillation(
            (Path("t"), Path("t2")), Path("s"), Material(("a.tsv",), ("b.txt",), keep_originals=True), changes=("model.dim=64",),
            search=SearchOptions(beam=3),
        )
    ]  # fmt: skip
    assert isinstance(CliRunner().invoke(app, ["distill", "t"]).exception, UserError)
