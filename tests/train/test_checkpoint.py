"""Checkpoints are whole or not there, whenever the process dies; what is damaged is passed over."""

from __future__ import annotations

import builtins
import json
import os
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_run import CONFIG, SAMPLES, Run, configured, fingerprint, make_corpus

from sightline.errors import UserError
from sightline.models import store
from sightline.train.checkpoint import Checkpoints, Meter, Progress, read
from sightline.train.config import OptimiserConfig
from sightline.train.events import Started


def tensors(update: int) -> dict[str, dict[str, torch.Tensor]]:
    """Content that tells which update it belongs to, even half of it."""
    return {"model": {"a": torch.full((3,), float(update))}, "optimiser": {"a/step": torch.tensor(float(update))}}


def is_of(checkpoint: Path, update: int) -> bool:
    saved = read(checkpoint)
    values = {float(tensor.max()) for named in saved.tensors.values() for tensor in named.values()}
    return saved.progress.update == update and values == {float(update)}


class Killed(BaseException):
    """Nothing in the program can catch it."""


class Fuse:
    """Kills at the k-th operation on files, before it happens."""

    def __init__(self, k: int) -> None:
        self.left = k

    def guard(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*args: Any, **kwargs: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise Killed
            return operation(*args, **kwargs)

        return guarded

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        for name in ("rename", "replace", "fsync", "unlink", "rmdir", "mkdir", "chmod"):
            patch.setattr(os, name, self.guard(getattr(os, name)))
        for name in ("mkdir", "unlink", "write_text"):
            patch.setattr(Path, name, self.guard(getattr(Path, name)))
        patch.setattr(store, "save_file", self.guard(store.save_file))
        patch.setattr(shutil, "rmtree", self.guard(shutil.rmtree))


def test_killed_at_any_operation_the_newest_whole_one_is_found(tmp_path: Path) -> None:
    """For every k: die at the k-th operation of saving update 2 over update 1; then also of saving 2 once more."""
    outcomes = []
    for k in range(1, 200):
        folder = tmp_path / str(k)
        Checkpoints(folder).save(Progress(update=1), tensors(1))
        fuse = Fuse(k)
        with pytest.MonkeyPatch.context() as patch:
            fuse.plant(patch)
            try:
                Checkpoints(folder).save(Progress(update=2), tensors(2))
                died = False
            except Killed:
                died = True
        found = Checkpoints(folder).latest()
        assert found is not None, f"killed at operation {k}"
        assert is_of(found, 1) or is_of(found, 2), f"killed at operation {k}"
        assert died or is_of(found, 2)
        outcomes.append(read(found).progress.update)
        Checkpoints(folder).save(Progress(update=3), tensors(3))  # and the next one is as if nothing had happened
        assert sorted(path.name for path in folder.iterdir()) == ["000000003-0", "latest"]
        assert (folder / "latest").read_text() == "000000003-0"
        if not died:
            break
    assert outcomes == sorted(outcomes), "once the new one is there, it stays"
    assert outcomes.count(1) > 8, "the first operations come before the new name"
    assert outcomes.count(2) > 4, "the last ones come after it"


def test_killed_while_saving_the_same_update_again(tmp_path: Path) -> None:
    """As at the end of a run that stops where it has just validated: only the progress is another."""
    for k in range(1, 200):
        folder = tmp_path / str(k)
        Checkpoints(folder).save(Progress(update=1), tensors(1))
        with pytest.MonkeyPatch.context() as patch:
            Fuse(k).plant(patch)
            try:
                Checkpoints(folder).save(Progress(update=1, finished="over"), tensors(1))
            except Killed:
                found = Checkpoints(folder).latest()
                assert found is not None, f"killed at operation {k}"
                assert is_of(found, 1), f"killed at operation {k}"
            else:
                break
    assert read(Checkpoints(folder).latest() or Path()).progress.finished == "over"


def test_a_whole_run_killed_at_any_operation_of_a_checkpoint_ends_the_same(tmp_path: Path) -> None:
    config = configured(max_updates=5, validate_every=2, ema=0.5, average=2)
    whole = Run(tmp_path / "whole", config)
    whole.go()
    for k in range(3, 200, 7):
        folder = tmp_path / f"killed at {k}"
        with pytest.MonkeyPatch.context() as patch:
            run = Run(folder, config)
            Fuse(k).plant(patch)
            try:
                run.go()
            except Killed:
                patch.undo()
                run = Run(folder, config)
                run.go()
                assert run.result == whole.result, f"killed at operation {k}"
            else:
                return
    raise AssertionError("the run has more operations than were tried")


def damage_tensors(folder: Path) -> None:
    path = folder / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a flipped bit": damage_tensors,
    "a short file": lambda folder: os.truncate(folder / "optimiser.safetensors", 10),
    "a lost file": lambda folder: (folder / "progress.json").unlink(),
    "an empty file": lambda folder: (folder / "progress.json").write_text(""),
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "half a manifest": lambda folder: os.truncate(folder / "manifest.json", 30),
    "a manifest of nothing": lambda folder: (folder / "manifest.json").write_text("{}"),
    "a manifest that is none": lambda folder: (folder / "manifest.json").write_text("[]"),
    "zeros for a manifest": lambda folder: (folder / "manifest.json").write_bytes(bytes(40)),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_one_is_passed_over_and_reported(how: str, tmp_path: Path) -> None:
    config = configured(validate_every=6, max_updates=6)
    Run(tmp_path / "run", config).go()
    folder = tmp_path / "run" / "checkpoints"
    older = shutil.copytree(folder, tmp_path / "older")
    Run(tmp_path / "run", configured(max_updates=12)).go()
    shutil.copytree(older / "000000006-1", folder / "000000006-1")
    DAMAGES[how](folder / "000000012-1")
    run = Run(tmp_path / "run", configured(max_updates=12))
    assert run.loop.progress.update == 6
    run.go()
    assert isinstance(run.events[0], Started)
    assert run.events[0].damaged == ("000000012-1",)
    assert sorted(path.name for path in folder.iterdir()) == ["000000012-3", "latest"]
    whole = Run(tmp_path / "whole", configured(max_updates=12))
    whole.go()
    assert fingerprint(run.loop.model) == fingerprint(whole.loop.model)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_with_nothing_but_damage_a_run_neither_begins_anew_nor_touches_what_is_there(tmp_path: Path) -> None:
    Run(tmp_path / "run", configured(max_updates=6)).go()
    checkpoints = tmp_path / "run" / "checkpoints"
    shutil.copytree(checkpoints / "000000006-1", checkpoints / "000000005-0")
    for name in ("000000006-1", "000000005-0"):
        damage_tensors(checkpoints / name)
    before = contents(tmp_path / "run")
    with pytest.raises(UserError, match=r"checkpoints: all that is here is damaged: 000000006-1, 000000005-0; take .* backup"):
        Run(tmp_path / "run")
    assert contents(tmp_path / "run") == before
    shutil.rmtree(checkpoints)
    assert Run(tmp_path / "run").loop.progress.update == 0


def test_a_run_does_not_go_on_with_other_data(tmp_path: Path) -> None:
    first = Run(tmp_path / "run", configured(max_updates=6))
    first.go()
    assert first.loop.progress.data == first.task.corpus.fingerprint
    before = contents(tmp_path / "run")
    shutil.rmtree(tmp_path / "corpus")
    make_corpus(tmp_path / "corpus", SAMPLES + 1)
    with pytest.raises(UserError, match=r"run: the data in this folder is not what this run began with; put the text"):
        Run(tmp_path / "run")
    assert contents(tmp_path / "run") == before
    shutil.rmtree(tmp_path / "corpus")
    assert Run(tmp_path / "run").loop.progress.update == 6


def test_newest_is_by_number_not_by_letter(tmp_path: Path) -> None:
    for name in ("000000002-9", "000000002-10", "1000000000-0", "999999999-3"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes").mkdir()
    assert Checkpoints(tmp_path)._names() == ["000000002-9", "000000002-10", "999999999-3", "1000000000-0"]


def test_everything_comes_back_bit_for_bit(tmp_path: Path) -> None:
    progress = Progress(7, 1, 3, 1 / 3, -0.1, 2, (3, 6), 1, "why", "bf16", "samples", 11, Meter(0.1, 1e-17, 2, 3, 4.5))
    values = {"x": torch.tensor([1e-45, -0.0, 3.4e38]), "step": torch.tensor(5.0)}
    Checkpoints(tmp_path).save(progress, {"model": values, "optimiser": {}})
    saved = read(Checkpoints(tmp_path).latest() or Path())
    assert saved.progress == progress
    assert saved.tensors["optimiser"] == {}
    for name, tensor in values.items():
        assert saved.tensors["model"][name].shape == tensor.shape
        assert torch.equal(saved.tensors["model"][name].view(torch.int32), tensor.view(torch.int32))


def test_a_full_disk_is_told_and_leaves_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Checkpoints(tmp_path).save(Progress(update=1), tensors(1))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"No space left on device.*make room"):
        Checkpoints(tmp_path).save(Progress(update=2), tensors(2))
    assert is_of(Checkpoints(tmp_path).latest() or Path(), 1)


def test_a_checkpoint_of_another_version_is_told(tmp_path: Path) -> None:
    Checkpoints(tmp_path).save(Progress(update=1), tensors(1))
    path = tmp_path / "000000001-0" / "progress.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "moon": "full"}))
    with pytest.raises(UserError, match=r"000000001-0: written by another version.*moon"):
        read(tmp_path / "000000001-0")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (configured(ema=0.5), "train.ema"),
        (replace(CONFIG, optimiser=OptimiserConfig(kind="sgd", learning_rate=0.1)), "optimiser.kind"),
        (replace(CONFIG, model=replace(CONFIG.model, dim=32)), "another model"),
    ],
)
def test_settings_that_do_not_fit_the_checkpoint_are_told(changed: Any, message: str, tmp_path: Path) -> None:
    Run(tmp_path / "run", configured(max_updates=2)).go()
    with pytest.raises(UserError, match=message):
        Run(tmp_path / "run", changed)


def test_no_pickle_is_read_or_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("pickle was used")

    for name in ("dump", "dumps", "load", "loads", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    for name in ("load", "save"):
        monkeypatch.setattr(torch, name, refuse)
    config = configured(max_updates=4, validate_every=2, ema=0.5, average=2)
    Run(tmp_path / "run", config).go()
    Run(tmp_path / "run", replace(config, train=replace(config.train, max_updates=6))).go()
    suffixes = {path.suffix for path in (tmp_path / "run").rglob("*") if path.is_file()}
    assert suffixes == {".safetensors", ".json", ".jsonl", ""}  # "": the names of the latest and of the best, as text


def test_opened_for_writing_are_only_new_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that has its final name is ever written into."""
    Checkpoints(tmp_path).save(Progress(update=1), tensors(1))
    whole = {path for path in tmp_path.rglob("*") if path.is_file()}
    opened = []
    true_open = builtins.open

    def watch(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & set("wax+") and not isinstance(file, int):
            opened.append(Path(file))
        return true_open(file, mode, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", watch)
    Checkpoints(tmp_path).save(Progress(update=2), tensors(2))
    assert not whole & set(opened)
