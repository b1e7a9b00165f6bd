"""A small, fast student of a large teacher: the teacher translates, the student learns that, both are measured."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sightline.api import Model, load
from sightline.decode.engine import EngineName
from sightline.decode.options import SearchOptions
from sightline.errors import UserError
from sightline.models.config import TransformerConfig
from sightline.runs.folder import RunFolder
from sightline.runs.request import Request
from sightline.runs.train import Outcome, train_model
from sightline.study.beside import Beside, measure_beside
from sightline.study.lesson import LESSON, Lesson, Material, borrow_lesson, prepare_lesson

Tell = Callable[[str], None]
STUDENT = "student"  # the preset that takes its sizes from the teacher


@dataclass(frozen=True, slots=True)
class Distillation:
    """Who teaches whom, from what, and how."""

    teachers: tuple[Path, ...]  # several vote on every token
    student: Path
    material: Material = field(default_factory=Material)
    preset: str = STUDENT
    changes: tuple[str, ...] = ()  # key=value, of the student's training
    search: SearchOptions = field(default_factory=SearchOptions)
    engine: EngineName | None = None
    others: tuple[Path, ...] = ()  # further models to be measured beside the two
    lesson: Path | None = None  # another student of the same teacher, whose translations are taken


def distill(wanted: Distillation, tell: Tell) -> tuple[Outcome, Beside | None]:
    """Teach, or go on teaching. The table is there at the end; None if training was interrupted."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UserError("distill works in one process; start it without torchrun")
    teacher = load(*wanted.teachers, engine=wanted.engine)
    _request(wanted, teacher, Lesson(_place(wanted.student)), has_test=True).config()  # mistakes come before hours of translating
    place = RunFolder(wanted.student)
    with place.alone():
        if wanted.lesson is not None:
            borrow_lesson(wanted.lesson, _place(wanted.student))
        lesson = prepare_lesson(teacher, wanted.material, wanted.search, _place(wanted.student), tell)
    test = lesson.held_out("test")
    outcome = train_model(_request(wanted, teacher, lesson, bool(test)), wanted.student, tell)
    if outcome.interrupted:
        return outcome, None
    models = _named([wanted.teachers, (wanted.student,), *((other,) for other in wanted.others)], wanted.engine)
    pairs, name = (test, "test") if test else (lesson.held_out("dev"), "dev")
    found = measure_beside(models, pairs, str(lesson.folder / f"{name}.jsonl"), tell)
    found.write(wanted.student)
    return outcome, found


def _place(student: Path) -> Path:
    return student / LESSON


def _named(folders: Sequence[tuple[Path, ...]], engine: EngineName | None) -> Mapping[str, Model]:
    """Every system under the name that the user gave it."""
    return {" + ".join(map(str, paths)): load(*paths, engine=engine) for paths in folders}


def _request(wanted: Distillation, teacher: Model, lesson: Lesson, has_test: bool) -> Request:
    """The student's training: its own model on the teacher's words, pieces and held-out pairs."""
    source, target = teacher.translator.tokenizers
    joint = source.fingerprint == target.fingerprint
    train = [lesson.train, lesson.originals] if wanted.material.keep_originals else [lesson.train]
    given: dict[str, object] = {
        "source": teacher.languages[0],
        "target": teacher.languages[1],
        "data.train": [str(path) for path in train],
        "data.dev": [str(lesson.folder / "dev.jsonl")],
        "data.tokenizer.folder": str(lesson.folder),
        "data.tokenizer.kind": source.kind,
        "data.tokenizer.joint": joint,
    }
    given |= {"data.test": [str(lesson.folder / "test.jsonl")]} if has_test else {"data.test_pairs": 0}
    if not joint:
        given["model.tie"] = "target"
    if wanted.preset == STUDENT:
        given |= _sizes(teacher)
    changes = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in given.items())
    return Request(wanted.preset, None, (*changes, *wanted.changes))


def _sizes(teacher: Model) -> dict[str, object]:
    """Channels, heads and hidden channels of the (first) teacher, where it is a Transformer."""
    config = teacher.parts[0].config
    if not isinstance(config.encoder, TransformerConfig):
        return {}
    found: dict[str, object] = {"model.dim": config.dim}
    for side in ("encoder", "decoder"):
        found |= {f"model.{side}.heads": config.encoder.heads, f"model.{side}.hidden": config.encoder.hidden}
    return found
