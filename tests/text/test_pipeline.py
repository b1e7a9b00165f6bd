"""What the tokenizer's promises rest on: no normalised text holds a space, and escaping can be undone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models

from sightline.text.pipeline import BYTE_NAMES, ESCAPE, KINDS, SPACE, SPECIAL_NAMES, Kind, build, unescape

TEXTS = st.text() | st.text(" ▁\ue000\ue001\ue002\t\n\x1f\u2028ab<0x41>")


def normalised(kind: Kind, text: str) -> str:
    normalizer = build(kind, models.BPE()).normalizer
    assert normalizer is not None
    return normalizer.normalize_str(text)


@pytest.mark.parametrize("kind", KINDS)
@given(text=TEXTS)
def test_no_normalised_text_holds_a_space(kind: Kind, text: str) -> None:
    assert " " not in normalised(kind, text)
    assert all(name.startswith(" ") for name in SPECIAL_NAMES)


@given(TEXTS)
def test_escaping_can_be_undone(text: str) -> None:
    whole = normalised("bpe", text)
    assert whole.startswith(SPACE) if text else whole == ""
    inside = whole.removeprefix(SPACE)
    assert unescape(inside.replace(SPACE, " ")) == text
    assert not re.search(f"{ESCAPE}(?![\ue001\ue002])", whole), "an escape stands alone"


@given(TEXTS)
def test_words_are_what_split_gives(text: str) -> None:
    parts = normalised("words", text).split(SPACE)[1:]
    assert [unescape(part) for part in parts if part] == text.split()


@pytest.mark.parametrize("kind", ["bpe", "unigram", "chars"])
@given(text=TEXTS)
def test_cutting_into_words_loses_nothing_and_never_yields_the_name_of_a_byte(kind: Kind, text: str) -> None:
    splitter = build(kind, models.BPE()).pre_tokenizer
    assert splitter is not None
    words = [word for word, _ in splitter.pre_tokenize_str(normalised(kind, text))]
    assert "".join(words) == normalised(kind, text)
    assert not {word.removeprefix(SPACE) for word in words} & set(BYTE_NAMES)
