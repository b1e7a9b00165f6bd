"""Which adjective goes with which noun, and which verb with which object, in which part of the corpus.

A pair of words belongs to the test part, to the dev part, or to everybody, by a hash of its spelling, whatever the seed. The
training part draws its pairs from everybody's alone; so a sentence with a held-out pair cannot occur in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, Literal, TypeVar

Part = Literal["train", "dev", "test"]
Partner = TypeVar("Partner")

_ONE_IN = 12  # pairs go to test, as many to dev


@dataclass(frozen=True, slots=True)
class Pools(Generic[Partner]):
    """The partners of a word: those for everybody, and those only dev or only test may use."""

    train: tuple[Partner, ...] = ()
    dev: tuple[Partner, ...] = ()
    test: tuple[Partner, ...] = ()

    def held_out(self, part: Part) -> tuple[Partner, ...]:
        """Those that are a part's own."""
        return self.test if part == "test" else self.dev if part == "dev" else ()


def part_of(pair: str) -> Part:
    """The part a pair of lemmas is kept for; "train" means everybody."""
    draw = blake2b(pair.encode(), digest_size=4).digest()
    number = int.from_bytes(draw, "big") % _ONE_IN
    return "test" if number == 0 else "dev" if number == 1 else "train"


def pools(partners: Sequence[Partner], spell: Callable[[Partner], str]) -> Pools[Partner]:
    """Deal a word's partners out; `spell` writes the pair."""
    dealt: dict[Part, list[Partner]] = {"train": [], "dev": [], "test": []}
    for partner in partners:
        dealt[part_of(spell(partner))].append(partner)
    return Pools(tuple(dealt["train"]), tuple(dealt["dev"]), tuple(dealt["test"]))
