"""Encoding through known words gives what the tokenizer gives."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.data import encode
from sightline.data.encode import Encoder, select
from sightline.data.encoded import Rows
from sightline.text.learn import learn
from sightline.text.pipeline import KINDS, Kind
from sightline.text.tokenizer import Tokenizer

TEXTS = ["le chat noir dort , l' été 2024", "the black cat sleeps , don't it ?", "un ▁ deux\u2028trois 今日は"] * 3
WORDS = st.sampled_from(
    ["le", "chat", "l'été", "2024", "▁", "", "\u2028", "\t", "\x1c", "今日", "\ue000", "don't", "<0x41>", " pad", "é"]
)
texts = st.one_of(st.lists(WORDS).map(" ".join), st.text(st.characters(exclude_categories=["Cs"]), max_size=15))


@cache
def tokenizer(kind: Kind) -> Tokenizer:
    return learn(TEXTS, kind, 400)


@pytest.mark.parametrize("kind", KINDS)
@given(batches=st.lists(st.lists(texts, max_size=6), min_size=1, max_size=3))
def test_same_ids_as_the_tokenizer(kind: Kind, batches: list[list[str]]) -> None:
    encoder = Encoder(tokenizer(kind))
    for batch in batches:
        rows = encoder.encode(batch)
        expected = Rows.of(tokenizer(kind).encode_batch(batch), tokenizer(kind).size)
        assert rows.ids.tolist() == expected.ids.tolist()
        assert rows.ids.dtype == expected.ids.dtype
        assert rows.lengths.tolist() == expected.lengths.tolist()


def test_memory_for_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "MOST_WORDS", 4)
    encoder, bpe = Encoder(tokenizer("bpe")), tokenizer("bpe")
    for batch in (["le chat", "noir"], ["the black cat"], ["le chat noir the black cat sleeps"], ["le"]):
        rows = encoder.encode(batch)
        assert rows.ids.tolist() == [piece for ids in bpe.encode_batch(batch) for piece in ids]
        assert len(encoder._numbers) <= 7  # a batch itself may have more


@given(st.lists(st.tuples(st.lists(st.integers(0, 99), max_size=4), st.booleans()), max_size=9))
def test_select(rows: list[tuple[list[int], bool]]) -> None:
    chosen = select(Rows.of([ids for ids, _ in rows], 100), np.array([keep for _, keep in rows], np.bool_))
    expected = Rows.of([ids for ids, keep in rows if keep], 100)
    assert chosen.ids.tolist() == expected.ids.tolist()
    assert chosen.lengths.tolist() == expected.lengths.tolist()
