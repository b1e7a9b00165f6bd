"""Events as lines of JSON: valid, and taken back where a resumed run has not been."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from sightline.errors import UserError
from sightline.train.checkpoint import Progress
from sightline.train.events import Event, Finished, JsonLines, Skipped, Started, Stepped, TensorBoard, Validated, both

STEPPED = Stepped(4, 0.5, 2.0, 1e-3, 0.7, 1000.0, 3.0)


def lines(path: Path) -> list[dict[str, object]]:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]


def test_every_event_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    tell = JsonLines(path, Progress())
    events: list[Event] = [
        Started(0, 10, 5, "fp32", 1),
        STEPPED,
        Validated(4, {"loss": 2.5}, True, 3.5),
        Finished(10, "over", 4.0),
    ]
    for event in events:
        tell(event)
    assert [line["event"] for line in lines(path)] == ["started", "stepped", "validated", "finished"]
    assert lines(path)[2]["metrics"] == {"loss": 2.5}
    assert lines(path)[1]["loss"] == 2.0


def test_what_is_not_a_number_is_null(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    tell = JsonLines(path, Progress())
    tell(Skipped(3, math.nan, math.inf, ("a.tsv:\u2028 3",)))
    tell(Validated(4, {"loss": math.nan, "bleu": 1.0}, False, 3.5))
    first, second = lines(path)
    assert (first["loss"], first["gradient"], first["origins"]) == (None, None, ["a.tsv:\u2028 3"])
    assert second["metrics"] == {"loss": None, "bleu": 1.0}


@pytest.mark.parametrize("torn", ["", '{"event": "step', "\x00\x00\x00"])
def test_lines_beyond_the_resume_point_are_taken_back(torn: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    tell = JsonLines(path, Progress())
    for _ in range(5):
        tell(STEPPED)
    before = path.read_text().splitlines()
    with path.open("a") as file:
        file.write(torn)
    JsonLines(path, Progress(events=3))(Finished(9, "over", 4.0))
    after = path.read_text().splitlines()
    assert after[:3] == before[:3]
    assert [line["event"] for line in lines(path)] == ["stepped"] * 3 + ["finished"]


def test_a_new_run_begins_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text("from another life\n")
    JsonLines(path, Progress())
    assert path.read_text() == ""


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tell = JsonLines(tmp_path / "metrics.jsonl", Progress())
    (tmp_path / "metrics.jsonl").unlink()
    (tmp_path / "metrics.jsonl").mkdir()
    with pytest.raises(UserError, match=r"metrics\.jsonl: a line could not be added \(.*\); make room"):
        tell(STEPPED)
    with pytest.raises(UserError, match=r"metrics\.jsonl: could not be written anew \(.*\); make room"):
        JsonLines(tmp_path / "metrics.jsonl", Progress())


def test_both_hear_everything_in_order() -> None:
    heard: list[tuple[str, Event]] = []
    tell = both(lambda event: heard.append(("a", event)), lambda event: heard.append(("b", event)))
    tell(STEPPED)
    assert heard == [("a", STEPPED), ("b", STEPPED)]


def test_tensorboard_gets_the_scalars(tmp_path: Path) -> None:
    tensorboard = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    for progress, updates in ((Progress(), (4, 8, 12)), (Progress(update=8), (12,))):
        tell = TensorBoard(tmp_path, progress)
        for update in updates:
            tell(Stepped(update, 0.5, float(update + progress.update), 1e-3, 0.7, 1000.0, 3.0))
            tell(Validated(update, {"bleu": 30.0}, True, 3.0))
        tell(Finished(12, "over", 4.0))
    found = tensorboard.EventAccumulator(str(tmp_path)).Reload()
    assert [(scalar.step, scalar.value) for scalar in found.Scalars("train/loss")] == [(4, 4.0), (8, 8.0), (12, 20.0)]
    assert {"train/learning_rate", "train/gradient", "train/tokens_per_second", "valid/bleu"} <= set(found.Tags()["scalars"])
