"""A run says beforehand how long it will take, and is not changed by having been asked."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from torch import nn
from whole_run import CHANGES, request

from sightline.runs import forecast as module
from sightline.runs.forecast import Pace, in_words, told
from sightline.runs.train import train_model
from sightline.train.config import RunConfig, TrainConfig
from sightline.train.events import Event, JsonLines, Stepped
from sightline.train.loop import Loop
from sightline.train.ranks import Ranks

LONG = ("train.max_updates=60", "train.validate_every=30", "train.average=0", "train.validate_sentences=0", "train.judge=loss",
        "data.test=[]", "data.test_pairs=0", "train.ema=0.5")  # fmt: skip


def weights(folder: Path) -> str:
    return hashlib.sha256((next((folder / "checkpoints").glob("0*")) / "model.safetensors").read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A run long enough to be asked, and what it said."""
    said: list[str] = []
    folder = tmp_path_factory.mktemp("asked") / "run"
    assert train_model(request(*LONG), folder, said.append).reason == "60 updates"
    return folder, said


def test_a_run_says_beforehand_how_long_it_will_take(asked: tuple[Path, list[str]]) -> None:
    (line,) = [line for line in asked[1] if "tokens/s" in line]
    assert line.startswith("about ")
    assert " here: " in line
    assert "for 60 updates, validations besides; early stopping may end it sooner" in line


def test_the_weights_are_those_of_a_run_that_was_not_asked(
    asked: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Loop, "rehearse", lambda *_: [])
    said: list[str] = []
    train_model(request(*LONG), tmp_path / "run", said.append)
    assert not [line for line in said if "tokens/s" in line]
    assert weights(tmp_path / "run") == weights(asked[0])


def test_a_rehearsal_is_a_tenth_of_the_run_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rehearse, made = Loop.rehearse, list[int]()

    def counted(self: Loop, seconds: float, most: int) -> list[tuple[int, float]]:
        assert seconds <= 6.0
        found = rehearse(self, seconds, most)
        made.append(len(found))
        return found

    monkeypatch.setattr(Loop, "rehearse", counted)
    train_model(request(*LONG, "train.max_minutes=1"), tmp_path / "run")
    assert made == [6]


@pytest.mark.parametrize("limits", [{"max_updates": 49}, {"max_epochs": 2}])
def test_a_short_run_is_not_rehearsed(limits: dict[str, int]) -> None:
    class Task:
        def batches(self, epoch: int) -> int:
            return 24

    config = RunConfig(train=TrainConfig(**limits))
    assert module.rehearse(nn.Identity(), Task(), config, "fp32", Ranks()) is None  # type: ignore[arg-type]


def test_a_run_that_goes_on_is_told_of_by_what_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = JsonLines.__call__

    def stop_at_six(self: JsonLines, event: Event) -> None:
        record(self, event)
        if isinstance(event, Stepped) and event.update == 6:
            os.kill(os.getpid(), signal.SIGTERM)

    folder, said = tmp_path / "run", list[str]()
    with monkeypatch.context() as patch:
        patch.setattr(JsonLines, "__call__", stop_at_six)
        assert train_model(request(*LONG), folder).interrupted
    with (folder / "metrics.jsonl").open("a") as file:  # as after a kill
        file.write('{"event": "step')
    monkeypatch.setattr(module, "rehearse", lambda *_: pytest.fail("there is no need to rehearse"))
    train_model(request(*LONG), folder, said.append)
    (line,) = [line for line in said if "tokens/s" in line]
    assert " so far: " in line
    assert "for the 54 updates left" in line
    said.clear()
    train_model(request(*LONG), folder, said.append)  # at its end there is nothing to foretell
    assert not [line for line in said if "tokens/s" in line]


def test_what_was_seen_becomes_words() -> None:
    train = TrainConfig(max_updates=12_000, max_minutes=45, patience=5)
    assert told(Pace(9300.4, 0.36), train, 12_000) == (
        "about 9,300 tokens/s here: 1 h 12 min for 12,000 updates, validations besides (at most 45 min by train.max_minutes); "
        "early stopping may end it sooner"
    )
    train = TrainConfig(max_updates=12_000, patience=0)
    assert told(Pace(100, 1.0, 11_940, 9000.0), train, 12_000) == "about 100 tokens/s so far: 60 s for the 60 updates left"
    assert told(Pace(100, 1.0, 12_000, 9000.0), train, 12_000) == ""


def test_limits_in_minutes_count_what_was_spent() -> None:
    words = told(Pace(10, 60.0, 20, 1200.0), TrainConfig(max_updates=100, max_minutes=30), 100)
    assert "1 h 20 min for the 80 updates left (at most 10 min by" in words


@pytest.mark.slow
def test_several_processes_rehearse_together(tmp_path: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command = [*launcher, "-m", "sightline", "train", "-o", str(tmp_path / "run"), *CHANGES, *LONG]
    done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stderr.count("tokens/s here") == 1


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (4, "4 s"),
        (89.4, "89 s"),
        (90, "2 min"),
        (3560, "59 min"),
        (3600, "1 h 0 min"),
        (86_400, "24 h 0 min"),
        (3e5, "3 days 11 h"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_metrics_without_a_report_foretell_nothing(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(json.dumps({"event": "started", "update": 0}) + "\n")
    assert module._so_far(path) == [False]
