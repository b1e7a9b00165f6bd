"""One command from pairs to a model folder; started again it goes on, and nothing but its limits may have changed."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from pathlib import Path

import pytest
from whole_run import request

import sightline
from sightline.config import load
from sightline.errors import UserError
from sightline.models.store import load as load_model
from sightline.runs.folder import RunFolder
from sightline.runs.train import best_so_far, train_model
from sightline.train.config import RunConfig


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / "model" / "model.safetensors").read_bytes()).hexdigest()


def test_a_run_leaves_what_it_promises(small_run: Path) -> None:
    names = {path.name for path in small_run.iterdir()}
    assert {"config.toml", "data", "checkpoints", "metrics.jsonl", "model"} <= names
    model = {path.name for path in (small_run / "model").iterdir()}
    assert model == {"config.json", "model.safetensors", "tokenizer.json", "README.md", "history.jsonl"}
    assert load(RunConfig, small_run / "config.toml").train.max_updates == 12
    assert load_model(small_run).languages == ("fr", "en")


def test_the_card_says_how_good_it_is_and_how_that_was_measured(small_run: Path) -> None:
    card = (small_run / "model" / "README.md").read_text(encoding="utf-8")
    for word in ("fr → en", "BLEU", "chrF2", "TER", "nrefs:1", "20 test pairs", "builtin:300", "sightline translate"):
        assert word in card, word


def test_the_history_ends_with_the_run(small_run: Path) -> None:
    history = [json.loads(line) for line in (small_run / "model" / "history.jsonl").read_text().splitlines()]
    assert [history[0]["event"], history[-1]["event"]] == ["started", "finished"]
    update, figures = best_so_far(small_run / "metrics.jsonl")
    assert update in {4, 8, 12}
    assert set(figures) == {"loss", "bleu", "chrf"}


def test_a_finished_run_started_again_is_left_as_it_is(small_run: Path) -> None:
    before = digest(small_run)
    told: list[str] = []
    outcome = train_model(request(), small_run, told.append)
    assert outcome.reason == "12 updates"
    assert digest(small_run) == before
    assert any("using what was prepared" in line for line in told)


def test_an_interrupted_run_goes_on_to_the_same_weights(small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sightline.train import events

    record = events.JsonLines.__call__

    def stop_at_six(self: events.JsonLines, event: events.Event) -> None:
        record(self, event)
        if isinstance(event, events.Stepped) and event.update == 6:
            os.kill(os.getpid(), signal.SIGTERM)

    folder = tmp_path / "run"
    monkeypatch.setattr(events.JsonLines, "__call__", stop_at_six)
    assert train_model(request(), folder).interrupted
    monkeypatch.undo()
    assert train_model(request(), folder).reason == "12 updates"
    assert digest(folder) == digest(small_run)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("seed=2", "was 1 and is now 2"),
        ("model.dropout=0.2", "model.dropout was 0.3 and is now 0.2"),
        ("train.tokens=700", "train.tokens was 600 and is now 700"),
        ("train.max_updates=20", "train.max_updates was 12 and is now 20"),  # the cosine ends there
        ("train.validate_sentences=5", "train.validate_sentences was 4 and is now 5"),  # BLEU of other sentences judges
    ],
)
def test_a_run_that_began_otherwise_is_refused(small_run: Path, change: str, message: str) -> None:
    before = (small_run / "config.toml").read_text()
    with pytest.raises(UserError, match=message):
        train_model(request(change), small_run)
    assert (small_run / "config.toml").read_text() == before


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    files = {tmp_path / "data" / "train" / "corpus.tsv": "un\tone\n", tmp_path / "model": "mine\n"}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with pytest.raises(UserError, match="is not empty and holds no run"):
        train_model(request(), tmp_path)
    assert {path: path.read_text() for path in files} == files


def test_a_model_reads_and_writes_no_longer_text_than_it_has_met(small_run: Path) -> None:
    stored = load_model(small_run)
    assert stored.config.max_length < load(RunConfig, small_run / "config.toml").model.max_length
    model = sightline.load(small_run)
    long = "le chat dort . " * 40
    (found,) = model.translate([long])
    assert len(found.candidates[0].parts) > 1
    with pytest.raises(UserError, match="explain its sentences"):
        model.explain(long)


def test_two_trainings_in_one_folder_are_refused(tmp_path: Path) -> None:
    place = RunFolder(tmp_path / "run")
    with place.alone(), pytest.raises(UserError, match="another training is at work"), place.alone():
        pass
    with place.alone():
        pass


def test_a_recurrent_preset_is_trained_by_the_same_call(tmp_path: Path) -> None:
    changes = ("source=fr", "target=en", 'data.train=["builtin:200"]', "data.dev_pairs=10", "data.test_pairs=0", "model.dim=16",
               "train.max_updates=2", "train.validate_sentences=2", "data.workers=1", "train.precision=fp32")  # fmt: skip
    outcome = train_model(sightline.Request("bottleneck", None, (*changes, "train.judge=loss")), tmp_path / "run")
    assert (outcome.reason, outcome.scores) == ("2 updates", ())
    assert sightline.load(tmp_path / "run").translate([""])[0].text == ""
