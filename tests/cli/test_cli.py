"""The command line, as typed: results on standard output, the rest on standard error, exit codes that mean something."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from whole_run import CHANGES

from sightline import load
from sightline.cli import HELP


def sightline(*words: object, text: str | bytes = b"") -> subprocess.CompletedProcess[bytes]:
    given = text.encode() if isinstance(text, str) else text
    command = [sys.executable, "-W", "error", "-m", "sightline", *map(str, words)]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=120)


def lines(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().split("\n")[:-1]


def test_as_many_lines_come_out_as_go_in(small_run: Path) -> None:
    text = "le chat dort\n\nla maison\x0b est\u2028grande\r\n  \ndernière ligne sans fin".encode()
    done = sightline(
        "translate",
        small_run,
        text=text + b"\nab\xffcd\n",
    )
    found = lines(done)
    assert len(found) == 6
    assert found[1] == found[3] == found[5] == ""
    assert b"standard input:6" in done.stderr


def test_files_are_read_one_after_the_other(small_run: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("le chat dort\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"la maison\n"))
    both = lines(sightline("translate", small_run, tmp_path / "a.txt", tmp_path / "b.txt.gz", "beam=2"))
    assert both == lines(sightline("translate", small_run, "beam=2", text="le chat dort\nla maison\n"))


def test_json_has_scores_and_alternatives(small_run: Path) -> None:
    (line,) = lines(sightline("translate", small_run, "--json", "beam=4", "n_best=3", text="le chat dort\n"))
    record = json.loads(line)
    scores = [candidate["score"] for candidate in record["candidates"]]
    assert (record["source"], len(scores)) == ("le chat dort", 3)
    assert scores == sorted(scores, reverse=True)
    assert record["translation"] == record["candidates"][0]["text"]


def test_samples_and_prefixes_and_attention(small_run: Path, tmp_path: Path) -> None:
    words = ("--json", "--sample", "count=2", "seed=3")
    (line,) = lines(sightline("translate", small_run, *words, text="le chat dort\n"))
    assert len(json.loads(line)["candidates"]) == 2
    (tmp_path / "starts").write_text("the cat\n")
    maps = tmp_path / "maps.jsonl"
    found = lines(sightline("translate", small_run, "--prefixes", tmp_path / "starts", "--attention", maps, text="le chat\nun\n"))
    assert found[0].startswith("the cat")
    records = [json.loads(line) for line in maps.read_text(encoding="utf-8").splitlines()]
    assert [len(record["maps"]) for record in records] == [3, 3]


def test_pairs_are_scored_by_origin(small_run: Path, tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("le chat\tthe cat\nun chien\ta dog\n")
    found = lines(sightline("score", small_run, tmp_path / "p.tsv"))
    assert [line.split("\t")[0].rpartition(":")[2] for line in found] == ["1", "2"]
    (first, _) = map(json.loads, lines(sightline("score", small_run, tmp_path / "p.tsv", "--json")))
    assert first["pieces"][-1][0] == "</s>"
    assert first["log_probability"] == pytest.approx(float(found[0].split("\t")[1]), abs=1e-3)


def test_evaluate_reports_with_recipes(small_run: Path, tmp_path: Path) -> None:
    done = sightline("evaluate", small_run, "beam=1", "--against", small_run, "-o", tmp_path / "out", "--json")
    report = json.loads(done.stdout)
    assert {score["name"] for score in report["systems"][0]["scores"]} == {"BLEU", "chrF2", "TER"}
    assert report["contrasts"]
    assert "engine" in dict(report["recipe"])
    assert (tmp_path / "out" / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_evaluate_prints_the_figure_of_the_papers_beside_those_that_ignore_case(small_run: Path, tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("le chat dort\tThe cat sleeps\nun chien\tA dog\n")
    options = ("--test", tmp_path / "p.tsv", "--moses", "--lowercase", "beam=1", "max_extra=2")
    (system,) = json.loads(sightline("evaluate", small_run, *options, "--json").stdout)["systems"]
    found = [(score["name"], "case:lc" in score["recipe"], "moses:en" in score["recipe"]) for score in system["scores"]]
    assert sorted(found) == [
        ("BLEU", True, False), ("BLEU, lower case, Moses tokens", True, True), ("TER", True, False), ("chrF2", True, False)
    ]  # fmt: skip


def test_a_model_that_came_without_test_pairs_must_be_given_some(small_run: Path, tmp_path: Path) -> None:
    shutil.copytree(small_run / "model", tmp_path / "shipped")
    done = sightline("evaluate", tmp_path / "shipped")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"no test pairs were kept with this model; name some with --test" in done.stderr


def test_export_writes_a_folder_and_says_how_often_it_is_the_same(small_run: Path, tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("le chat dort\tthe cat sleeps\nun chien\ta dog\n")
    done = sightline("export", small_run, "--to", "ctranslate2", "--weights", "float32", "-o", tmp_path / "out")
    size, found = lines(done)
    assert size == f"{tmp_path / 'out'}: {size.split()[-4]} MB in float32"
    assert (tmp_path / "out" / "model.bin").exists()
    assert re.search(r": (\d+) of \1 sentences \(.*test.jsonl\)", found), (found, done.stderr)
    again = sightline("export", small_run, "-o", tmp_path / "out")
    assert (again.returncode, b"is there already" in again.stderr) == (1, True)
    found = lines(sightline("export", small_run, "-o", tmp_path / "int8", "--check", tmp_path / "p.tsv"))[1]
    assert f"of 2 sentences ({tmp_path / 'p.tsv'})" in found


def test_an_engine_is_named(small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = "le chat dort\nla maison\n"
    assert len(lines(sightline("translate", small_run, "--engine", "ctranslate2", "beam=2", text=text))) == 2
    assert list((tmp_path / "sightline" / "ctranslate2").iterdir())
    done = sightline("translate", small_run, "--engine", "ctranslate2", "coverage_penalty=0.2", text=text)
    assert done.returncode == 1
    assert b"the ctranslate2 engine cannot run this: coverage_penalty needs the torch engine" in done.stderr
    done = sightline("evaluate", small_run, "--engine", "torch", "beam=1", "--json")
    assert dict(json.loads(done.stdout)["recipe"])["engine"] == "torch fp32"


def test_look_draws_what_it_is_asked_for(small_run: Path) -> None:
    picture = lines(sightline("look", small_run, "le chat dort", "--target", "the cat sleeps", "--reading", "after_reading"))
    assert "after reading" in "\n".join(picture)


def test_align_links_each_word_to_the_one_it_looks_at_most(small_run: Path, tmp_path: Path) -> None:
    pairs = [("le chat dort", "the cat sleeps"), ("", ""), ("la maison est grande", "the house is big"), ("un chien", "a dog")]
    (tmp_path / "p.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    found = lines(sightline("align", small_run, tmp_path / "p.tsv", "--layer", 0, "--head", 1, "--reading", "while_writing"))
    model, expected = load(small_run), []
    for source, target in pairs:
        seen = model.explain(source, target)
        most = seen.weights(seen.cross(0), 1, "while_writing").argmax(1).tolist()
        expected.append({(word, place) for place, word in enumerate(most) if word < len(source.split())})  # else the end mark
    assert [{tuple(map(int, link.split("-"))) for link in line.split()} for line in found] == expected
    assert sum(map(len, expected)) >= 3


def test_align_stops_at_a_line_that_is_no_pair(small_run: Path, tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("le chat\tthe cat\nno pair\nun chien\ta dog\n")
    done = sightline("align", small_run, tmp_path / "p.tsv")
    assert done.returncode == 1
    assert b"p.tsv:2" in done.stderr
    assert b"links are told apart by their line alone" in done.stderr
    assert b"Traceback" not in done.stderr
    assert len(done.stdout.splitlines()) <= 1  # nothing after that line


@pytest.mark.parametrize("form", ["tsv", "jsonl", "pharaoh", "conllu"])
def test_the_built_in_corpus_is_shown(form: str) -> None:
    assert len(lines(sightline("corpus", "-n", 3, "--part", "test", "--as", form))) >= 3


def test_doctor_knows_the_machine() -> None:
    facts = json.loads(sightline("doctor", "--json", "--folder", "not/yet/there").stdout)
    assert {"PyTorch", "cores", "products, fp32", "products, bf16", "advice"} <= facts.keys()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("train", "a.tsv"), 1, "say -o FOLDER"),
        (("train", "a.tsv", "-o", "{}/x", "--from", "fr", "--to", "en"), 1, "a.tsv"),
        (("train", "builtin:9", "-o", "{}/x", "--from", "fr", "--to", "en", "train.tokns=5"), 1, "nearest is 'train.tokens'"),
        (("train", "builtin:9", "-o", "{}/x"), 1, "--from fr --to en"),
        (("train", "builtin:9", "-o", "{}/x", "--preset", "hug"), 1, "there is no preset 'hug'"),
        (("translate", "{}/none"), 1, "there is no such model folder"),
        (("translat", "x"), 2, "translate"),
        (("demo", "my.tsv"), 1, "brings its own corpus"),
        (("translate", "m", "--sample", "--prefixes", "p"), 1, "takes no --prefixes"),
        (("translate", "m", "--with", "n", "--attention", "a"), 1, "leave one of the two out"),
        (("translate", "m", "--sample", "--engine", "native"), 1, "takes no --engine"),
        (("translate", "m", "--engine", "gpu"), 1, "say torch, native, ctranslate2 or auto"),
        (("export", "m", "-o", "{}/x", "--to", "marian"), 1, "written for ctranslate2 only"),
        (("export", "m", "-o", "{}/x", "--weights", "int4"), 1, "say int8, int16, float32"),
        (("look", "m", " "), 1, "no text to look at"),
        (("train", "{}/run.toml", "-o", "{}/x"), 1, "run.toml: there is no such file; check the name"),
        (("corpus", "-n", "-5"), 2, "Invalid value for '--count'"),
        (("corpus", "--start", "-1"), 2, "Invalid value for '--start'"),
    ],
)
def test_mistakes_are_told_with_their_fix(words: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    done = sightline(*(word.format(tmp_path) for word in words))
    assert done.returncode == code
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "x" / "data").exists()


def test_searching_by_an_unknown_key_names_the_nearest(small_run: Path) -> None:
    done = sightline("translate", small_run, "bem=3", text="a\n")
    assert (done.returncode, b"nearest is 'beam'" in done.stderr) == (1, True)


def test_who_stops_reading_gets_no_complaint(small_run: Path) -> None:
    command = f"yes 'le chat' | head -n 50 | {sys.executable} -m sightline translate {small_run} | head -n 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=120)
    assert b"Traceback" not in done.stderr


def test_train_says_where_the_model_is(tmp_path: Path) -> None:
    done = sightline("train", "-o", tmp_path / "run", *CHANGES, "train.max_updates=2", "train.validate_sentences=0",
                     "train.judge=loss", "data.test_pairs=0", "data.test=[]")  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert b"the model is in" in done.stderr
    assert (tmp_path / "run" / "model" / "config.json").exists()


def test_the_help_has_no_line_breaks_but_between_paragraphs() -> None:
    assert not any("\n" in paragraph for paragraph in HELP.split("\n\n"))


def test_a_training_that_is_asked_to_leave_says_130_and_goes_on_by_the_same_command(tmp_path: Path) -> None:
    endless = ("train.max_updates=1000000", "train.validate_every=1000000", "train.log_every=1")
    command = [sys.executable, "-m", "sightline", "train", "-o", str(tmp_path / "run"), *CHANGES, *endless]

    def until_an_update() -> list[str]:
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}) as process:
            late = threading.Timer(120, process.kill)
            late.start()
            assert process.stderr is not None
            told = []
            for line in process.stderr:
                told.append(line)
                if line.startswith("update ") and not told[-2].startswith("update "):
                    process.send_signal(signal.SIGTERM)
            late.cancel()
        assert process.returncode == 130, told
        assert "the same command goes on from there" in told[-1]
        return told

    assert any(line.startswith("training:") for line in until_an_update())
    checkpoints = tmp_path / "run" / "checkpoints"
    first = (checkpoints / "latest").read_text()
    assert (checkpoints / first / "model.safetensors").exists()
    assert any(line.startswith("going on after update") for line in until_an_update())
    assert (checkpoints / "latest").read_text() != first
