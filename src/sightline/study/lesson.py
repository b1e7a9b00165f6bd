"""What a student learns from: training sources as its teacher translates them (Kim & Rush 2016, sequence-level distillation).

    plan.json        teacher, search and files, so that nothing else goes on here in their place
    sources.jsonl    what is to be translated; gone at the end
    parts/           the translations so far, in whole chunks; gone at the end
    originals.jsonl  the pairs as people translated them, if they are kept
    dev.jsonl, test.jsonl, tokenizer*.json   the teacher's held-out pairs and pieces
    dropped.jsonl    sources that were not translated, translations that failed: rule, place, text
    train.jsonl      the pairs to learn; written last, so where it is, all is

Killed at any instant, it goes on at the chunk that was not whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from sightline.api import Model
from sightline.data.encoded import EncodedCorpus
from sightline.data.inputs import parse_inputs
from sightline.data.near import near_key
from sightline.data.pairs import Pair
from sightline.data.readers import read_pairs
from sightline.data.records import first_difference
from sightline.data.tokens import save_tokenizers
from sightline.decode.options import SearchOptions
from sightline.decode.translate import Translation
from sightline.errors import UserError
from sightline.study.progress import progress
from sightline.text.files import whole_file, write_whole
from sightline.text.lines import STANDARD_INPUT, display_name, read_lines

Tell = Callable[[str], None]
CHUNK = 1024  # sources translated, then written
VERSION = 1
LESSON = "distilled"  # the folder in a student's run folder


@dataclass(frozen=True, slots=True)
class Material:
    """Which texts: nothing named means those that the teacher itself was trained on, and held back."""

    pairs: tuple[str, ...] = ()  # parallel files, as for training
    texts: tuple[str, ...] = ()  # files of the source language alone, a text in each line
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    keep_originals: bool = False


@dataclass(frozen=True, slots=True)
class Lesson:
    """Where all of it lies."""

    folder: Path

    @property
    def train(self) -> Path:
        return self.folder / "train.jsonl"

    @property
    def originals(self) -> Path:
        return self.folder / "originals.jsonl"

    @property
    def parts(self) -> Path:
        return self.folder / "parts"

    def held_out(self, name: str) -> list[tuple[str, str]]:
        """The pairs of dev or test."""
        return [(row["source"], row["target"]) for row in _rows(self.folder / f"{name}.jsonl")]


def prepare_lesson(teacher: Model, material: Material, options: SearchOptions, folder: Path, tell: Tell) -> Lesson:
    """Make it, or go on making it."""
    lesson = Lesson(folder)
    settings = _settings(teacher, material, options)
    if (plan := folder / "plan.json").exists():
        known = json.loads(plan.read_text(encoding="utf-8"))
        if difference := first_difference(known, settings):
            raise UserError(f"{folder}: was begun otherwise: {difference}; say it as it was to go on, or choose another student")
    else:
        _plan(lesson, teacher, material, tell)
        write_whole(plan, json.dumps(settings, ensure_ascii=False, indent=1) + "\n")
    if not lesson.train.exists():
        _translate(lesson, teacher, options, tell)
        _join(lesson, tell)
    shutil.rmtree(lesson.parts, ignore_errors=True)
    (folder / "sources.jsonl").unlink(missing_ok=True)
    return lesson


def borrow_lesson(student: Path, folder: Path) -> None:
    """What another student learnt from, whole, unless there is something in this folder already."""
    if folder.exists():
        return
    if not Lesson(student / LESSON).train.exists():
        raise UserError(f"{student}: no finished translations here to take; leave --lesson out, or finish that student first")
    making = folder.with_name(f".{folder.name}-new")
    shutil.rmtree(making, ignore_errors=True)
    shutil.copytree(student / LESSON, making)
    os.rename(making, folder)


def _settings(teacher: Model, material: Material, options: SearchOptions) -> dict[str, Any]:
    named = [*material.pairs, *material.texts, *material.dev, *material.test]
    files = [word for word in named if Path(word).is_file()]
    weights = [_sha256(part.folder / "model.safetensors") for part in teacher.parts]
    own = {} if material.pairs or material.texts else {"corpus": _own_corpus(teacher).fingerprint}
    told = {
        "version": VERSION,
        "chunk": CHUNK,
        "teacher": weights,
        "search": asdict(options),
        "material": asdict(material),
        **own,
    }
    told["files"] = {file: _sha256(Path(file)) for file in files}
    settings: dict[str, Any] = json.loads(json.dumps(told))  # as it will be read again
    return settings


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _plan(lesson: Lesson, teacher: Model, material: Material, tell: Tell) -> None:
    """Everything but the translations."""
    lesson.folder.mkdir(parents=True, exist_ok=True)
    save_tokenizers(lesson.folder, _once(teacher))
    held = {name: _held_out(teacher, material, name) for name in ("dev", "test")}
    if not held["dev"]:
        raise UserError(f"{teacher.parts[0].folder}: no development pairs were kept with it; name some with --dev FILE")
    for name, pairs in held.items():
        write_whole(lesson.folder / f"{name}.jsonl", "".join(_line(source=left, target=right) for left, right in pairs))
    apart = {near_key(source) for pairs in held.values() for source, _ in pairs} - {""}
    counts = {"to translate": 0, "empty": 0, "duplicate": 0, "held_out": 0}
    seen: set[bytes] = set()
    with whole_file(lesson.folder / "sources.jsonl") as sources, whole_file(lesson.originals) as originals:
        for pair in _material(teacher, material, tell):
            source, key = pair.source.strip(), blake2b(pair.source.strip().encode(), digest_size=8).digest()
            rule = "" if source else "empty"
            rule = rule or ("held_out" if near_key(source) in apart else "") or ("duplicate" if key in seen else "")
            seen.add(key)
            counts[rule or "to translate"] += 1
            sources.write(_line(at=pair.origin, source=source, **({"rule": rule} if rule else {})).encode())
            if material.keep_originals and pair.target and rule in ("", "duplicate"):
                originals.write(_line(source=source, target=pair.target.strip()).encode())
    if not counts["to translate"]:
        raise UserError("there is nothing to translate; name files with text in the source language")
    tell(", ".join(f"{count:,} {what}" for what, count in counts.items() if count))


def _once(teacher: Model) -> Any:
    """One tokenizer for both sides is one object, whatever file it came from."""
    source, target = teacher.translator.tokenizers
    return (source, source) if source.fingerprint == target.fingerprint else (source, target)


def _held_out(teacher: Model, material: Material, name: str) -> list[tuple[str, str]]:
    """The files named, else what the teacher's own run held back."""
    words: Sequence[str] = getattr(material, name)
    kept = teacher.parts[0].folder.parent / "data" / f"{name}.jsonl"
    if words:
        return [(pair.source, pair.target) for pair in read_pairs(words, *teacher.languages)]
    return [(row["source"], row["target"]) for row in _rows(kept)] if kept.exists() else []


