"""The mean of snapshots is the mean of their files, and what a checkpoint names stays on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from tiny_run import Run, configured, fingerprint, make_model

from sightline.errors import UserError
from sightline.models import store
from sightline.models.store import weights
from sightline.train.average import Snapshots
from sightline.train.events import Validated


def test_the_mean_is_that_of_the_files(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(average=3))
    run.go()
    files = sorted((tmp_path / "run" / "snapshots").glob("*.safetensors"))
    assert [path.stem for path in files[-3:]] == ["000000012", "000000018", "000000024"]
    averaged = run.loop.snapshots.mean(run.loop.model, (12, 18, 24))
    for name, tensor in weights(averaged).items():
        expected = torch.stack([load_file(path)[name].double() for path in files[-3:]]).mean(0).float()
        assert torch.equal(tensor.data, expected), name


def test_the_mean_is_judged_last_and_kept_if_it_is_better(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(average=3))
    count = iter([4.0, 3.0, 2.0, 2.5, 1.0])
    run.loop.judge = lambda model: {"loss": next(count)}
    run.go()
    last = run.events[-2]
    assert isinstance(last, Validated)
    assert (last.update, last.averaged, last.best) == (24, 3, True)
    assert run.kept[-1][1] == fingerprint(run.loop.snapshots.mean(run.loop.model, (12, 18, 24)))
    assert len({fingerprint(run.loop.model), run.kept[-1][1]}) == 2, "the run's own weights stay as they are"


@pytest.mark.parametrize("count", [0, 1])
def test_without_averaging_there_are_none(count: int, tmp_path: Path) -> None:
    run = Run(tmp_path / "run", configured(average=count))
    run.go()
    assert run.loop.progress.snapshots == ()
    assert not (tmp_path / "run" / "snapshots").exists()


def test_only_those_that_a_checkpoint_may_name_stay(tmp_path: Path) -> None:
    snapshots, kept = Snapshots(tmp_path, 2), ()
    for update in (1, 2, 3, 3, 4):
        after = snapshots.after(kept, update)
        snapshots.keep(make_model(), update)
        snapshots.drop_all_but(*kept, *after)
        there = {int(path.stem) for path in tmp_path.glob("*.safetensors")}
        assert there == set(kept) | set(after), "the last checkpoint names `kept`, the next one `after`"
        kept = after
    assert kept == (3, 4)


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise SafetensorError("No space left on device")

    monkeypatch.setattr(store, "save_file", full)
    with pytest.raises(UserError, match=r"the weights of update 6 could not be written \(No space left on device\); make room"):
        Snapshots(tmp_path, 2).keep(make_model(), 6)


def test_a_lost_snapshot_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"000000006\.safetensors: cannot be read"):
        Snapshots(tmp_path, 2).mean(make_model(), (6,))
