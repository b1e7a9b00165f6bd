"""SIGKILL at random instants, as `bench/kill_resume.py` shows it in full: here in small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "bench" / "kill_resume.py"


def test_killed_three_times_once_while_writing_a_checkpoint_nothing_differs(tmp_path: Path) -> None:
    options = ["--kills", "3", "--writes", "1", "--updates", "60", "--folder", tmp_path / "run"]
    done = subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("same") == 4
    assert done.stdout.rstrip().endswith("good")
