"""Learning: the same texts give the same tokenizer anywhere, and no text is too small or too strange."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.text.learn import LONGEST_PIECE, learn
from sightline.text.pipeline import BYTE_NAMES, FIRST_PIECE, KINDS, PRE_TOKENS, SPACE, SPECIAL_NAMES, Kind

ENGLISH = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog sat", "the mat and the log"] * 20

LEARN_EVERYTHING = """
import hashlib
from sightline.text.learn import learn
from sightline.text.pipeline import KINDS, FIRST_PIECE
letters = "abcdefghijklmnopqrstuvwxyzäöüßéèêñ東京日本語かな"
# Every count is the same as many others: whatever hides in the order of a table comes out.
corpus = [" ".join(letters[i] + letters[(i * k + k) % len(letters)] * 2 for i in range(len(letters))) for k in range(1, 30)]
for kind in KINDS:
    for size in (FIRST_PIECE + 10, FIRST_PIECE + 25, FIRST_PIECE + 150):
        print(kind, size, hashlib.sha256(learn(corpus, kind, size, 1).to_json().encode()).hexdigest())
"""


def test_learning_does_not_depend_on_the_process_or_its_threads() -> None:
    outputs = set()
    for number, threads in enumerate(("1", "2", "3")):
        environment = {**os.environ, "RAYON_NUM_THREADS": threads, "PYTHONHASHSEED": str(number)}
        done = subprocess.run(
            [sys.executable, "-c", LEARN_EVERYTHING], env=environment, capture_output=True, text=True, check=True
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert len(set(outputs.pop().splitlines())) == 12


@pytest.mark.parametrize("kind", KINDS)
@given(
    texts=st.lists(st.text(max_size=12) | st.text("ab ▁", max_size=12), max_size=6),
    room=st.integers(0, 60),
    min_frequency=st.integers(1, 3),
)
def test_any_small_corpus_gives_a_tokenizer(kind: Kind, texts: list[str], room: int, min_frequency: int) -> None:
    size = room + 1 + (len(SPECIAL_NAMES) if kind == "words" else FIRST_PIECE)
    tokenizer = learn(texts, kind, size, min_frequency)
    assert tokenizer.size <= size
    assert learn(texts, kind, size, min_frequency).to_json() == tokenizer.to_json()
    if kind != "words":
        assert [tokenizer.decode(ids) for ids in tokenizer.encode_batch(texts)] == texts


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_larger_means_fewer_pieces_of_text(kind: Kind) -> None:
    lengths = [len(learn(ENGLISH, kind, FIRST_PIECE + room).encode(ENGLISH[0])) for room in (1, 20, 30, 60)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > 2 * lengths[-1]
    assert lengths[-1] == 6  # a piece per word


def test_bpe_joins_what_stands_together_most_often() -> None:
    tokenizer = learn(["xab yab zab"], "bpe", FIRST_PIECE + 7, 1)  # the space, five letters and one piece more
    assert tokenizer.pieces(tokenizer.encode("xab bab")) == ["▁", "x", "ab", "▁", "b", "ab"]


def test_rare_pieces_are_not_learnt() -> None:
    texts = ["often often often rarely"]
    assert learn(texts, "bpe", 1000, 2).pieces(learn(texts, "bpe", 1000, 2).encode("often")) == ["▁often"]
    assert len(learn(texts, "bpe", 1000, 2).encode("rarely")) == len("▁rarely")
    assert learn(texts, "words", 1000, 2).decode(learn(texts, "words", 1000, 2).encode("often rarely")) == "often ⁇"
    assert "<0x79>" in learn(texts, "chars", 1000, 2).pieces(learn(texts, "chars", 1000, 2).encode("rarely"))


def test_no_piece_is_long_or_crosses_from_word_to_word() -> None:
    text = ["supercalifragilisticexpialidocious, 1999! " * 3] * 5
    for kind in ("bpe", "unigram"):
        tokenizer = learn(text, kind, 2000)
        pieces = tokenizer.pieces(range(FIRST_PIECE, tokenizer.size))
        assert max(map(len, pieces)) <= LONGEST_PIECE
        assert all(SPACE not in piece[1:] for piece in pieces)
        assert not any(len(piece.strip(SPACE)) > 1 and any(map(str.isdigit, piece)) for piece in pieces)
        assert not any("," in piece and any(map(str.isalpha, piece)) for piece in pieces)
    assert "\\d" not in PRE_TOKENS


def test_the_first_ids_are_special_symbols_and_bytes() -> None:
    for kind in ("bpe", "unigram", "chars"):
        tokenizer = learn(ENGLISH, kind, 400)
        assert tokenizer.pieces(range(4, FIRST_PIECE)) == list(BYTE_NAMES)


def test_most_frequent_characters_win_the_last_places() -> None:
    tokenizer = learn(["aaaa bbb cc d"], "chars", FIRST_PIECE + 3, 1)
    assert tokenizer.pieces(range(FIRST_PIECE, tokenizer.size)) == ["▁", "a", "b"]


def test_mistakes_are_said() -> None:
    with pytest.raises(UserError, match="no tokenizer of kind 'wordpiece'; the kinds are bpe, unigram, words, chars"):
        learn([], "wordpiece")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="at least 261, not 260: 260 places are taken by the special symbols and the 256 bytes"):
        learn([], "bpe", 260)
    with pytest.raises(UserError, match=r"at least 5, not 4: 4 places are taken by the special symbols$"):
        learn([], "words", 4)
    with pytest.raises(UserError, match="min_frequency must be at least 1, not 0"):
        learn([], "bpe", 400, 0)
