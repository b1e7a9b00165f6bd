"""Where there is a compiler there are the libraries: without them other tests are skipped, and must not be by mistake."""

from __future__ import annotations

import os

import pytest

from sightline.native import build, why_not


@pytest.mark.skipif(build.compiler() is None or os.environ.get(build.SWITCH) == "0", reason="no compiler, or switched off")
@pytest.mark.parametrize("name", [folder.name for folder in build.SOURCES.iterdir() if any(folder.glob("*.cpp"))])
def test_every_library_can_be_made(name: str) -> None:
    assert why_not(name) == ""
