"""The engine of CTranslate2 (`pip install 'sightline[ctranslate2]'`): Transformers on processors, in int8 unless told otherwise.

The model is handed over once, through the user's cache. Every core translates batches of its own. CTranslate2 ranks by
log p / length ^ α and we by log p / ((5 + length) / 6) ^ α, so it is asked for all that its beam found, and we rank.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import chain, groupby
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np

from sightline.data.batches import by_length
from sightline.data.workers import cores
from sightline.decode.cached import fingerprint
from sightline.decode.ctranslate2_export import INSTALL, Quantization, export, library, names, unfit
from sightline.decode.options import Hypothesis, SearchOptions
from sightline.decode.rank import normalised
from sightline.decode.search import Prefixes
from sightline.errors import UserError
from sightline.models.store import Stored
from sightline.native import cache_folder
from sightline.text.files import writing
from sightline.text.tokenizer import BOS, EOS, PAD

BATCH_SENTENCES = 32  # larger batches are slower on a core of its own
BATCH_TOKENS = 4096
FOREVER = 1 + 1e-6  # a patience above 1: search on until `beam` sentences are finished, as we do, whatever the penalty
KEPT = 8  # models in the cache


@dataclass(frozen=True, slots=True)
class _Job:
    """One sentence to translate."""

    row: int
    source: list[str]
    prefix: list[str]
    limit: int  # the most tokens that its translation may have


@dataclass(slots=True)
class _Finding:
    """A sentence as CTranslate2 gives it back."""

    job: _Job
    tokens: list[str]  # without the end mark
    ended: bool  # and it was there
    log_probability: float = 0.0


def why_not(stored: Stored) -> str:
    """Why this engine cannot run such a model here; nothing if it can."""
    if importlib.util.find_spec("ctranslate2") is None:
        return f"CTranslate2 is not installed; install it with: {INSTALL}"
    return unfit(stored)


@final
class CTranslate2Engine:
    """Searches of one model. Safe to use from several threads. `folder`: where it was exported to; unset: the user's cache."""

    def __init__(self, stored: Stored, numbers: Quantization = "int8", workers: int = 0, folder: Path | None = None) -> None:
        self.numbers, self.workers = numbers, workers or cores()
        self._names = [names(tokenizer) for tokenizer in stored.tokenizers]
        self._ids = {name: i for i, name in enumerate(self._names[1])}
        self._translator = library().Translator(
            str(folder or _exported(stored, numbers)), compute_type=numbers, inter_threads=self.workers, intra_threads=1
        )

    @property
    def recipe(self) -> str:
        """Its numbers and how many translate at once."""
        numbers = "fp32" if self.numbers == "float32" else self.numbers
        return f"ctranslate2 {numbers}, {self.workers} worker{'s' * (self.workers > 1)}"

    def can(self, options: SearchOptions) -> str:
        """All but what needs attention weights, and beams that a small vocabulary cannot fill."""
        if options.coverage_penalty:
            return "coverage_penalty needs the torch engine"
        if 2 * options.beam > len(self._ids):
            return f"beam={options.beam} is more than half of the {len(self._ids)} pieces, which needs the torch engine"
        return ""

    def search(
        self, sources: Sequence[Sequence[int]], options: SearchOptions, prefixes: Prefixes | None, longest: int
    ) -> list[list[Hypothesis]]:
        """A batch runs as far as its longest sentence may; whoever went too far is searched again within its own limit."""
        jobs = [self._job(row, source, options.limit(len(source), longest), prefixes) for row, source in enumerate(sources)]
        found = [_Finding(job, job.prefix, False) for job in jobs if job.limit == len(job.prefix)]  # nothing left to choose
        found += self._searched(_batches([job for job in jobs if job.limit > len(job.prefix)]), options)
        too_long = {finding.job.row for finding in found if len(finding.tokens) > finding.job.limit}
        if too_long:
            again = self._searched(_of_one_limit([jobs[row] for row in sorted(too_long)]), options)
            found = [finding for finding in found if finding.job.row not in too_long] + again
        self._score([finding for finding in found if finding.job.prefix or not finding.ended])
        return self._ranked(found, len(jobs), options)

    def _job(self, row: int, source: Sequence[int], limit: int, prefixes: Prefixes | None) -> _Job:
        read, write = self._names
        prefix = [write[i] for i in prefixes[row]] if prefixes is not None else []
        return _Job(row, [*(read[i] for i in source), read[EOS]], prefix, max(limit, len(prefix)))

    def _searched(self, batches: Sequence[Sequence[_Job]], options: SearchOptions) -> list[_Finding]:
        """All batches are handed in at once; each waits for a free worker."""
        started = [(job, result) for batch in batches for job, result in zip(batch, self._start(batch, options), strict=True)]
        return [finding for job, result in started for finding in self._findings(job, result.result(), options)]

    def _start(self, batch: Sequence[_Job], options: SearchOptions) -> list[Any]:
        prefixes = [job.prefix for job in batch]
        results: list[Any] = self._translator.translate_batch(
            [job.source for job in batch],
            prefixes if any(prefixes) else None,
            asynchronous=True,
            beam_size=options.beam,
            num_hypotheses=options.beam,
            patience=FOREVER,
            length_penalty=options.length_penalty,
            suppress_sequences=[[self._names[1][PAD]], [self._names[1][BOS]]],
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=max(job.limit for job in batch),
            return_end_token=True,
            return_scores=True,
        )
        return results

    def _findings(self, job: _Job, result: Any, options: SearchOptions) -> list[_Finding]:
        found = []
        for tokens, score in zip(result.hypotheses, result.scores, strict=True):
            ended = tokens[-1:] == [self._names[1][EOS]]
            total = score * len(tokens) ** options.length_penalty
            found.append(_Finding(job, tokens[:-1] if ended else tokens, ended, total))
        return found

    def _score(self, found: Sequence[_Finding]) -> None:
        """Set what the search leaves out: the pieces of a prefix, and the end mark of a sentence as long as it may be."""
        started = [
            self._translator.score_batch(
                [finding.job.source for finding in some],
                [finding.tokens for finding in some],
                max_input_length=0,
                asynchronous=True,
            )
            for some in _cut(found)
        ]
        for finding, result in zip(found, chain.from_iterable(started), strict=True):
            finding.log_probability = sum(result.result().log_probs)

    def _ranked(self, found: Sequence[_Finding], count: int, options: SearchOptions) -> list[list[Hypothesis]]:
        of_row: list[list[Hypothesis]] = [[] for _ in range(count)]
        for finding in found:
            tokens = tuple(self._ids[name] for name in finding.tokens)
            score = normalised(finding.log_probability, len(tokens) + 1, options.length_penalty)
            of_row[finding.job.row].append(Hypothesis(tokens, finding.log_probability, score))
        return [sorted(own, key=lambda hypothesis: -hypothesis.score)[: options.n_best] for own in of_row]


