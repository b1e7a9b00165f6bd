"""A vocabulary shortlist: the target pieces that a translation may be made of, by the pieces of its source.

The output layer is the largest product of a small model, and most of the vocabulary has nothing to do with a sentence. Which
pieces have is learnt from the training corpus: for each source piece the target pieces that it most often stands behind in
IBM model 1 (Brown et al. 1993), besides those that are frequent anyway. Probabilities are then shared out among the list alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from sightline.data.encoded import EncodedCorpus, Ids
from sightline.errors import UserError
from sightline.text.files import write_whole
from sightline.text.tokenizer import BOS, EOS, PAD, Tokenizer

FILE = "shortlist.safetensors"
PER_PIECE, FREQUENT, ROUNDS = 100, 100, 5
SAMPLES = 1000  # sentences that tell how long lists are
MOST_MEETINGS = 20_000_000  # of a source and a target piece: half a gigabyte; of a larger corpus every so manieth pair is read
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The target pieces of each source piece (a row), likeliest first and filled up with -1; and those always allowed."""

    of_each: Int32s
    always: Int32s

    def save(self, folder: Path) -> Path:
        """Write it beside a model."""
        path = folder / FILE
        write_whole(path, save({"of_each": self.of_each, "always": self.always}))
        return path

    @classmethod
    def beside(cls, folder: Path) -> Shortlist | None:
        """The one in a model's folder, if there is one."""
        path = folder / FILE
        if not path.exists():
            return None
        try:
            told = load_file(path)
            return cls(told["of_each"], told["always"])
        except (OSError, SafetensorError, KeyError) as error:
            raise UserError(f"{path}: cannot be read as a shortlist ({error}); learn it again, or delete it") from error

    def check(self, source_vocabulary: int, target_vocabulary: int) -> None:
        """A list of another model's pieces is refused, and a damaged one: the engine takes its numbers for places in memory."""
        each, always = self.of_each, self.always
        shaped = each.dtype == always.dtype == np.int32 and (each.ndim, always.ndim) == (2, 1) and len(each) == source_vocabulary
        if not (
            shaped
            and EOS in always
            and -1 <= each.min(initial=0) <= each.max(initial=0) < target_vocabulary
            and 0 <= always.min(initial=0) <= always.max(initial=0) < target_vocabulary
        ):
            raise UserError(f"{FILE} belongs to another model, or is damaged; learn it again (sightline shortlist), or delete it")

    def of(self, source: Sequence[int] | Ids) -> Int32s:
        """The pieces that a translation of this source may be made of, in order."""
        own = self.of_each[np.asarray(source, np.int64)].ravel()
        return np.union1d(self.always, own[own >= 0]).astype(np.int32)


def coverage(shortlist: Shortlist, corpus: EncodedCorpus) -> tuple[float, float]:
    """How many pieces a list has on the mean, and which share of the target's pieces is in it; of some sentences of a corpus."""
    samples = range(0, len(corpus), 1 + len(corpus) // SAMPLES)
    lists = [shortlist.of(corpus.source(i)) for i in samples]
    inside = sum(int(np.isin(corpus.target(i), own).sum()) for i, own in zip(samples, lists, strict=True))
    written = sum(len(corpus.target(i)) for i in samples)
    return float(np.mean([len(own) for own in lists])), inside / max(1, written)


def learn_shortlist(
    corpus: EncodedCorpus, tokenizers: tuple[Tokenizer, Tokenizer], per_piece: int = PER_PIECE, frequent: int = FREQUENT
) -> Shortlist:
    """From pairs of sentences, as they were encoded for training with these tokenizers."""
    if not len(corpus):
        raise UserError(f"{corpus.folder}: there is nothing to learn a shortlist from")
    for side, tokenizer in zip(("source", "target"), tokenizers, strict=True):
        if side not in corpus.sides or corpus.side(side).tokenizer != tokenizer.fingerprint:
            raise UserError(f"{corpus.folder}: was not prepared with the tokenizers of this model; name the data of its run")
    source_vocabulary, target_vocabulary = (tokenizer.size for tokenizer in tokenizers)
    meetings = np.sum((corpus.source_lengths.astype(np.int64) + 1) * corpus.target_lengths)
    pairs = [(corpus.source(i), corpus.target(i)) for i in range(0, len(corpus), 1 + int(meetings) // MOST_MEETINGS)]
    links, counts = _expected_links(pairs, source_vocabulary, target_vocabulary)
    seen = np.bincount(np.concatenate([target for _, target in pairs]), minlength=target_vocabulary)
    usual = np.argsort(-seen, kind="stable")[:frequent]
    always = np.union1d([EOS], usual[(usual != PAD) & (usual != BOS)]).astype(np.int32)
    return Shortlist(_likeliest(links, counts, source_vocabulary, target_vocabulary, per_piece), always)


def _likeliest(links: Int64s, counts: NDArray[np.float64], sources: int, targets: int, per_piece: int) -> Int32s:
    """The targets that each source stands behind most often."""
    source, target = links // targets, links % targets
    order = np.lexsort((target, -counts, source))
    order = order[source[order] < sources]  # what nothing stands behind is nobody's
    source, target = source[order], target[order]
    rank = np.arange(len(source)) - np.searchsorted(source, source)
    kept = rank < per_piece
    table = np.full((sources, per_piece), -1, np.int32)
    table[source[kept], rank[kept]] = target[kept]
    return table


def _expected_links(pairs: Sequence[tuple[Ids, Ids]], nothing: int, targets: int) -> tuple[Int64s, NDArray[np.float64]]:
    """Every source and target piece that ever meet, as source · targets + target, and how often one stands behind the other.

    A further source piece, `nothing`, stands behind what has nothing behind it.
    """
    met, place_of, begin = [], [], 0
    for source, target in pairs:
        read = np.append(source.astype(np.int64), nothing)
        met.append((read[None, :] * targets + target.astype(np.int64)[:, None]).ravel())
        place_of.append(np.repeat(np.arange(begin, begin + len(target)), len(read)))
        begin += len(target)
    links, which = np.unique(np.concatenate(met), return_inverse=True)
    place, source_of = np.concatenate(place_of), links // targets
    chance: NDArray[Any] = np.ones(len(links))
    counts = chance
    for _ in range(ROUNDS):
        share = chance[which]
        share /= np.bincount(place, share)[place]
        counts = np.bincount(which, share, len(links))
        chance = counts / np.bincount(source_of, counts)[source_of]
    return links, counts
