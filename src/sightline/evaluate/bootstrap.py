"""Resampling of sentences: how far a score would move on another test set of the same kind.

Every score here is a function of the sums of per-sentence counts, so a resample is a weighted sum and nothing is ever
scored again. The draws are those of sacreBLEU (numpy's default generator, seed 12345), so that its intervals and ours agree.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]  # (sentences, counts)
Formula = Callable[[Rows], float]  # the sums of the columns -> the score

RESAMPLES = 1000
SEED = 12345

_CELLS = 1 << 22  # draws held at once: bounds the memory, whatever the number of sentences


def resampled_sums(rows: Rows, resamples: int, seed: int) -> Rows:
    """The column sums of `resamples` corpora, each as many sentences drawn with replacement: (resamples, counts)."""
    sentences = len(rows)
    generator = np.random.default_rng(seed)
    sums = np.empty((resamples, rows.shape[1]))
    step = max(1, _CELLS // sentences)
    for begin in range(0, resamples, step):
        count = min(step, resamples - begin)
        drawn = generator.integers(sentences, size=(count, sentences)) + sentences * np.arange(count)[:, None]
        times = np.bincount(drawn.ravel(), minlength=count * sentences).reshape(count, sentences)
        sums[begin : begin + count] = times @ rows
    return sums


def scores_of(sums: Rows, formula: Formula) -> Rows:
    """The score of each row of sums."""
    return np.array([formula(row) for row in sums])


def interval(scores: Rows) -> tuple[float, float]:
    """The middle 95 % of the resampled scores."""
    ordered = np.sort(scores)
    cut = len(ordered) // 40
    return float(ordered[cut]), float(ordered[len(ordered) - 1 - cut])
