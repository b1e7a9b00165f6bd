"""The unigram language model over pieces (Kudo 2018): which pieces, and how likely is each.

It starts from many candidates. In turns every word is cut the likeliest way and the pieces are counted afresh, and the
pieces without which the text would lose least are let go. Counts are of the best cut alone (hard EM), so they are
whole numbers and the result is the same on every machine.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from tokenizers import Tokenizer, models

KEPT_EACH_ROUND = 0.75
COUNTS_EACH_ROUND = 2
UNSEEN = 0.1  # the count of a piece that no best cut uses


def learn_scores(
    words: Mapping[str, int], characters: Sequence[str], candidates: Sequence[str], size: int
) -> list[tuple[str, float]]:
    """At most `size` pieces with their log-probabilities, likeliest first; every one of `characters` stays."""
    pieces = [*characters, *candidates]
    scores = dict.fromkeys(pieces, -math.log(max(len(pieces), 1)))
    ordered = dict(sorted(words.items()))
    keep = max(size - len(characters), 0)
    while True:
        for _ in range(COUNTS_EACH_ROUND):
            counts = _count_best_cuts(scores, ordered)
            scores = _log_probabilities(counts)
        longer = [piece for piece in scores if len(piece) > 1]
        if len(longer) <= keep:
            return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        longer.sort(key=lambda piece: (-counts[piece] * _loss_without(piece, scores), piece))
        kept = longer[: max(keep, int(len(longer) * KEPT_EACH_ROUND))]
        scores = {piece: scores[piece] for piece in (*characters, *kept)}


def _count_best_cuts(scores: Mapping[str, float], words: Mapping[str, int]) -> dict[str, float]:
    """How often each piece is used when every word is cut the likeliest way."""
    pieces = list(scores)
    unknown = (" ", min(scores.values(), default=0.0))
    library = Tokenizer(models.Unigram([unknown, *scores.items()], unk_id=0, byte_fallback=False))
    totals = np.zeros(len(pieces) + 1, dtype=np.int64)
    encodings = library.encode_batch_fast(list(words), add_special_tokens=False)
    for encoding, count in zip(encodings, words.values(), strict=True):
        for i, uses in Counter(encoding.ids).items():
            totals[i] += uses * count
    return {piece: max(float(total), UNSEEN) for piece, total in zip(pieces, totals[1:].tolist(), strict=True)}


def _log_probabilities(counts: Mapping[str, float]) -> dict[str, float]:
    """Rounded, so that the last bit of a logarithm, which differs between machines, decides nothing."""
    total = math.log(sum(counts.values()))
    return {piece: round(math.log(count) - total, 6) for piece, count in counts.items()}


def _loss_without(piece: str, scores: Mapping[str, float]) -> float:
    """How much less likely the piece's text becomes when it has to be cut into other pieces."""
    best = [0.0] + [-math.inf] * len(piece)
    for end in range(1, len(piece) + 1):
        for start in range(end):
            score = scores.get(piece[start:end])
            if score is not None and end - start < len(piece):
                best[end] = max(best[end], best[start] + score)
    return scores[piece] - best[-1]
