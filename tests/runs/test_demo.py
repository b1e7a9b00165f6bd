"""The demonstration, with a model of a few thousand numbers: it leaves and shows all that it promises."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from whole_run import CHANGES

from sightline.runs import demo
from sightline.runs.demo import SENTENCES, demonstrate

# The preset brings the languages and the corpus; three hundred pairs of it will do, and twenty to test on.
OURS = ("source=", "target=", "data.train=", "data.dev=", "data.test=")
TINY = (
    "data.train=builtin:300",
    "data.dev=builtin:dev:20",
    "data.test=builtin:test:20",
    *(change for change in CHANGES if not change.startswith(OURS)),
)


def test_the_whole_demonstration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, count in (("TESTED", 12), ("ALIGNED", 6), ("DRAWN", 2)):
        monkeypatch.setattr(demo, name, count)
    told: list[str] = []
    with (tmp_path / "shown").open("w", encoding="utf-8") as stream, redirect_stdout(stream):
        assert demonstrate(tmp_path / "demo", TINY, told.append)
    shown = (tmp_path / "shown").read_text("utf-8")

    assert (tmp_path / "demo" / "model" / "config.json").exists()
    assert (tmp_path / "demo" / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert "the diagonal" in (tmp_path / "demo" / "report.md").read_text("utf-8")
    assert any("report.html" in line and "sightline translate" in line for line in told)

    report = json.loads((tmp_path / "demo" / "report.json").read_text("utf-8"))
    assert report["data"]["sentences"] == 12
    assert [score["name"] for score in report["systems"][0]["scores"]] == ["BLEU", "chrF2", "TER"]
    names = [aligner["name"] for aligner in report["aligners"]]
    for name, ending in zip(names, ("while writing", "after reading", "the diagonal (no model)"), strict=True):
        assert name.endswith(ending)
    figures = [{score["name"]: score["value"] for score in aligner["scores"]} for aligner in report["aligners"]]
    assert all(0 <= each["AER"] <= 100 for each in figures)

    for sentence in SENTENCES:
        assert f"{sentence} →" in shown
    assert sum(line in names for line in shown.splitlines()) == len(SENTENCES)  # a picture below each, named after its head
    assert all(f"{name}: AER" in shown for name in names)

    # The sentences as each reading sees them; then pairs of the corpus, beside their gold links.
    assert [bool(picture["sure"]) for picture in report["heatmaps"]] == [False] * 2 * len(SENTENCES) + [True] * 2


def test_a_demonstration_that_is_stopped_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped:
        interrupted = True

    monkeypatch.setattr(demo, "train_model", lambda *_: Stopped())
    assert not demonstrate(tmp_path / "demo", (), lambda _: None)
    assert not (tmp_path / "demo").exists()
