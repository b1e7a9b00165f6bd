"""BPE-dropout against its definition, written down as slowly as it reads."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from sightline.errors import UserError
from sightline.text.bpe_dropout import coins
from sightline.text.learn import learn
from sightline.text.pipeline import PRE_TOKENS
from sightline.text.tokenizer import Tokenizer

CORPUS = ["the cat sat on the mat", "the other cat then sat there", "banana bandana ananas", "aaaa aaa aa a", "naïve 123 été"] * 3
TEXTS = st.lists(
    st.sampled_from(
        ["the ", "cat", " then", "banana", "aaaaaaa", "ananas ", "▁", " ", "  ", "é", "東", "👍🏽", "<0x41>", "12", "\ue000"]
    )
    | st.text(max_size=3),
    max_size=6,
).map("".join)
KEYS = st.integers(0, 2**63)
RATES = st.floats(0, 1)


@cache
def tokenizer() -> Tokenizer:
    return learn(CORPUS, "bpe", 400, 1)


@cache
def merges() -> dict[tuple[str, str], int]:
    found = json.loads(tokenizer().to_json())["tokenizer"]["model"]["merges"]
    return {(left, right): rank for rank, (left, right) in enumerate(found)}


def by_definition(text: str, rate: float, key: int) -> list[str]:
    """Provilkov et al. 2020: at every step each possible merge is left out with probability `rate`; the best of the others
    is made; when none is left the word is done. A merge that would not be made needs no coin of its own."""
    toss = coins(key)
    vocabulary = set(json.loads(tokenizer().to_json())["tokenizer"]["model"]["vocab"])
    escaped = "▁" + text.replace("\ue000", "\ue000\ue001").replace("▁", "\ue000\ue002").replace(" ", "▁")
    words = pre_tokenizers.Split(Regex(PRE_TOKENS), "isolated").pre_tokenize_str(escaped) if text else []
    pieces: list[str] = []
    for word, _ in words:
        symbols: list[str] = []
        for character in word:
            symbols += [character] if character in vocabulary else [f"<0x{byte:02X}>" for byte in character.encode()]
        while True:
            possible = sorted((merges()[pair], i) for i, pair in enumerate(itertools.pairwise(symbols)) if pair in merges())
            chosen = next((i for _, i in possible if next(toss) >= rate), None)
            if chosen is None:
                break
            symbols[chosen : chosen + 2] = ["".join(symbols[chosen : chosen + 2])]
        pieces += symbols
    return pieces


def names(ids: list[int]) -> list[str]:
    by_id = {i: name for name, i in json.loads(tokenizer().to_json())["tokenizer"]["model"]["vocab"].items()}
    return [by_id[i] for i in ids]


@given(TEXTS, RATES, KEYS)
def test_it_is_the_definition(text: str, rate: float, key: int) -> None:
    assert names(tokenizer().encode_with_dropout(text, rate, key)) == by_definition(text, rate, key)


@given(TEXTS, KEYS)
def test_rate_0_is_the_librarys_own_encoding(text: str, key: int) -> None:
    assert tokenizer().encode_with_dropout(text, 0.0, key) == tokenizer().encode(text)


@given(TEXTS, KEYS)
def test_rate_1_gives_characters(text: str, key: int) -> None:
    assert all(len(name) == 1 or name.startswith("<0x") for name in names(tokenizer().encode_with_dropout(text, 1.0, key)))


@given(TEXTS, RATES, KEYS)
def test_the_text_always_comes_back(text: str, rate: float, key: int) -> None:
    assert tokenizer().decode(tokenizer().encode_with_dropout(text, rate, key)) == text


@given(TEXTS, RATES, KEYS)
def test_the_key_decides(text: str, rate: float, key: int) -> None:
    assert tokenizer().encode_with_dropout(text, rate, key) == tokenizer().encode_with_dropout(text, rate, key)


def test_other_keys_give_other_pieces() -> None:
    text = "the other cat then sat there on the bandana"
    assert len({tuple(tokenizer().encode_with_dropout(text, 0.3, key)) for key in range(100)}) > 60


def test_merges_are_left_out_at_their_rate() -> None:
    """Over many keys a word of two characters with one merge stays apart at the rate."""
    apart = Counter(len(tokenizer().encode_with_dropout("aa", 0.25, key)) for key in range(4000))
    one_merge = by_definition("aa", 0.0, 0)
    assert len(one_merge) == 1
    # "▁aa" is reached by ▁a+a or ▁+aa; it stays whole unless some merge on the way is left out at its every chance.
    assert apart[1] / 4000 == pytest.approx(_chance_of_whole(("▁", "a", "a"), 0.25), abs=0.025)


def _chance_of_whole(symbols: tuple[str, ...], rate: float) -> float:
    """The probability that nothing is left apart, over all outcomes of all tosses."""
    if len(symbols) == 1:
        return 1.0
    possible = sorted((merges()[pair], i) for i, pair in enumerate(itertools.pairwise(symbols)) if pair in merges())
    chances = (
        rate**number * (1 - rate) * _chance_of_whole((*symbols[:i], symbols[i] + symbols[i + 1], *symbols[i + 2 :]), rate)
        for number, (_, i) in enumerate(possible)
    )
    return sum(chances)


def test_the_coins_are_splitmix64() -> None:
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
    assert list(itertools.islice(coins(1234567), 5)) == [(number >> 11) * 2.0**-53 for number in published]
    assert all(0 <= coin < 1 for coin in itertools.islice(coins(2**64 - 1), 1000))


def test_a_rate_beyond_its_bounds_is_refused() -> None:
    for rate in (-0.1, 1.1, float("nan")):
        with pytest.raises(UserError, match="between 0 and 1"):
            tokenizer().encode_with_dropout("a", rate, 1)
