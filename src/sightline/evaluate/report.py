"""An evaluation as data. Rendering is in `report_text` and `report_html`; whatever they print stands here with its recipe."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sightline.errors import UserError
from sightline.evaluate.alignment import Link, Links
from sightline.evaluate.buckets import Bucket
from sightline.evaluate.score import Score
from sightline.evaluate.significance import Comparison


@dataclass(frozen=True, slots=True)
class Data:
    """The test set: its name, and a digest of its text that does not depend on how the file is packed."""

    name: str
    sha256: str
    sentences: int

    @staticmethod
    def of(name: str, sources: Sequence[str], references: Sequence[str]) -> Data:
        """Describe a test set; the digest is of the lines "source TAB reference NEWLINE" in UTF-8."""
        if len(sources) != len(references):
            raise UserError(f"{name}: {len(sources)} sources but {len(references)} references; give one line for each")
        digest = hashlib.sha256()
        for source, reference in zip(sources, references, strict=True):
            digest.update(f"{source}\t{reference}\n".encode("utf-8", "surrogatepass"))
        return Data(name, digest.hexdigest(), len(sources))


@dataclass(frozen=True, slots=True)
class System:
    """One system's scores on all sentences."""

    name: str
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class BucketRow:
    """All systems' scores on the sentences of one bucket, in the order of the systems, and the systems' lead over the first."""

    bucket: Bucket
    scores: tuple[Score, ...]
    differences: tuple[Score, ...] = ()


@dataclass(frozen=True, slots=True)
class Contrast:
    """A system beside the baseline."""

    baseline: str
    system: str
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence, what it should become, and what each system made of it, in the order of the systems."""

    source: str
    reference: str
    translations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Heatmap:
    """Attention of target words over source words, one row per target word, with gold links where they are known."""

    title: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]
    sure: Links = frozenset()
    possible: Links = frozenset()

    @staticmethod
    def of(
        title: str,
        source: Sequence[str],
        target: Sequence[str],
        weights: Sequence[Sequence[float]],
        sure: Iterable[Link] = (),
        possible: Iterable[Link] = (),
    ) -> Heatmap:
        """A map from plain nested lists (or an array of target by source)."""
        rows = tuple(tuple(float(weight) for weight in row) for row in weights)
        return Heatmap(title, tuple(source), tuple(target), rows, frozenset(sure), frozenset(possible))

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.target) or any(len(row) != len(self.source) for row in self.weights):
            raise ValueError(f"{self.title}: weights must be {len(self.target)} rows of {len(self.source)}, target by source")
        if not all(math.isfinite(weight) and 0 <= weight <= 1 + 1e-3 for row in self.weights for weight in row):
            raise ValueError(f"{self.title}: attention weights lie between 0 and 1")
        if not all(0 <= i < len(self.source) and 0 <= j < len(self.target) for i, j in self.sure | self.possible):
            raise ValueError(f"{self.title}: a gold link points outside the sentence")


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """Everything that one evaluation found out, and how to do it again."""

    title: str
    data: Data
    systems: tuple[System, ...]
    recipe: tuple[tuple[str, str], ...]  # what was done, as names and values: command, configuration, seed, machine
    buckets: tuple[BucketRow, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    examples: tuple[Example, ...] = ()
    heatmaps: tuple[Heatmap, ...] = ()
    aligners: tuple[System, ...] = ()  # ways of reading word alignments, scored against gold links

    def __post_init__(self) -> None:
        if not self.recipe:
            raise ValueError(f"{self.title}: an evaluation without a recipe cannot be done again")
        figures = [score for system in (*self.systems, *self.aligners) for score in system.scores]
        figures += [score for row in self.buckets for score in (*row.scores, *row.differences)]
        for each in (contrast.comparison for contrast in self.contrasts):
            figures += [each.baseline, each.system, each.difference, each.p_bootstrap, each.p_randomisation]
        bare = [figure for figure in figures if not isinstance(figure, Score)]
        if bare:
            raise TypeError(f"{self.title}: {bare[0]!r} is a bare number; report a Score, which has its recipe")
        if any(len(row.scores) != len(self.systems) for row in self.buckets):
            raise ValueError(f"{self.title}: a bucket has one score for each of the {len(self.systems)} systems")
        if any(len(example.translations) != len(self.systems) for example in self.examples):
            raise ValueError(f"{self.title}: an example has one translation from each of the {len(self.systems)} systems")
