"""What the mathematics demands: arithmetic for each token, and memory. Measured growth is held against it."""

from __future__ import annotations

import math
from itertools import pairwise

from bench.growth.points import Point
from sightline.study.flops import work_of

TRAINED = 16  # bytes of a parameter in training: itself, its gradient, Adam's two means, each in fp32
LOADED = 4 + 1  # bytes of a parameter in decoding: as it was read, and as a byte
KEPT = 2  # bytes of a number that the backward pass needs, or that later tokens look at
WORKERS, ROWS = 2, 96  # of the native engine: hypotheses that are continued together
HASHED = 16  # bytes by which a pair is known again; and those of a sentence's place in an order with its key


def cost(point: Point, beam: int = 1) -> float:
    """Operations for each target token, each pair, or each sentence of an epoch."""
    match point.kind:
        case "train":
            return work_of(point.config, point.vocabulary).training(point.length, point.length) / point.length
        case "decode":
            return work_of(point.config, point.vocabulary).decoding(point.length, point.length, beam) / point.length
        case "prepare":
            return 1.0
        case "order":
            return math.log2(point.pairs)  # sorting


def memory(point: Point, beam: int = 1) -> float:
    """Bytes that no way of computing it does without, or nearly none; how they grow is what counts."""
    match point.kind:
        case "train":
            # Each process has a whole copy of the model.
            return point.processes * TRAINED * parameters(point) + point.batch * activations(point)
        case "decode":
            sentences = min(point.batch, WORKERS * ROWS // beam)
            looked_at = sentences * point.length * (1 + beam) * point.layers * 2 * point.width
            return LOADED * parameters(point) + KEPT * looked_at
        case _:
            return HASHED * point.pairs


def parameters(point: Point) -> float:
    """Numbers in the model: one table for both languages and the output, and the matrices of its layers."""
    attention, feed = 4 * point.width**2, 8 * point.width**2
    return point.vocabulary * point.width + point.layers * (3 * attention + 2 * feed)


def activations(point: Point) -> float:
    """Bytes for each source and target token: what every product reads is needed once more for its gradient.

    An encoder layer's products read 10 states: one, three, one, one, and the four of the feed-forward layer. A decoder layer's
    read three more, and two of the source. A softmax over keys can be had again from queries and keys, so it is not counted.
    """
    return KEPT * point.width * (point.layers * (10 + 13 + 2) + 1)


def worse(costs: list[float], rates: list[float]) -> float:
    """How many times more the last step costs than demanded, against the best before it; at most 1 is as demanded."""
    reached = [cost * rate for cost, rate in zip(costs, rates, strict=True)]
    return max(reached[:-1]) / reached[-1] if len(reached) > 1 else 1.0


def growth(demanded: list[float], measured: list[float]) -> float:
    """Bytes that were added from the first point to the last, for each byte that had to be; without any, times the first."""
    wanted, taken = demanded[-1] - demanded[0], measured[-1] - measured[0]
    return taken / wanted if wanted > 0 else measured[-1] / measured[0]


def bends(demanded: list[float], measured: list[float]) -> float:
    """How many times more bytes the last step adds for each that had to be than the cheapest step before it: 1 on a line.

    Where none had to be added, times the first.
    """
    if demanded[-1] <= demanded[0]:
        return measured[-1] / measured[0]
    steps = [growth(list(wanted), list(taken)) for wanted, taken in zip(pairwise(demanded), pairwise(measured), strict=True)]
    before = [step for step in steps[:-1] if step > 0]
    return steps[-1] / min(before) if before else 1.0
