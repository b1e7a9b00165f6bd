"""Lets the tests of studies share a teacher."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from taught import Taught

from sightline.api import Model, load


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch) -> Taught:
    found = Taught()
    monkeypatch.setattr(Model, "translate", lambda model, texts, options=None: found.translate(model, texts, options))
    return found


@pytest.fixture
def teacher(small_run: Path, taught: Taught) -> Model:
    return load(small_run, engine="torch")
