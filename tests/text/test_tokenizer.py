"""Text becomes numbers and comes back, whatever it holds."""

from __future__ import annotations

import copy
import pickle
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.text.learn import learn
from sightline.text.pipeline import FIRST_BYTE, FIRST_PIECE, KINDS, Kind
from sightline.text.tokenizer import BOS, EOS, PAD, UNK, Tokenizer

CORPUS = [
    "the cat sat on the mat , isn't it ?",
    "le chat s' est assis sur le tapis .",
    "Größe 123 456, naïve cafe\u0301",
    "東京は日本の首都です。",
    "नमस्ते दुनिया",
    "👩‍👩‍👧 emoji 🇫🇷 👍🏽",
    "a▁b <0x41> <pad> <s>",
    "  two  spaces ",
] * 3
KEEPING: tuple[Kind, ...] = ("bpe", "unigram", "chars")  # the kinds that give any text back

NASTY = [
    *[
        "▁",
        "▁▁",
        "<0x41>",
        "<0xE2>",
        "<0xFF>",
        " pad",
        " bos",
        " eos",
        " unk",
        "<pad>",
        "<s>",
        "</s>",
        "<unk>",
        "⁇",
        "##a",
        "@@ ",
    ],
    *[
        " ",
        "  ",
        "\t",
        "\n",
        "\r",
        "\v",
        "\x1c",
        "\x1f",
        "\x85",
        "\xa0",
        "\u1680",
        "\u2028",
        "\u2029",
        "\u202f",
        "\u3000",
        "\u200b",
    ],
    *["\x00", "\x07", "\x1b", "\x7f", "\xad", "\u200e", "\u202e", "\ufeff", "\ufffd", "\uffff", "\ufdd0", "\U0010ffff"],
    *["\ue000", "\ue001", "\ue002", "\uf8ff", "\U000f0000", "\u0301", "e\u0301", "é", "\u200d", "\ufe0f", "👩‍👩‍👧", "🇫🇷", "👍🏽"],
    *["the", "cat", "123", "٣", "Ⅷ", "ß", "ſ", "İ", "東京", "नमस्ते", "العربية", "ﬁ", "'", '"', "\\", "…", "。"],
]
TEXTS = st.lists(st.sampled_from(NASTY) | st.text(max_size=4), max_size=8).map("".join)


@cache
def learnt(kind: Kind) -> Tokenizer:
    return learn(CORPUS, kind, size=600, min_frequency=1)


@pytest.mark.parametrize("kind", KEEPING)
@given(text=TEXTS)
@example(text="")
@example(text="".join(NASTY))
def test_any_text_comes_back(kind: Kind, text: str) -> None:
    tokenizer = learnt(kind)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert all(UNK < i < tokenizer.size for i in ids), "nothing is unknown, and no text writes a special symbol"


@given(TEXTS)
def test_words_come_back_or_are_unknown(text: str) -> None:
    tokenizer, known = learnt("words"), {word for line in CORPUS for word in line.split()}
    assert tokenizer.decode(tokenizer.encode(text)) == " ".join(word if word in known else "⁇" for word in text.split())
    assert set(tokenizer.encode(text)).isdisjoint({PAD, BOS, EOS})


@pytest.mark.parametrize("kind", KINDS)
@given(texts=st.lists(TEXTS, max_size=4))
def test_a_batch_is_its_texts_one_by_one(kind: Kind, texts: list[str]) -> None:
    assert learnt(kind).encode_batch(texts) == [learnt(kind).encode(text) for text in texts]


@pytest.mark.parametrize("kind", KEEPING)
@given(text=TEXTS)
@example(text="a b")
@example(text="\x1fa\x1f\x1f東京 ")
def test_word_numbers_are_those_of_split(kind: Kind, text: str) -> None:
    tokenizer, words = learnt(kind), text.split()
    ids = tokenizer.encode(text)
    numbers = tokenizer.words(ids)
    assert len(numbers) == len(ids)
    assert numbers == sorted(numbers)
    if words:
        assert set(numbers) == set(range(len(words)))
        for number, word in enumerate(words):
            assert tokenizer.decode([i for i, own in zip(ids, numbers, strict=True) if own == number]).split()[0] == word


