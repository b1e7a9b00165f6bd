"""What becomes of each pair: training, development, test, or a duplicate. Memory is bounded, however many pairs there are.

Pairs whose sources have the same near key stand or fall together: a model that was trained on one of them has seen the
others. The source decides because it is what a test asks; the same answer to another question gives nothing away, and
binding both sides together would chain half a corpus into one group ("Yes." translates much). Yet groups of which a
target, too, occurs elsewhere are held out only when there are no others.

Which groups are held out is a matter of a hash of key and seed, so another order of the same pairs gives the same sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.data.near import Keys, mix
from sightline.data.spool import Column

TRAIN, DEV, TEST, DUPLICATE = range(4)

Fates = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

PART = 1 << 21  # keys sorted at once
LARGE = 10  # a held-out group is at most a twentieth of its set, or this many pairs
_SHARED = np.uint64(1 << 63)


def mark_duplicates(pairs: Column, fates: Fates) -> None:
    """Every pair but the first among its equals."""
    for places, keys in _alike_together(pairs, lambda first, keys: np.ones(len(keys), np.bool_)):
        order = np.argsort(keys, kind="stable")
        again = keys[order][1:] == keys[order][:-1]
        fates[places[order[1:][again]]] = DUPLICATE


def hold_out(sources: Column, targets: Column, fates: Fates, dev: int, test: int, seed: int) -> None:
    """Take about so many pairs, a whole group at a time, out of what is left for training."""
    groups = _candidates(sources, targets, fates, dev + test, seed)
    chosen_test = _fill(groups, np.ones(len(groups.keys), np.bool_), test)
    chosen_dev = _fill(groups, ~chosen_test, dev)
    for keys, fate in ((groups.keys[chosen_test], TEST), (groups.keys[chosen_dev], DEV)):
        for first, some in sources.chunks():
            part = fates[first : first + len(some)]
            part[(part == TRAIN) & np.isin(some, keys)] = fate


@dataclass(frozen=True, slots=True)
class _Groups:
    """Pairs of the same source key, in the order in which they are taken."""

    ranks: Keys
    keys: Keys
    sizes: Indices

    def first(self, count: int) -> _Groups:
        order = np.lexsort((self.keys, self.ranks))[:count]
        return _Groups(self.ranks[order], self.keys[order], self.sizes[order])

    def __add__(self, other: _Groups) -> _Groups:
        return _Groups(*(np.concatenate(both) for both in zip(_fields(self), _fields(other), strict=True)))


def _fields(groups: _Groups) -> tuple[Keys, Keys, Indices]:
    return groups.ranks, groups.keys, groups.sizes


def _candidates(sources: Column, targets: Column, fates: Fates, wanted: int, seed: int) -> _Groups:
    """More than enough groups to fill `wanted` places."""
    shared = _shared_targets(sources, targets, fates)
    best = _Groups(np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.int64))
    for places, keys in _alike_together(sources, lambda first, some: fates[first : first + len(some)] == TRAIN):
        order = np.argsort(keys, kind="stable")
        starts = _starts(keys[order])
        if not len(starts):
            continue
        heads = keys[order][starts]
        ranks = mix(heads, seed) >> np.uint64(1)
        ranks[np.logical_or.reduceat(shared[places[order]], starts)] |= _SHARED
        groups = _Groups(ranks, heads, np.diff(np.append(starts, len(keys))))
        best = (best + groups).first(2 * wanted)
    return best


def _shared_targets(sources: Column, targets: Column, fates: Fates) -> Flags:
    """Whether a pair's target is found under another source as well."""
    shared = np.zeros(sources.size, np.bool_)
    for places, keys in _alike_together(targets, lambda first, some: fates[first : first + len(some)] == TRAIN):
        order = np.argsort(keys, kind="stable")
        starts = _starts(keys[order])
        if not len(starts):
            continue
        asked = _at(sources, places)[order]
        lowest, highest = np.minimum.reduceat(asked, starts), np.maximum.reduceat(asked, starts)
        group = np.repeat(lowest != highest, np.diff(np.append(starts, len(keys))))
        shared[places[order][group]] = True
    return shared


def _fill(groups: _Groups, free: Flags, wanted: int) -> Flags:
    """Groups in their order, each that still fits; the very first may be too large, so that there is one."""
    chosen = np.zeros(len(free), np.bool_)
    taken, largest = 0, max(LARGE, wanted // 20)
    for place in np.flatnonzero(free):
        size = int(groups.sizes[place])
        if taken < wanted and size <= largest and (taken + size <= wanted or not taken):
            chosen[place] = True
            taken += size
    return chosen


def _alike_together(column: Column, wanted: Callable[[int, Keys], Flags]) -> Iterator[tuple[Indices, Keys]]:
    """Places and keys, in parts small enough to sort; equal keys are always in the same part."""
    parts = np.uint64(-(-column.size // PART))
    for part in range(int(parts)):
        places, found = [], []
        for first, keys in column.chunks():
            here = np.flatnonzero((keys % parts == np.uint64(part)) & wanted(first, keys))
            places.append(first + here)
            found.append(keys[here])
        yield np.concatenate(places), np.concatenate(found)


def _starts(keys: Keys) -> Indices:
    """Where each run of equal keys begins."""
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.empty(0, np.int64)


def _at(column: Column, places: Indices) -> Keys:
    """The keys at some places, which ascend."""
    found = []
    for first, keys in column.chunks():
        begin, end = np.searchsorted(places, [first, first + len(keys)])
        found.append(keys[places[begin:end] - first])
    return np.concatenate(found)
