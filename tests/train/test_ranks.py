"""Several processes train what one trains: the same batches, the same losses, one set of files."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ranks_worker import BAD_UPDATE, SCENARIOS, STOP, play

from sightline.train.ranks import Ranks, joined

Told = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The scenarios in one process."""
    told: Told = json.loads(json.dumps(play(tmp_path_factory.mktemp("alone"), Ranks())))
    return told


def launched(folder: Path, processes: int) -> list[Told]:
    """The scenarios in several, started as a user starts them."""
    worker = Path(__file__).with_name("ranks_worker.py")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", worker, folder]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(worker.parent)}
    done = subprocess.run(list(map(str, command)), env=quiet, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads((folder / f"rank {rank}" / "told.json").read_text()) for rank in range(processes)]


@pytest.fixture(scope="module", params=[pytest.param(2, marks=pytest.mark.slow), 3])
def together(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    return launched(tmp_path_factory.mktemp("together"), request.param)


@pytest.mark.parametrize("name", [*SCENARIOS, "resumed"])
def test_losses_are_those_of_one_process(name: str, alone: Told, together: list[Told]) -> None:
    leader = together[0]
    assert (leader[name]["reason"], leader[name]["update"]) == (alone[name]["reason"], alone[name]["update"])
    assert leader[name]["losses"] == pytest.approx(alone[name]["losses"], rel=1e-5)
    assert leader[name]["gradients"] == pytest.approx(alone[name]["gradients"], rel=1e-4)  # Adam alone would hide their scale
    assert len(leader[name]["losses"]) > 0 or name == "always not finite"


@pytest.mark.parametrize("name", [*SCENARIOS, "resumed"])
def test_all_processes_agree_and_one_alone_writes_and_tells(name: str, together: list[Told]) -> None:
    leader, *others = together
    for other in others:
        for what in ("reason", "update", "weights", "ema"):
            assert other[name][what] == leader[name][what], what
        assert (other[name]["losses"], other[name]["skipped"], other[name]["kept"], other[name]["files"]) == ([], [], [], [])
    assert "checkpoints" in leader[name]["files"] or name == "always not finite"


def test_a_batch_may_have_fewer_sentences_than_there_are_processes(alone: Told) -> None:
    """The scenario is what it says: the budget holds a single sentence of the longer ones."""
    assert SCENARIOS["fewer sentences than processes"].train.tokens < 2 * 9
    assert len(alone["fewer sentences than processes"]["losses"]) == 12


def test_what_is_not_finite_in_one_process_is_skipped_in_all(alone: Told, together: list[Told]) -> None:
    assert alone["not finite"]["skipped"] == together[0]["not finite"]["skipped"]
    ((update, *origins),) = alone["not finite"]["skipped"]
    assert (update, len(origins)) == (BAD_UPDATE, 1)


def test_a_wish_to_stop_in_one_process_stops_all_and_resuming_changes_nothing(alone: Told, together: list[Told]) -> None:
    for told in (alone, *together):
        assert (told["stopped"]["reason"], told["stopped"]["update"]) == ("interrupted", STOP)
        assert told["resumed"]["weights"] == told["plain"]["weights"]
    assert together[0]["resumed"]["losses"] == together[0]["plain"]["losses"][STOP:]


def test_where_the_data_of_one_process_is_another_all_say_which_and_leave(together: list[Told]) -> None:
    for told in together:
        assert re.match(rf"rank {len(together) - 1}: the data there is not that of rank 0; give", told["astray"]["reason"])


def test_what_the_leading_process_holds_comes_to_all(together: list[Told]) -> None:
    for told in together:
        assert told["sent"]["value"] == {"é": [1, 0.1, None, "\u2028"], "none": math.inf}
        assert told["sent"]["same"] == [True, True, True]
        assert told["sent"]["names"] == ["a", "step", "b"]


def test_alone_there_is_nobody_to_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined() as ranks:
        assert (ranks, ranks.leads) == (Ranks(0, 1), True)
        assert ranks.total(1.0, 2.5) == [1.0, 2.5]
        assert ranks.from_leader("this") == "this"
        ranks.wait()