Item = TypeVar("Item")


def _cut(items: Sequence[Item]) -> list[Sequence[Item]]:
    return [items[start : start + BATCH_SENTENCES] for start in range(0, len(items), BATCH_SENTENCES)]


def _batches(jobs: Sequence[_Job]) -> list[list[_Job]]:
    """Sentences of like length together, the longest first."""
    lengths = np.array([len(job.source) - 1 for job in jobs], np.int32)
    return [[jobs[row] for row in rows] for rows in by_length(lengths, BATCH_TOKENS, BATCH_SENTENCES)] if jobs else []


def _of_one_limit(jobs: Sequence[_Job]) -> list[Sequence[_Job]]:
    by_limit = sorted(jobs, key=lambda job: -job.limit)
    return [some for _, own in groupby(by_limit, lambda job: job.limit) for some in _cut(list(own))]


def _exported(stored: Stored, numbers: Quantization) -> Path:
    """Where the model lies for CTranslate2; it is written there once, for all processes and for all copies of its folder."""
    place = cache_folder("ctranslate2")
    folder = place / fingerprint(stored, numbers, library().__version__, metadata.version("sightline"))
    if not folder.exists():
        with writing(f"{place}: cannot be written", "name another place for such things in XDG_CACHE_HOME"):
            place.mkdir(parents=True, exist_ok=True)
            for old in sorted(place.iterdir(), key=lambda path: path.stat().st_mtime)[: -KEPT + 1]:
                shutil.rmtree(old, ignore_errors=True)
        try:
            export(stored, folder, numbers)
        except UserError:
            if not folder.exists():  # else another process was faster
                raise
    return folder
