"""Chance of our own making: the same on every Python and every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, final

from sightline.data.grammar.compositions import Part, Pools
from sightline.data.grammar.tree import STEP

Item = TypeVar("Item")

_MASK = (1 << 64) - 1


def mix(*numbers: int) -> int:
    """A 64-bit hash of integers (the finaliser of splitmix64, once for each)."""
    state = 0
    for number in numbers:
        state = (state + number + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


@final
class Chance:
    """A linear congruential generator whose high bits are used, and what has been drawn with it."""

    __slots__ = ("_part", "_state", "_unit", "held_out")

    def __init__(self, state: int, part: Part) -> None:
        self._state = state
        self._part = part
        self._unit = 0
        self.held_out = False  # whether a pair that only this part may use has been drawn

    def below(self, bound: int) -> int:
        """A whole number from 0 to bound - 1."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & _MASK
        return ((self._state >> 32) * bound) >> 32

    def odds(self, percent: int) -> bool:
        """True in so many of a hundred cases."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & _MASK
        return ((self._state >> 32) * 100) >> 32 < percent

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & _MASK
        return items[((self._state >> 32) * len(items)) >> 32]

    def unit(self) -> int:
        """A number for a new node of the tree."""
        self._unit += STEP
        return self._unit

    def partner(self, pools: Pools[Item]) -> Item | None:
        """A word to go with another; in dev and test, often one whose pair is kept for that part."""
        own = pools.held_out(self._part)
        if own and self.below(2):
            self.held_out = True
            return self.pick(own)
        return self.pick(pools.train) if pools.train else None
