"""What the user types names the corpora that are meant, or an error says how to."""

from __future__ import annotations

import pytest

from sightline.data.inputs import Input, parse_inputs
from sightline.errors import UserError


def parsed(*words: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.form, one.paths) for one in parse_inputs(words, "fr", "en")]


def test_the_name_tells_the_form() -> None:
    assert parsed("a.tsv", "b.tsv.gz", "c.jsonl.zst", "d.fr", "d.en", "-") == [
        ("tsv", ("a.tsv",)),
        ("tsv", ("b.tsv.gz",)),
        ("jsonl", ("c.jsonl.zst",)),
        ("lines", ("d.fr", "d.en")),
        ("tsv", ("-",)),
    ]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("a.fr", "a.en"), ("a.fr", "a.en")),
        (("a.en", "a.fr"), ("a.fr", "a.en")),
        (("a.en.gz", "a.fr.xz"), ("a.fr.xz", "a.en.gz")),
        (("one.txt", "two.txt"), ("one.txt", "two.txt")),
        (("a.en", "b.txt"), ("a.en", "b.txt")),
    ],
)
def test_two_files_are_ordered_by_their_languages(typed: tuple[str, str], meant: tuple[str, str]) -> None:
    assert parsed(*typed) == [("lines", meant)]


@pytest.mark.parametrize("words", [["a.fr"], ["a.fr", "b.tsv"], ["a.fr", "a.en", "b.fr"]])
def test_a_file_without_its_other_half_is_named(words: list[str]) -> None:
    with pytest.raises(UserError, match=r"^(a\.fr|b\.fr): a file of one language needs its other half"):
        parse_inputs(words, "fr", "en")


def test_two_corpora_typed_side_by_side_are_noticed() -> None:
    with pytest.raises(UserError, match=r"a\.fr and b\.fr are both in 'fr'; name the two sides .* train\.fr train\.en"):
        parse_inputs(["a.fr", "b.fr", "a.en", "b.en"], "fr", "en")


def test_the_built_in_corpus_has_parts_and_a_size() -> None:
    train, test = parse_inputs(["builtin:200_000", "builtin:test:50"], "en", "fr")
    assert (train.part, train.count, train.paths) == ("train", 200_000, ())
    assert test == Input("builtin", "builtin:test:50", languages=("en", "fr"), part="test", count=50)


@pytest.mark.parametrize(
    "word", ["builtin", "builtin:", "builtin:many", "builtin:0", "builtin:exam:5", "builtin:-3", "builtin:test:5:6"]
)
def test_a_wrong_size_or_part_is_an_error(word: str) -> None:
    with pytest.raises(UserError, match=r"expected builtin:COUNT or builtin:PART:COUNT, PART one of train, dev, test"):
        parse_inputs([word], "fr", "en")


def test_the_built_in_corpus_is_french_and_english() -> None:
    with pytest.raises(UserError, match="French and English, not de and en; set the languages"):
        parse_inputs(["builtin:9"], "de", "en")


def test_standard_input_is_read_once() -> None:
    with pytest.raises(UserError, match="more than once"):
        parse_inputs(["-", "-"], "fr", "en")


@pytest.mark.parametrize("word", ["memory.tmx", "a.CSV", "b.xlsx.gz"])
def test_a_format_that_is_not_read_is_named_with_the_way_out(word: str) -> None:
    with pytest.raises(UserError, match=r"is not read; save it as \.tsv"):
        parse_inputs([word], "fr", "en")
