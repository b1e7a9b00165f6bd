"""Where sentences end, in several scripts, and how what is too long is cut."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.text.sentences import split_long, split_sentences

# One string per sentence; white space stays with the sentence before it.
SENTENCES = [
    ["He left. ", "She stayed."],
    ["Really?! ", "Yes!! ", "Well…  ", "No. "],
    ["  It leads. ", "It ends.\n"],
    ["Dr. Smith met Mrs. Jones vs. St. Mary. ", "They talked."],
    ["J. R. R. Tolkien wrote it. ", "He lived in the U.S. Army then."],
    ["It costs 3.15 or 1,000.50 at example.com. ", "See p. 5 and No. 7 there. ", "No. ", "Fine."],
    ["It was e.g. this, i.e. that, etc. and so on. ", "Then more."],
    ["They went... and came. ", "Then... ", "Nothing."],
    ["Born in 1999. ", "Died in 2050."],
    ["1. First. ", "2. Second."],
    ['"Why?" she asked. ', '"Go." ', "She went."],
    ["“Why?” ", "(He was late.) ", "[So was she.] ", "‘Oh.’ ", "Yes."],
    ["Yahoo! is a firm. ", "Is it?"],
    ["Il part. ", "« Bonjour ! » dit-il. ", "« Viens. » ", "M. Dupont et Mme. Durand ont 3 ans."],
    ["Bonjour ! ", "Comment ça va ? ", "Ça va."],
    ["Er sagte: »Ja.« ", "Sie ging am 3. Mai, z.B. heute, bzw. morgen. ", "„Nein.“ ", "Gut."],
    ["„Kommst du?“, fragte er. ", "Ja."],
    ["¿Qué? ", "¡No! ", "¿El Sr. Pérez? ", "Él."],
    ["Он ушёл. ", "Она осталась в г. Москва. ", "Всё."],
    ["今日は。", "「行く。」と言った。", "本当？！", "はい。 ", "３．１４です。"],
    ["你好！", "“好。”", "他走了？", "“真的吗？”", "是。"],
    ["यह घर है। ", "वह था॥", "हाँ।"],
    ["هل هذا؟ ", "نعم. ", "یہ ہے۔ ", "لا."],
    ["A title without a stop\n\n", "A text over\ntwo lines.\n \n ", "It goes on\t\n\n\n", "here"],
    ["all small letters. ", "nothing else, e.g. here. ", "end?"],
    ["No stop at all, and none; here: either"],
    ["end.Next is no sentence, nor.is.this"],
    ["Ein Satz . ", "Noch einer ."],
]


@pytest.mark.parametrize("sentences", SENTENCES, ids=lambda sentences: sentences[0].strip())
def test_sentences(sentences: list[str]) -> None:
    assert split_sentences("".join(sentences)) == sentences


def test_nothing_gives_no_sentences() -> None:
    assert split_sentences("") == split_long("", lambda text: True) == []
    assert split_sentences("  \n\n ") == ["  \n\n "]


MARKS = ". ! ? … ... 。 । ؟ ; , 、 ： \" ' “ ” « » „ ( ) 「 」 Dr. A. U.S. 12 3.5"
PIECES = [*MARKS.split(), " ", "  ", "\n", "\n\n", "\u00a0", "\u3000"]
TEXTS = st.lists(
    st.sampled_from([*PIECES, "word", "Word", "行", "न", "e\u0301", "👩‍👩‍👧", "نعم"]) | st.text(max_size=2), max_size=30
).map("".join)


@given(TEXTS)
def test_sentences_joined_are_the_text(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join(sentences) == text
    assert all(sentences)
    assert not any(sentence[0].isspace() for sentence in sentences[1:])


def in_characters(most: int) -> Callable[[str], bool]:
    return lambda text: len(text) <= most


def in_words(most: int) -> Callable[[str], bool]:
    """As a model counts: pieces, of which a long word has several."""
    return lambda text: sum(1 + len(word) // 6 for word in text.split()) <= most


@given(TEXTS, st.integers(1, 30))
def test_every_part_fits_and_the_parts_joined_are_the_text(text: str, most: int) -> None:
    for fits in (in_characters(most), in_words(most)):
        parts = split_long(text, fits)
        assert "".join(parts) == text
        assert all(parts)
        assert all(fits(part) for part in parts)


def fewest(sentences: list[str], fits: Callable[[str], bool]) -> int | None:
    """The fewest parts at sentence ends, by trying every way to cut."""
    for count in range(len(sentences)):
        for ends in itertools.combinations(range(1, len(sentences)), count):
            bounds = itertools.pairwise([0, *ends, len(sentences)])
            if all(fits("".join(sentences[a:b])) for a, b in bounds):
                return count + 1
    return None


@given(
    st.lists(st.sampled_from(["One. ", "Two words. ", "These are three words. ", "Oh! "]), min_size=1, max_size=8),
    st.integers(5, 60),
)
def test_there_are_as_few_parts_as_can_be(sentences: list[str], most: int) -> None:
    best = fewest(split_sentences("".join(sentences)), in_characters(most))
    parts = split_long("".join(sentences), in_characters(most))
    assert best is None or len(parts) == best
    if best is not None:
        assert all(part in "".join(sentences) and part.rstrip()[-1] in ".!" for part in parts)


def test_a_sentence_that_is_too_long_is_cut_at_ever_smaller_breaks() -> None:
    text = "Short one. One two, three; four five six seven. Incomprehensibilities end."
    assert split_long(text, in_characters(100)) == [text]
    assert split_long(text, in_characters(50)) == [
        "Short one. One two, three; four five six seven. ",
        "Incomprehensibilities end.",
    ]
    assert split_long(text, in_characters(30)) == [
        "Short one. ",
        "One two, three; ",
        "four five six seven. ",
        "Incomprehensibilities end.",
    ]
    assert split_long(text, in_characters(11))[:5] == ["Short one. ", "One two, ", "three; ", "four five ", "six seven. "]
    assert split_long(text, in_characters(11))[5:] == ["Incomprehen", "sibilities ", "end."]


def test_wide_commas_need_no_space() -> None:
    assert split_long("一二三，四五六、七八九。", in_characters(5)) == ["一二三，", "四五六、", "七八九。"]


def test_characters_keep_their_marks_while_they_can() -> None:
    assert split_long("e\u0301" * 4, in_characters(3)) == ["e\u0301"] * 4
    assert split_long("👩‍👩‍👧" * 2, in_characters(5)) == ["👩‍👩‍👧"] * 2
    assert split_long("e\u0301\u0302\u0303", in_characters(2)) == ["e\u0301", "\u0302\u0303"]


def test_fits_is_asked_seldom() -> None:
    asked = 0

    def fits(text: str) -> bool:
        nonlocal asked
        asked += 1
        return len(text) <= 1000

    parts = split_long("Some words here. " * 10_000, fits)
    assert asked < 20 * len(parts)


def test_a_character_that_does_not_fit_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="not even the character"):
        split_long("ab", lambda text: False)


@pytest.mark.parametrize(
    "unit", [".", ". ", "A. ", "»", ".»", " ", "\n", "\n ", "\u0301", ",", "。", '."', "x\n", "1.", "Dr.", "\u200d"]
)
def test_strange_text_takes_no_longer(unit: str) -> None:
    """Were anything quadratic, these would take minutes."""
    text = unit * (100_000 // len(unit))
    assert "".join(split_sentences(text)) == text
    assert "".join(split_long(text, in_characters(500))) == text