@given(TEXTS)
def test_with_words_every_piece_is_a_word(text: str) -> None:
    assert learnt("words").words(learnt("words").encode(text)) == list(range(len(text.split())))


def test_special_pieces_belong_to_no_word() -> None:
    tokenizer = learnt("bpe")
    ids = tokenizer.encode("the cat")
    assert tokenizer.words([BOS, *ids, EOS, PAD]) == [-1, *tokenizer.words(ids), -1, -1]
    assert tokenizer.words([UNK, *ids]) == [0, *(number + 1 for number in tokenizer.words(ids))]


def test_a_word_has_the_same_pieces_wherever_it_stands() -> None:
    for kind in KEEPING:
        first, later = learnt(kind).encode("cat the"), learnt(kind).encode("the cat")
        assert sorted(first) == sorted(later)


def test_pieces_can_be_read() -> None:
    tokenizer = learnt("bpe")
    assert tokenizer.pieces([PAD, BOS, EOS, UNK]) == ["<pad>", "<s>", "</s>", "⁇"]
    assert tokenizer.pieces(tokenizer.encode("the")) == ["▁the"]
    assert tokenizer.pieces(tokenizer.encode("ж")) == ["▁", "<0xD0>", "<0xB6>"]
    assert "".join(learnt("chars").pieces(learnt("chars").encode("a b"))) == "▁a▁b"
    assert learnt("words").pieces(learnt("words").encode("the dog")) == ["▁the", "⁇"]


def test_numbers_are_cut_into_digits() -> None:
    tokenizer = learn(["1999 1999 1999"] * 50, "bpe", 400)
    assert [piece.strip("▁") for piece in tokenizer.pieces(tokenizer.encode("1999"))] == ["1", "9", "9", "9"]


def test_decoding_leaves_out_what_is_no_text() -> None:
    tokenizer = learnt("bpe")
    ids = tokenizer.encode("the cat")
    assert tokenizer.decode([BOS, *ids, EOS, PAD, PAD]) == "the cat"
    assert tokenizer.decode([*ids, UNK, *ids]) == "the cat ⁇ the cat"
    assert tokenizer.decode([]) == tokenizer.decode([BOS, EOS]) == ""
    assert tokenizer.decode([FIRST_BYTE + 0xE2, FIRST_BYTE + 0x82]) == "\ufffd\ufffd"  # a character that was broken off


def test_half_a_surrogate_pair_becomes_the_mark_of_a_broken_character() -> None:
    for kind in KEEPING:
        assert learnt(kind).decode(learnt(kind).encode("a\ud800b")) == "a\ufffdb"
    assert learnt("bpe").encode_with_dropout("a\udfffb", 0.0, 1) == learnt("bpe").encode("a\ufffdb")


def test_the_fingerprint_is_of_the_whole() -> None:
    tokenizers = [learnt(kind) for kind in KINDS]
    tokenizers += [learn(CORPUS, "bpe", 400, 1), learn(CORPUS[1:], "bpe", 600, 1)]
    assert len({tokenizer.fingerprint for tokenizer in tokenizers}) == len(tokenizers)
    assert learn(CORPUS, "bpe", 600, 1).fingerprint == learnt("bpe").fingerprint


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_the_same(kind: Kind) -> None:
    tokenizer = learnt(kind)
    for other in (copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):  # as a worker process receives it
        assert (other.fingerprint, other.kind, other.size) == (tokenizer.fingerprint, kind, tokenizer.size)
        assert other.encode("the cat 東京 ж") == tokenizer.encode("the cat 東京 ж")


def test_sizes_and_names() -> None:
    assert repr(learnt("chars")).startswith("Tokenizer(kind='chars', size=")
    assert all(FIRST_PIECE < learnt(kind).size <= 600 for kind in KEEPING)


def test_dropout_is_for_bpe() -> None:
    with pytest.raises(UserError, match="kind bpe, this one is of kind unigram"):
        learnt("unigram").encode_with_dropout("the cat", 0.1, 1)
