"""A small made-up test set, two systems, one of them a little worse, and a report on them."""

import random
from typing import NamedTuple

import pytest

from sightline.evaluate.buckets import difference_in_bucket, length_buckets, score_by_length
from sightline.evaluate.metrics import evaluate, sentence_statistics
from sightline.evaluate.report import BucketRow, Contrast, Data, EvaluationReport, Example, Heatmap, System
from sightline.evaluate.significance import compare

TEXT = "the a cat dog house is was in on red blue big small and sees has , . ! it's Café naïve 3.5 Zürich"
WORDS = TEXT.split()


class Corpus(NamedTuple):
    sources: list[str]
    references: list[str]
    good: list[str]
    bad: list[str]


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    draw = random.Random(7)
    references = [" ".join(draw.choices(WORDS, k=draw.randint(1, 14))) for _ in range(120)]
    sources = [" ".join("w" for _ in range(max(1, len(line.split()) + draw.randint(-1, 1)))) for line in references]
    good, bad = ([_damaged(line, share, draw) for line in references] for share in (0.12, 0.2))
    return Corpus(sources, references, good, bad)


def _damaged(line: str, share: float, draw: random.Random) -> str:
    return " ".join(draw.choice(WORDS) if draw.random() < share else word for word in line.split())


HOSTILE = "</script><img src=x onerror=alert(1)> & \"quoted\" 'single' | `code` *bold* \u202eevil \x1b[31mred\x00 \U0001f600 عربي"


@pytest.fixture(scope="session")
def report(corpus: Corpus) -> EvaluationReport:
    """A whole report with hostile names and words wherever a user can put some."""
    statistics = [sentence_statistics(lines, corpus.references) for lines in (corpus.bad, corpus.good)]
    buckets = length_buckets(corpus.sources)
    columns = [score_by_length(each, buckets, resamples=100) for each in statistics]
    rows = tuple(
        BucketRow(bucket, scores, (difference_in_bucket(*statistics, bucket, resamples=100),))
        for bucket, scores in zip(buckets, zip(*columns, strict=True), strict=True)
    )
    return EvaluationReport(
        title=f"A title {HOSTILE}",
        data=Data.of(f"test {HOSTILE}", corpus.sources, corpus.references),
        systems=(
            System("bad", tuple(evaluate(corpus.bad, corpus.references, resamples=100))),
            System(f"good {HOSTILE}", tuple(evaluate(corpus.good, corpus.references, resamples=100))),
        ),
        recipe=(("command", f"make demo {HOSTILE}"), ("seed", "1")),
        buckets=rows,
        contrasts=(Contrast("bad", f"good {HOSTILE}", compare(*statistics, resamples=100, trials=200)),),
        examples=(Example(HOSTILE, corpus.references[0], (corpus.bad[0], f"{HOSTILE} \udcff")),),
        heatmaps=(
            Heatmap.of(
                f"head 3 {HOSTILE}",
                ["il", HOSTILE, "entarté"],
                ["he", "pied"],
                [[0.75, 0.123456, 0.126544], [0.0, 0.004, 0.996]],
                sure=[(1, 0)],
                possible=[(2, 1)],
            ),
        ),
    )
