"""`sightline bench` measures what it says, on whatever engines there are, and tells it in words and for programs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sightline.api import load
from sightline.cli import app
from sightline.errors import UserError
from sightline.models.store import find
from sightline.study import bench as module
from sightline.study.bench import Bench, bench, lengths
from sightline.study.bench_text import to_json, to_text
from sightline.study.flops import work_of
from sightline.study.timing import Spread

TEXTS = ["le chat dort", "", "les étudiants ont ouvert leurs livres", "la maison est grande"]


def quick(patch: pytest.MonkeyPatch) -> None:
    for name, value in {"TURN": 0.01, "SHORTEST": 0.0, "SINGLE": 0.01, "ROUNDS": 2, "FEWEST": 3}.items():
        patch.setattr(module, name, value)
    patch.setattr("sightline.study.rates.SECONDS", 0.001)
    patch.setattr("sightline.study.rates.SHAPES", ((64, 64, 64),))
    patch.setattr("sightline.runs.forecast.SECONDS", 0.05)


@pytest.fixture(scope="module")
def found(small_run: Path) -> Bench:
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        quick(patch)
        result = bench(find(small_run), TEXTS, "some text", ["torch"], said.append)
    assert any("decoding 3 sentences of some text 2 times with torch" in line for line in said)
    return result


def test_both_searches_are_measured(found: Bench) -> None:
    assert [(each.engine, each.search) for each in found.decoding] == [("torch", "greedy"), ("torch", "beam 5")]
    for each in found.decoding:
        assert each.sentences.low <= each.sentences.median <= each.sentences.high
        assert each.tokens.median == pytest.approx(each.sentences.median * each.length)
        assert 0 < each.p50 <= each.p95


def test_the_share_is_what_the_model_asks_for_of_what_the_processor_can_do(found: Bench, small_run: Path) -> None:
    model = load(small_run, engine="torch")
    work = work_of(model.parts[0].config, model.translator.tokenizers[1].size)
    pairs = lengths(model.translate([text for text in TEXTS if text], module.SEARCHES["beam 5"]))
    beam = found.decoding[1]
    seconds = 1 / Spread.of([1 / found.decoding[1].sentences.low, 1 / beam.sentences.high]).median  # of the two rounds
    assert beam.operations == pytest.approx(sum(work.decoding(*pair, 5) for pair in pairs) * seconds / 3, rel=1e-6)
    assert beam.share == pytest.approx(beam.operations / found.rates.fp32)


def test_the_start_of_a_process_is_measured_in_a_process_of_its_own(found: Bench) -> None:
    start = found.starts["torch"]
    assert start.total > start.imported + start.loaded + start.first > 0
    assert 50e6 < start.memory < 1e9


def test_memory_is_that_of_the_process_alone() -> None:
    """Not that of whoever started it, which is larger here."""
    held = bytearray(300_000_000)
    program = "from sightline.study.start import peak_memory; print(peak_memory())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < len(held)


def test_training_is_measured_on_the_data_of_the_run(found: Bench, small_run: Path) -> None:
    assert found.training.data == str(small_run / "data" / "train")
    assert (found.training.precision, found.training.batch) == ("fp32", 600)
    assert found.training.tokens > 0
    assert 0 < found.training.share == found.training.operations / found.rates.fp32


def test_without_a_run_the_texts_are_trained_on(small_run: Path, found: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    model = load(small_run, engine="torch")
    stored = model.parts[0]
    alone = type(stored)(stored.model, stored.config, stored.tokenizers, stored.languages, small_run / "data" / "model")
    training = module._training(alone, model, TEXTS, found.rates)
    assert training.data == "these sentences and their translations"
    assert training.tokens > 0


def test_everything_is_told_with_its_recipe(found: Bench) -> None:
    told = json.loads(to_json(found))
    assert told["format"] == "sightline-bench/1"
    assert told["decoding"][0]["sentences"]["median"] == found.decoding[0].sentences.median
    assert {"processor", "machine", "versions", "sentences"} <= told["recipe"].keys()
    text = to_text(found)
    for word in ("torch fp32, greedy", "torch fp32, beam 5", "p95 ms", "target tokens/s (fp32, 600 tokens", "3 of some text"):
        assert word in text, word
    assert "How many times as fast" not in text  # beside nothing


def test_engines_that_cannot_run_here_say_why(small_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise UserError("not today")

    monkeypatch.setattr(module, "load", refuse)
    models, missing = module._open(find(small_run), [])
    assert (models, missing) == ({}, {"torch": "not today", "native": "not today", "ctranslate2": "not today"})
    with pytest.raises(UserError, match="not today"):
        bench(find(small_run), TEXTS, "some text", [], lambda line: None)


def test_texts_at_even_distances() -> None:
    assert module._spread(list("abcdefghij"), 4) == ["a", "c", "f", "h"]
    assert module._spread(["a"], 4) == ["a"]


def test_nothing_to_translate_is_said(small_run: Path) -> None:
    with pytest.raises(UserError, match=r"empty\.txt: no text to translate"):
        bench(find(small_run), [" "], "empty.txt", ["torch"], lambda line: None)


@pytest.mark.parametrize(
    ("typed", "source"),
    [((), "run/data/test.jsonl"), (("{file}",), "text.txt"), (("--engine", "torch", "--json"), "run/data/test.jsonl")],
)
def test_what_is_typed_arrives(
    typed: tuple[str, ...], source: str, small_run: Path, found: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.txt").write_text("\n".join(TEXTS) + "\n")
    given = []

    def measured(*arguments: object) -> Bench:
        given.extend(arguments[:-1])
        return found

    monkeypatch.setattr(module, "bench", measured)
    done = CliRunner().invoke(app, ["bench", str(small_run), *(word.format(file=tmp_path / "text.txt") for word in typed)])
    assert done.exit_code == 0, done.exception
    folder, texts, named, engines = given
    assert folder == small_run / "model"
    assert len(texts) == (20 if source.endswith("jsonl") else 3)
    assert str(named).endswith(source)
    assert engines == (["torch"] if "--engine" in typed else [])
    assert done.stdout == (to_json(found) + "\n" if "--json" in typed else to_text(found))


def test_an_engine_that_does_not_exist_is_refused(small_run: Path) -> None:
    done = CliRunner().invoke(app, ["bench", str(small_run), "--engine", "steam"])
    assert isinstance(done.exception, UserError)
    assert "there is no engine 'steam'" in str(done.exception)
