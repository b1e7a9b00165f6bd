"""Near-duplicates share a key; other sentences do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.data.near import hashes, mix, near_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A dog runs.", "a dog runs"),
        ("A  dog\truns\u00a0!", "a dog runs"),
        ("The 3 dogs", "the 12 dogs"),
        ("It costs 1,000.50 €.", "It costs 5"),
        ("at 12:30", "at 9.15"),
        ("l’été « chaud »", "L' été chaud"),
        ("cafe\u0301", "café"),
        ("room ٣", "room 4"),
        ("ﬁn", "fin"),
    ],
)
def test_alike(one: str, other: str) -> None:
    assert near_key(one) == near_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a dog runs", "a dog ran"),
        ("the 3 dogs", "the dogs"),
        ("काम", "कम"),
        ("Straße", "Strae"),
        ("ab c", "a bc"),
        ("日本", "日木"),
    ],
)
def test_unlike(one: str, other: str) -> None:
    assert near_key(one) != near_key(other)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_key_is_its_own_key_in_any_case(text: str) -> None:
    key = near_key(text)
    assert key == " ".join(key.split())
    assert near_key(f"  {text} ... ") == key
    assert not any("1" <= character <= "9" for character in key)


def test_hashes_and_mixing_never_change() -> None:
    """They decide which pairs are held out: a preparation done again must choose the same."""
    assert hashes(["", "un chat"]).tolist() == [13020603013274838756, 4413578556572208755]
    assert mix(hashes(["", "un chat"]), 1).tolist() == [6400964602182891600, 11710367772239953064]
    assert hashes([]).shape == (0,)


def test_mixing_is_even_and_depends_on_the_seed() -> None:
    keys = np.arange(1 << 14, dtype=np.uint64)
    mixed = mix(keys, 3)
    assert len(np.unique(mixed)) == len(keys)
    assert abs(float((mixed >> np.uint64(63)).mean()) - 0.5) < 0.02
    assert (np.argsort(mixed) != np.argsort(mix(keys, 4))).mean() > 0.99
    assert (mix(keys, -(2**70)) != mixed).any()
