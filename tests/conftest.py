"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# One thread: the tests are far too small for two to pay. It must be said before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A slow machine is no fault of the code.
settings.register_profile("sightline", deadline=None)
settings.load_profile("sightline")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def repository() -> Path:
    """Where the checkout lies."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data, from SIGHTLINE_DATA or beside the checkout; a test that asks for it is skipped where there is none."""
    folder = Path(os.environ.get("SIGHTLINE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}; set SIGHTLINE_DATA")
    return folder


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with a model in it, made by the whole path from the built-in corpus; it knows next to nothing."""
    from whole_run import request

    from sightline.runs.train import train_model

    folder = tmp_path_factory.mktemp("small") / "run"
    assert not train_model(request(), folder).interrupted
    return folder
