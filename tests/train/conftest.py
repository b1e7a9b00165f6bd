"""Lets the tests of the loop, and the processes they start, share `tiny_run`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a power cut needs what is written to be on the disk already."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
