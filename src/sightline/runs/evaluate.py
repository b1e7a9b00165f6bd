"""Models on a test set: one report with scores, their intervals, scores by length, and paired significance."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from sightline.decode.load import load_translator
from sightline.decode.options import SearchOptions
from sightline.decode.translate import Translator
from sightline.evaluate.buckets import difference_in_bucket, length_buckets, score_by_length
from sightline.evaluate.metrics import METRICS, evaluate, moses_lower_statistics, sentence_statistics
from sightline.evaluate.report import BucketRow, Contrast, Data, EvaluationReport, Example, Heatmap, System
from sightline.evaluate.score import Score, Statistics
from sightline.evaluate.significance import compare

Pairs = Sequence[tuple[str, str]]
SHOWN = 10  # examples in a report


@dataclass(frozen=True, slots=True)
class Contestant:
    """A system under its name, with its translations of the test sources."""

    name: str
    translations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """How translations are scored."""

    lowercase: bool = False
    tokenize: str = "13a"
    moses: str = ""  # a language: BLEU of lower-cased Moses tokens besides

    def __post_init__(self) -> None:
        _statistics(["word"], ["word"], self)  # what cannot be measured is told before anything is translated


def translations(translator: Translator, pairs: Pairs, options: SearchOptions) -> tuple[str, ...]:
    """The best translation of every source."""
    return tuple(found.text for found in translator.translate([source for source, _ in pairs], options))


def score_model(folder: Path, pairs: Pairs, options: SearchOptions | None = None, device: str = "cpu") -> tuple[Score, ...]:
    """BLEU, chrF and TER of the model in this folder, translating as its users will."""
    translator, _ = load_translator([folder], device)
    found = translations(translator, pairs, options or SearchOptions())
    return tuple(evaluate(found, [target for _, target in pairs]))


def make_report(
    title: str,
    data: str,
    pairs: Pairs,
    contestants: Sequence[Contestant],
    measure: Measure,
    recipe: Sequence[tuple[str, str]],
    heatmaps: Sequence[Heatmap] = (),
    aligners: Sequence[System] = (),
) -> EvaluationReport:
    """Every system's scores; the systems after the first beside it, by length and with significance."""
    sources, references = [source for source, _ in pairs], [target for _, target in pairs]
    counts = [_statistics(each.translations, references, measure) for each in contestants]
    first, bleus = contestants[0], [statistics[0] for statistics in counts]
    contrasts = [
        Contrast(first.name, each.name, compare(baseline, statistics))
        for each, own in zip(contestants[1:], counts[1:], strict=True)
        for baseline, statistics in zip(counts[0], own, strict=True)
    ]
    return EvaluationReport(
        title,
        Data.of(data, sources, references),
        tuple(
            System(each.name, tuple(statistics.score() for statistics in own))
            for each, own in zip(contestants, counts, strict=True)
        ),
        (*recipe, *machine()),
        _by_length(sources, bleus),
        tuple(contrasts),
        tuple(
            Example(source, target, tuple(each.translations[row] for each in contestants))
            for row, (source, target) in enumerate(pairs[:SHOWN])
        ),
        tuple(heatmaps),
        tuple(aligners),
    )


def _statistics(found: Sequence[str], references: Sequence[str], measure: Measure) -> list[Statistics]:
    counts = [
        sentence_statistics(found, references, metric, lowercase=measure.lowercase, tokenize=measure.tokenize)
        for metric in METRICS
    ]
    if not measure.moses:
        return counts
    return [*counts, replace(moses_lower_statistics(found, references, measure.moses), name="BLEU, lower case, Moses tokens")]


def _by_length(sources: Sequence[str], systems: Sequence[Statistics]) -> tuple[BucketRow, ...]:
    """BLEU of the first kind in each quarter of source lengths, and the lead over the first system with its interval."""
    buckets = length_buckets(sources)
    columns = [score_by_length(statistics, buckets) for statistics in systems]
    return tuple(
        BucketRow(
            bucket,
            tuple(column[row] for column in columns),
            tuple(difference_in_bucket(systems[0], other, bucket) for other in systems[1:]),
        )
        for row, bucket in enumerate(buckets)
    )


def recipe_of(folders: Sequence[Path], options: SearchOptions, engines: Sequence[str]) -> list[tuple[str, str]]:
    """Which weights, how they were searched, and by what."""
    told = [(f"weights of {folder}", f"sha256 {_sha256(folder / 'model.safetensors')}") for folder in folders]
    search = ", ".join(f"{name}={value}" for name, value in asdict(options).items())
    return [*told, ("search", search), ("engine", " and ".join(dict.fromkeys(engines)))]


def machine() -> list[tuple[str, str]]:
    """Where it was done."""
    return [
        ("machine", f"{platform.machine()}, {platform.system()}, {torch.get_num_threads()} threads"),
        ("versions", f"Python {platform.python_version()}, PyTorch {torch.__version__}"),
    ]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
