"""The command line, as typed: results on standard output, the rest on standard error, exit codes that mean something."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from whole_run import CHANGES


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
    assert (tmp_path / "out" / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_look_and_align(small_run: Path, tmp_path: Path) -> None:
    picture = lines(sightline("look", small_run, "le chat dort", "--target", "the cat sleeps", "--reading", "after_reading"))
    assert "after reading" in "\n".join(picture)
    (tmp_path / "p.tsv").write_text("le chat\tthe cat\n")
    (links,) = lines(sightline("align", small_run, tmp_path / "p.tsv"))
    assert all(len(link.split("-")) == 2 for link in links.split())


@pytest.mark.parametrize("form", ["tsv", "jsonl", "pharaoh", "conllu"])
def test_the_built_in_corpus_is_shown(form: str) -> None:
    assert len(lines(sightline("corpus", "-n", 3, "--part", "test", "--as", form))) >= 3


def test_doctor_knows_the_machine() -> None:
    facts = json.loads(sightline("doctor", "--json").stdout)
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
        (("look", "m", " "), 1, "no text to look at"),
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
