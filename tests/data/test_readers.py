"""Reading: every line gives one pair or one bad line, and what is wrong with one never moves another."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sightline.data import blocks, readers
from sightline.data.pairs import BadLine, Pair
from sightline.data.readers import read_pairs
from sightline.errors import UserError

NASTY = "\u2028\u2029\x85\x00\ufeff\r\x0b\x0c\x1c\x1d\x1e\"'\\,; \u200b\ud7ff\U0001f600é"
texts = st.text(
    st.one_of(st.sampled_from(NASTY), st.characters(exclude_categories=["Cs"], exclude_characters="\n\t")), max_size=12
)
any_line = st.one_of(texts.map(str.encode), st.binary(max_size=12).map(lambda b: b.replace(b"\n", b"").replace(b"\t", b"")))


def read(*words: str | Path, bad: list[BadLine] | None = None, share: float = 1.0) -> list[Pair]:
    return list(
        read_pairs([str(word) for word in words], "fr", "en", max_bad_share=share, bad=(bad if bad is not None else []).append)
    )


def sides(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]


def clean_end(text: str, last: bool = True) -> str:
    """What the reader takes off: the byte order mark before the whole file is not among it."""
    return text.removesuffix("\r") if last else text


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=12))
def test_tsv_keeps_every_pair_in_its_line(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    path.write_bytes("".join(f"x{source}\t{target}\n" for source, target in pairs).encode())
    found = read(path)
    assert sides(found) == [(f"x{source}", clean_end(target)) for source, target in pairs]
    assert [pair.line for pair in found] == list(range(1, len(pairs) + 1))


@given(st.lists(st.tuples(any_line, any_line), max_size=12))
def test_two_files_never_shift(tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[bytes, bytes]]) -> None:
    """Each line carries its number on both sides: whatever else stands there, they meet again or are both refused."""
    folder, bad = tmp_path_factory.mktemp("lines"), list[BadLine]()
    for side, name in enumerate(("a.fr", "a.en")):
        (folder / name).write_bytes(b"".join(b"%d " % i + pair[side] + b"\n" for i, pair in enumerate(lines)))
    pairs = read(folder / "a.fr", folder / "a.en", bad=bad)
    for pair in pairs:
        assert pair.source.split(" ")[0] == pair.target.split(" ")[0] == str(pair.line - 1)
    assert sorted([pair.line for pair in pairs] + [line.line for line in bad]) == list(range(1, len(lines) + 1))
    readable = [i for i, pair in enumerate(lines, 1) if all(_is_utf8(text) for text in pair)]
    assert [pair.line for pair in pairs] == readable


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=8), st.booleans())
def test_jsonl_gives_the_texts_exactly(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], ascii_only: bool
) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    rows = [json.dumps({"fr": f"{source}\n", "en": target, "id": 3}, ensure_ascii=ascii_only) for source, target in pairs]
    path.write_bytes("".join(row + "\n" for row in rows).encode())
    assert sides(read(path)) == [(f"{source}\n", target) for source, target in pairs]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_files_read_as_plain_ones(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"a.tsv{packing}"
    path.write_bytes(PACKERS[packing]("\ufeffun\tone\r\ndeux\ttwo\n".encode()))
    assert read(path) == [Pair("un", "one", str(path), 1), Pair("deux", "two", str(path), 2)]
    assert read(path)[1].origin == f"{path}:2"


def test_standard_input_is_tsv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"un\tone\n\ndeux\ttwo")))
    pairs = read("-")
    assert sides(pairs) == [("un", "one"), ("", ""), ("deux", "two")]
    assert pairs[2].origin == "standard input:3"


def test_every_bad_line_is_reported_with_its_reason(tmp_path: Path) -> None:
    tsv, bad = tmp_path / "a.tsv", list[BadLine]()
    tsv.write_bytes(b"un\tone\nno tab here\n\xff\xfe\tx\n\"deux\t'two\nthree\tcolumns\tare enough\n")
    assert sides(read(tsv, bad=bad)) == [("un", "one"), ('"deux', "'two"), ("three", "columns")]
    assert [str(line) for line in bad] == [f"{tsv}:2: no tab", f"{tsv}:3: not valid UTF-8"]
    assert bad[0].text == "no tab here"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{", "not valid JSON"),
        ("[1]", "not a JSON object"),
        ("3", "not a JSON object"),
        ('{"fr": "un"}', "no key 'en'"),
        ('{"target": "one"}', "no key 'source'"),
        ('{"english": "one"}', "no key 'fr'"),
        ('{"fr": "un", "en": 1}', "'en' is not text"),
        ('{"fr": "un", "en": null}', "'en' is not text"),
        ('{"fr": "\\ud800", "en": "one"}', "'fr' holds half a surrogate pair"),
        ("[" * 100_000, "not a plain JSON object"),
    ],
)
def test_bad_json_is_reported(tmp_path: Path, row: str, reason: str) -> None:
    path, bad = tmp_path / "a.jsonl", list[BadLine]()
    path.write_text(f'{row}\n{{"fr": "un", "en": "one"}}\n')
    assert sides(read(path, bad=bad)) == [("un", "one")]
    assert [line.line for line in bad] == [1]
    assert reason in bad[0].reason


@pytest.mark.parametrize(
    "row",
    ['{"en": "one", "fr": "un"}', '{"source": "un", "target": "one"}', '{"translation": {"en": "one", "fr": "un"}, "id": 1}'],
)
def test_json_keys_may_be_codes_or_sides_or_nested(tmp_path: Path, row: str) -> None:
    (tmp_path / "a.jsonl").write_text(row)
    assert sides(read(tmp_path / "a.jsonl")) == [("un", "one")]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("fr\ten", "un\tone"),
        ("EN\tFR", "one\tun"),
        ("id\ten\tfr\tnote", "7\tone\tun\t-"),
        ("source\ttarget", "un\tone"),
        ("target\tsource", "one\tun"),
    ],
)
def test_a_row_of_codes_names_the_columns_and_is_no_pair(tmp_path: Path, header: str, row: str) -> None:
    (tmp_path / "a.tsv").write_text(f"{header}\n{row}\n")
    assert read(tmp_path / "a.tsv") == [Pair("un", "one", str(tmp_path / "a.tsv"), 2)]


def test_columns_named_by_a_header_must_be_there(tmp_path: Path) -> None:
    bad: list[BadLine] = []
    (tmp_path / "a.tsv").write_text("id\tfr\ten\n1\tun\n2\tdeux\ttwo\n")
    assert sides(read(tmp_path / "a.tsv", bad=bad)) == [("deux", "two")]
    assert [line.reason for line in bad] == ["2 columns where 3 are needed"]


def test_a_bad_line_of_the_second_file_is_named_there(tmp_path: Path) -> None:
    bad: list[BadLine] = []
    (tmp_path / "a.fr").write_bytes(b"un\ndeux\n\xff\n")
    (tmp_path / "a.en").write_bytes(b"one\n\xff\nthree\n")
    assert sides(read(tmp_path / "a.fr", tmp_path / "a.en", bad=bad)) == [("un", "one")]
    assert [str(line).removeprefix(str(tmp_path)) for line in bad] == [
        "/a.en:2: not valid UTF-8",
        "/a.fr:3: not valid UTF-8",
    ]
    assert [line.text for line in bad] == ["deux", "three"]


@pytest.mark.parametrize("counts", [(3, 5), (5, 3), (0, 2), (4, 5), (8, 4)])
def test_files_of_unequal_length_are_an_error_with_both_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counts: tuple[int, int]
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 4)
    for name, count in zip(("a.fr", "a.en"), counts, strict=True):
        (tmp_path / name).write_text("x\n" * count)
    shorter = "a.fr" if counts[0] < counts[1] else "a.en"
    with pytest.raises(
        UserError, match=rf"a.fr has {counts[0]} lines and .*a.en has {counts[1]}: .*{shorter}:{min(counts)} is where"
    ):
        read(tmp_path / "a.fr", tmp_path / "a.en")


def write_mostly_bad(path: Path, good: int, bad: int, seed: int = 0) -> None:
    lines = ["a\tb\n"] * good + ["no tab\n"] * bad
    random.Random(seed).shuffle(lines)
    path.write_text("".join(lines))


@pytest.mark.parametrize(("good", "bad", "stops"), [(900, 100, True), (970, 30, False), (2, 10, False), (0, 11, True)])
def test_too_large_a_share_of_bad_lines_stops(tmp_path: Path, good: int, bad: int, stops: bool) -> None:
    path = tmp_path / "a.tsv"
    write_mostly_bad(path, good, bad)
    if stops:
        with pytest.raises(
            UserError, match=rf"a\.tsv: {bad} of the first {good + bad:,} lines cannot be used; the first is .*: no tab"
        ):
            read(path, share=0.05)
    else:
        assert len(read(path, share=0.05)) == good


def test_bad_lines_are_counted_for_each_input_by_itself(tmp_path: Path) -> None:
    write_mostly_bad(tmp_path / "good.tsv", 2000, 0)
    write_mostly_bad(tmp_path / "bad.tsv", 80, 20)
    for order in (("good.tsv", "bad.tsv"), ("bad.tsv", "good.tsv")):
        with pytest.raises(UserError, match=r"bad\.tsv: 20 of the first 100 lines"):
            read(*(tmp_path / name for name in order), share=0.05)


def test_a_hopeless_file_is_given_up_early(tmp_path: Path) -> None:
    write_mostly_bad(tmp_path / "a.tsv", 0, 30_000)
    with pytest.raises(UserError, match=rf"of the first {blocks.BLOCK:,} lines"):
        read(tmp_path / "a.tsv", share=0.05)


def test_a_bad_beginning_is_forgiven(tmp_path: Path) -> None:
    assert readers.EARLY * 0.05 > 900
    (tmp_path / "a.tsv").write_text("no tab\n" * 900 + "a\tb\n" * 19_100)
    assert len(read(tmp_path / "a.tsv", share=0.05)) == 19_100


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").touch()
    with pytest.raises(UserError, match=r"trian\.tsv: there is no such file; did you mean .*train\.tsv"):
        read(tmp_path / "trian.tsv")
