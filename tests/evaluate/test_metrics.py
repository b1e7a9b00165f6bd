"""The metrics against sacreBLEU's own interface and command line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from sightline.errors import UserError
from sightline.evaluate.metrics import bleu_moses_lower, evaluate, quick_bleu, quick_chrf, sentence_statistics

MAKERS: dict[str, Callable[[], Any]] = {"bleu": BLEU, "chrf": CHRF, "ter": TER}


@pytest.fixture(autouse=True)
def _sacrebleus_own_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)


@pytest.mark.parametrize("metric", MAKERS)
def test_value_interval_and_signature_are_sacrebleus(metric: str, corpus: Any) -> None:
    theirs_metric = MAKERS[metric]()
    theirs = theirs_metric.corpus_score(corpus.good, [corpus.references], n_bootstrap=1000)
    (ours,) = evaluate(corpus.good, corpus.references, [metric])
    assert ours.value == pytest.approx(theirs.score, abs=1e-12)
    assert ours.name == theirs.name
    assert ours.low is not None
    assert ours.high is not None
    assert (ours.high - ours.low) / 2 == pytest.approx(theirs._ci, abs=1e-4)  # theirs is rounded to 32 bits
    assert ours.low < ours.value < ours.high
    assert ours.recipe == str(theirs_metric.get_signature())


def test_the_command_line_says_the_same(corpus: Any, tmp_path: Path) -> None:
    for name, lines in (("ref", corpus.references), ("hyp", corpus.good)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", "ref", "-i", "hyp", "-m", "bleu", "chrf", "ter", "--confidence", "-w", "6"]
    command += ["-lc", "--chrf-lowercase"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, env={**os.environ, "SACREBLEU_SEED": "12345"})
    theirs = json.loads(said.stdout)
    ours = evaluate(corpus.good, corpus.references, lowercase=True)
    assert [score.name for score in ours] == [each["name"] for each in theirs] == ["BLEU", "chrF2", "TER"]
    for score, each in zip(ours, theirs, strict=True):
        assert score.value == pytest.approx(each["score"], abs=1e-5)
        assert score.recipe == each["signature"]


def test_options_reach_the_metrics(corpus: Any) -> None:
    shouted = [line.upper() for line in corpus.references]
    cased, lowered = (evaluate(shouted, corpus.references, ["bleu"], lowercase=lower)[0] for lower in (False, True))
    assert cased.value < 50
    assert lowered.value == pytest.approx(100)
    assert "case:lc" in lowered.recipe
    none, thirteen = (evaluate(["a b c d e ."], ["a b c d e."], ["bleu"], tokenize=way)[0].value for way in ("none", "13a"))
    assert none < thirteen == pytest.approx(100)


def test_seed_and_resamples_are_written_down(corpus: Any) -> None:
    (score,) = evaluate(corpus.good, corpus.references, ["bleu"], resamples=50, seed=9)
    assert "|bs:50|seed:9|" in score.recipe


def test_quick_numbers_are_the_same_numbers(corpus: Any) -> None:
    bleu, chrf = evaluate(corpus.good, corpus.references, ["bleu", "chrf"], resamples=40)
    assert quick_bleu(corpus.good, corpus.references) == bleu.value
    assert quick_chrf(corpus.good, corpus.references) == chrf.value


def test_empty_translations_score_nothing_and_break_nothing() -> None:
    bleu, chrf, ter = evaluate(["", ""], ["a b c", "d e f"])
    assert (bleu.value, chrf.value, ter.value) == (0.0, 0.0, 100.0)
    assert evaluate([""], [""], ["ter"])[0].value == 0.0


def test_tokenised_text_is_scored_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    evaluate(["a b ."] * 150, ["a b ."] * 150, ["bleu"], resamples=40)
    assert not caplog.records


def test_moses_lower_is_sacremoses_and_no_tokenizer() -> None:
    hypotheses = ['Ein Mann (z.B. Herr Müller) sagt: "Hallo, Welt!"', "Zwei Hunde. Sie laufen schnell, sehr schnell."]
    references = ['ein mann (z.B. herr müller) sagt: "hallo Welt!"', "Zwei Hunde. Die laufen sehr, sehr schnell."]
    # Lower-cased first: a full stop before a capital would be a token of its own.
    tokens = [
        ['ein mann ( z.b. herr müller ) sagt : " hallo , welt ! "', "zwei hunde. sie laufen schnell , sehr schnell ."],
        ['ein mann ( z.b. herr müller ) sagt : " hallo welt ! "', "zwei hunde. die laufen sehr , sehr schnell ."],
    ]
    score = bleu_moses_lower(hypotheses, references, "de")
    assert score.value == pytest.approx(BLEU(tokenize="none").corpus_score(tokens[0], [tokens[1]]).score, abs=1e-12)
    assert 0 < score.value < 100
    assert {"case:lc", "tok:none", "moses:de"} <= set(score.recipe.split("|"))
    assert "|sacremoses:" in score.recipe


def test_missing_sacremoses_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(UserError, match=r"pip install 'sightline\[moses\]'"):
        bleu_moses_lower(["a"], ["a"], "de")


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: evaluate(["a"], ["a"], ["blue"]), "metric 'blue' is not known; did you mean 'bleu'?"),
        (lambda: evaluate(["a"], ["a"], ["xyz"]), "metric 'xyz' is not known; choose one of bleu, chrf, ter"),
        (lambda: evaluate(["a"], ["a"], tokenize="13"), "tokenize '13' is not known; did you mean '13a'?"),
        (lambda: bleu_moses_lower(["a"], ["a"], "german"), "language 'german' is not known"),
        (lambda: evaluate(["a", "b"], ["a"]), "2 translations but 1 references"),
        (lambda: quick_bleu([], []), "there is no sentence to score"),
    ],
)
def test_mistakes_are_named(action: Callable[[], object], message: str) -> None:
    with pytest.raises(UserError) as refused:
        action()
    assert message in str(refused.value)


def test_ter_is_the_one_that_should_be_low(corpus: Any) -> None:
    kept = {metric: sentence_statistics(corpus.good, corpus.references, metric).lower_is_better for metric in MAKERS}
    assert kept == {"bleu": False, "chrf": False, "ter": True}


def test_evaluate_needs_no_torch() -> None:
    packages = ["metrics", "significance", "buckets", "alignment", "link_files", "report", "report_text", "report_html"]
    code = f"import sys; {'; '.join(f'import sightline.evaluate.{name}' for name in packages)}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0