def _own_corpus(teacher: Model) -> EncodedCorpus:
    first = teacher.parts[0]
    folder = first.folder.parent / "data" / "train"
    if not (folder / "meta.json").exists():
        raise UserError(f"{first.folder}: the text it was trained on is not beside it; name files, or the run folder around it")
    if first.tokenizers[0].kind == "words":
        raise UserError(f"{folder}: words that the tokenizer did not know are lost there; name the files it was trained on")
    return EncodedCorpus(folder)


def _material(teacher: Model, material: Material, tell: Tell) -> Iterator[Pair]:
    """The texts one by one; of those without a translation the target is empty."""
    if STANDARD_INPUT in (*material.pairs, *material.texts):
        raise UserError('"-" can be read only once; save it to a file first')
    parse_inputs(material.pairs, *teacher.languages)  # mistakes that show in the words alone
    yield from read_pairs(material.pairs, *teacher.languages, bad=lambda line: tell(f"skipped {line}"))
    for file in material.texts:
        for line in read_lines(file):
            yield Pair(line.text or "", "", display_name(file), line.number)
    if not material.pairs and not material.texts:
        corpus, (source, target) = _own_corpus(teacher), teacher.translator.tokenizers
        for row in range(len(corpus)):
            file, _, number = corpus.origin(row).rpartition(":")
            yield Pair(source.decode(corpus.source(row)), target.decode(corpus.target(row)), file, int(number))


def _translate(lesson: Lesson, teacher: Model, options: SearchOptions, tell: Tell) -> None:
    total = sum("rule" not in row for row in _rows(lesson.folder / "sources.jsonl"))
    done = sum(1 for path in sorted(lesson.parts.glob("*.jsonl")) for _ in _rows(path))
    wanted = (row for row in _rows(lesson.folder / "sources.jsonl") if "rule" not in row)
    with progress("translated by the teacher", total, done, tell) as move:
        for number, rows in enumerate(_chunks(wanted)):
            part = lesson.parts / f"{number:08d}.jsonl"
            if not part.exists():
                found = teacher.translate([row["source"] for row in rows], options)
                judged = (_judged(row, one, options, teacher) for row, one in zip(rows, found, strict=True))
                write_whole(part, "".join(_line(**row) for row in judged))
                move(len(rows))


def _judged(row: dict[str, str], found: Translation, options: SearchOptions, teacher: Model) -> dict[str, str]:
    """A translation that is empty, or ended only because it might not be longer, teaches nothing good."""
    row = {**row, "target": found.text}
    if not found.text.strip():
        return {**row, "rule": "empty translation"}
    longest = teacher.translator.longest
    endless = any(len(written) >= options.limit(len(read), longest) for read, written in found.candidates[0].parts)
    return {**row, "rule": "endless translation"} if endless else row


def _join(lesson: Lesson, tell: Tell) -> None:
    """All parts as one file, with an account of what is not in it."""
    kept = failed = 0
    with whole_file(lesson.folder / "dropped.jsonl") as dropped:
        for row in _rows(lesson.folder / "sources.jsonl"):
            if "rule" in row:
                dropped.write(_line(**row).encode())
        with whole_file(lesson.train) as train:
            for path in sorted(lesson.parts.glob("*.jsonl")):
                for row in _rows(path):
                    bad = "rule" in row
                    kept, failed = kept + (not bad), failed + bad
                    (dropped if bad else train).write(_line(**row).encode())
            if not kept:
                raise UserError(f"{lesson.parts}: none of {failed:,} translations is of use; is this the right teacher?")
    tell(f"{kept:,} translations to learn from; {failed:,} failed ({lesson.folder / 'dropped.jsonl'} says which)")


def _chunks(rows: Iterable[dict[str, str]]) -> Iterator[list[dict[str, str]]]:
    waiting = iter(rows)
    while some := list(islice(waiting, CHUNK)):
        yield some


def _line(**row: str) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="\n") as file:
        yield from map(json.loads, file)
