"""`torchrun … -m sightline train` trains what one process trains, and leaves the same files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from whole_run import CHANGES


def losses(run: Path) -> list[float]:
    events = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [event["loss"] for event in events if event["event"] == "stepped"]


def test_two_processes_train_what_one_trains(small_run: Path, tmp_path: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command = [*launcher, "-m", "sightline", "train", "-o", str(tmp_path / "run"), *CHANGES]
    done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert losses(tmp_path / "run") == pytest.approx(losses(small_run), rel=1e-5)
    assert {path.name for path in (tmp_path / "run" / "model").iterdir()} == {
        path.name for path in (small_run / "model").iterdir()
    }
    assert done.stderr.count("the model is in") == 1
