"""BLEU, chrF and TER: the metrics themselves are sacreBLEU's, the intervals are drawn from their per-sentence counts."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from sightline.errors import UserError
from sightline.evaluate.bootstrap import RESAMPLES, SEED, Rows
from sightline.evaluate.score import Score, Statistics

METRICS = ("bleu", "chrf", "ter")
TOKENIZERS = ("13a", "intl", "zh", "char", "none")  # those of sacreBLEU's that need no download and no further package


def evaluate(
    hypotheses: Sequence[str],
    references: Sequence[str],
    metrics: Sequence[str] = METRICS,
    *,
    lowercase: bool = False,
    tokenize: str = "13a",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[Score]:
    """The scores of detokenised translations, one per metric, each with its interval and signature."""
    return [
        sentence_statistics(hypotheses, references, metric, lowercase=lowercase, tokenize=tokenize).score(resamples, seed)
        for metric in metrics
    ]


def sentence_statistics(
    hypotheses: Sequence[str],
    references: Sequence[str],
    metric: str = "bleu",
    *,
    lowercase: bool = False,
    tokenize: str = "13a",
) -> Statistics:
    """The counts that a metric is a function of, sentence by sentence.

    `tokenize` is BLEU's alone. TER ignores case, as its authors' program does and as its signature says.
    """
    if metric == "bleu":
        _choose("tokenize", tokenize, TOKENIZERS)
        return _statistics(BLEU(lowercase=lowercase, tokenize=tokenize, force=True), hypotheses, references)
    if metric == "chrf":
        return _statistics(CHRF(lowercase=lowercase), hypotheses, references)
    if metric == "ter":
        return _statistics(TER(), hypotheses, references)
    _choose("metric", metric, METRICS)
    raise AssertionError(f"{metric} is in METRICS but has no case here")


def bleu_moses_lower(
    hypotheses: Sequence[str], references: Sequence[str], language: str, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Score:
    """BLEU of lower-cased text with Moses tokens on both sides: what many papers on Multi30k print.

    It is higher than BLEU of the text as it stands and may only be set beside numbers made in the same way.
    """
    return moses_lower_statistics(hypotheses, references, language).score(resamples, seed)


def moses_lower_statistics(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Statistics:
    """The counts of `bleu_moses_lower`."""
    try:
        from sacremoses import MosesTokenizer  # type: ignore[import-untyped]
        from sacremoses.corpus import NonbreakingPrefixes  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise UserError("Moses tokens need the package sacremoses; install it with: pip install 'sightline[moses]'") from None
    # For a language that it does not know sacremoses takes the English rules without a word.
    _choose("language", language, sorted(set(NonbreakingPrefixes().available_langs.values())))
    tokenizer = MosesTokenizer(lang=language)

    def prepare(texts: Sequence[str]) -> list[str]:
        return [tokenizer.tokenize(text.lower(), return_str=True, escape=False) for text in texts]

    # The text is in lower case already: saying so once more only puts it into the signature.
    metric = BLEU(lowercase=True, tokenize="none", force=True)
    recipe_end = f"|moses:{language}|sacremoses:{importlib.metadata.version('sacremoses')}"
    return _statistics(metric, prepare(hypotheses), prepare(references), recipe_end)


def quick_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """BLEU alone, for watching a training run; a number to be reported comes from `evaluate`."""
    return sentence_statistics(hypotheses, references, "bleu").value()


def quick_chrf(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """chrF alone, for watching a training run; a number to be reported comes from `evaluate`."""
    return sentence_statistics(hypotheses, references, "chrf").value()


def _statistics(metric: Metric, hypotheses: Sequence[str], references: Sequence[str], recipe_end: str = "") -> Statistics:
    if len(hypotheses) != len(references):
        raise UserError(f"{len(hypotheses)} translations but {len(references)} references; give one line for each")
    if not hypotheses:
        raise UserError("there is no sentence to score; give at least one translation with its reference")
    # sacreBLEU offers per-sentence counts under private names only; they have been stable since 2.0, and the tests compare.
    rows = np.array(metric._extract_corpus_statistics(hypotheses, [references]), dtype=np.float64)

    def formula(sums: Rows) -> float:
        return float(metric._compute_score_from_stats(sums.tolist()).score)

    name = metric._compute_score_from_stats(rows[0].tolist()).name
    return Statistics(name, rows, formula, f"{metric.get_signature()}{recipe_end}", lower_is_better=isinstance(metric, TER))


def _choose(what: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        near = get_close_matches(given, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(known)}"
        raise UserError(f"{what} {given!r} is not known; {hint}")
