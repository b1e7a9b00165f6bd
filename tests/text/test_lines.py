"""A line ends at "\\n" alone, and a file that cannot be read is said so: nothing shifts, nothing is lost unseen."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.text import lines
from sightline.text.lines import Line, read_lines

PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(level=1).compress,
}


def texts(path: Path) -> list[str | None]:
    return [line.text for line in read_lines(path)]


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


class Stdin:
    """What `sys.stdin` is to a reader of bytes."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self.buffer = stream


@pytest.mark.parametrize(
    "inside",
    [*"\u2028\u2029\u0085\r\v\f\x1c\x1d\x1e\x00\x1a\t\ufeff\u200b'\"", '"""'],
)
def test_nothing_else_ends_a_line(tmp_path: Path, inside: str) -> None:
    path = write(tmp_path / "a.txt", f"one{inside}two\n{inside}three\nfour\n".encode())
    assert texts(path)[:3] == [f"one{inside}two", f"{inside}three", "four"]
    assert [line.number for line in read_lines(path)] == [1, 2, 3]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\ufeff"))))
def test_any_lines_come_back(tmp_path_factory: pytest.TempPathFactory, rows: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes("".join(f"{row}\n" for row in rows).encode())
    assert texts(path) == rows


def test_a_carriage_return_before_the_end_belongs_to_the_end(tmp_path: Path) -> None:
    assert texts(write(tmp_path / "a", b"a\r\nb\r\r\n\r\nc\r")) == ["a", "b\r", "", "c"]


def test_empty_lines_and_a_missing_last_end(tmp_path: Path) -> None:
    assert texts(write(tmp_path / "a", b"")) == []
    assert texts(write(tmp_path / "b", b"\n")) == [""]
    assert texts(write(tmp_path / "c", b"\n\na")) == ["", "", "a"]
    assert texts(write(tmp_path / "d", b"a\n\n")) == ["a", ""]


def test_a_byte_order_mark_is_left_out_once(tmp_path: Path) -> None:
    assert texts(write(tmp_path / "a", b"\xef\xbb\xbf\xef\xbb\xbfa\n\xef\xbb\xbfb\n")) == ["\ufeffa", "\ufeffb"]
    assert texts(write(tmp_path / "b", b"\xef\xbb\xbf")) == [""]
    assert texts(write(tmp_path / "c.gz", gzip.compress(b"\xef\xbb\xbfa"))) == ["a"]


@pytest.mark.parametrize("broken", [b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x80", b"caf\xe9"])
def test_what_is_not_utf8_is_one_bad_line(tmp_path: Path, broken: bytes) -> None:
    path = write(tmp_path / "a", b"good\nx" + broken + b"y\nagain\n")
    assert list(read_lines(path)) == [Line(1, "good"), Line(2, None, "not valid UTF-8"), Line(3, "again")]


def test_utf16_is_refused_with_the_way_out(tmp_path: Path) -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        with pytest.raises(UserError, match="iconv"):
            texts(write(tmp_path / "a", "\ufeffabc\n".encode(encoding)))


def test_an_over_long_line_is_one_bad_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 8)
    path = write(tmp_path / "a", b"12345678\n123456789\n" + b"x" * 100 + b"\n\nok\n123456789")
    read = list(read_lines(path))
    assert [line.text for line in read] == ["12345678", None, None, "", "ok", None]
    assert [line.number for line in read] == [1, 2, 3, 4, 5, 6]
    assert read[1].problem == "longer than 8 bytes"


@pytest.mark.parametrize("packing", PACK)
def test_compressed_files_are_unpacked_whatever_they_are_called(tmp_path: Path, packing: str) -> None:
    data = "".join(f"línea {i} \u2028 …\n" for i in range(20_000)).encode()
    for name in (f"a{packing}", "a.txt", "a"):
        read = texts(write(tmp_path / name, PACK[packing](data)))
        assert len(read) == 20_000
        assert read[-1] == "línea 19999 \u2028 …"


@pytest.mark.parametrize("packing", PACK)
def test_pieces_compressed_apart_are_one_file(tmp_path: Path, packing: str) -> None:
    pack = PACK[packing]
    path = write(tmp_path / f"a{packing}", pack(b"one\ntw") + pack(b"") + pack(b"o\n") + bytes(4000) + pack(b"three") + bytes(4))
    assert texts(path) == ["one", "two", "three"]


@pytest.mark.parametrize("packing", PACK)
def test_a_second_piece_that_is_damaged_is_an_error(tmp_path: Path, packing: str) -> None:
    second = bytearray(PACK[packing](b"b\n"))
    second[1] ^= 1
    with pytest.raises(UserError, match="past line 1 "):
        texts(write(tmp_path / f"a{packing}", PACK[packing](b"a\n") + second))
    with pytest.raises(UserError, match="past line 1 "):
        texts(write(tmp_path / f"a{packing}", PACK[packing](b"a\n") + PACK[packing](b"b\n")[:3]))


@pytest.mark.parametrize("packing", PACK)
def test_nothing_compressed_is_an_empty_file(tmp_path: Path, packing: str) -> None:
    assert texts(write(tmp_path / f"a{packing}", PACK[packing](b""))) == []


@pytest.mark.parametrize("packing", PACK)
def test_a_compressed_file_cut_short_anywhere_is_an_error(tmp_path: Path, packing: str) -> None:
    whole = PACK[packing](b"".join(b"line %d\n" % i for i in range(300)))
    for length in range(8, len(whole), 7):
        path = write(tmp_path / f"a{packing}", whole[:length])
        with pytest.raises(UserError, match=f"a{packing}: cannot be read past line .*fetch it again"):
            texts(path)


@pytest.mark.parametrize("packing", [".gz", ".xz"])
def test_a_damaged_compressed_file_is_an_error(tmp_path: Path, packing: str) -> None:
    whole = bytearray(PACK[packing](bytes(range(32, 127)) * 30))
    whole[len(whole) // 2] ^= 0x10
    with pytest.raises(UserError, match="damaged"):
        texts(write(tmp_path / f"a{packing}", bytes(whole)))


def test_zstd_checks_its_checksum(tmp_path: Path) -> None:
    whole = bytearray(zstandard.ZstdCompressor(level=1, write_checksum=True).compress(os.urandom(5000)))
    whole[len(whole) // 2] ^= 0x10
    with pytest.raises(UserError, match="damaged"):
        texts(write(tmp_path / "a.zst", bytes(whole)))


@pytest.mark.parametrize("packing", PACK)
def test_rubbish_after_the_end_is_an_error(tmp_path: Path, packing: str) -> None:
    with pytest.raises(UserError, match="damaged"):
        texts(write(tmp_path / f"a{packing}", PACK[packing](b"a\n") + b"rubbish that is long enough"))


def test_zstd_as_streams_and_parallel_compressors_write_it(tmp_path: Path) -> None:
    compressor = zstandard.ZstdCompressor(level=1).compressobj()  # does not know the size beforehand
    stream = compressor.compress(b"a\n" * 100_000) + compressor.flush()
    skippable = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"size"
    assert len(texts(write(tmp_path / "a.zst", stream))) == 100_000
    assert len(texts(write(tmp_path / "b.zst", skippable + stream + skippable + stream))) == 200_000


def test_a_name_that_promises_what_the_file_does_not_hold(tmp_path: Path) -> None:
    for packing in PACK:
        with pytest.raises(UserError, match="does not hold such data"):
            texts(write(tmp_path / f"a{packing}", b"plain text\n"))
        with pytest.raises(UserError, match="is empty"):
            texts(write(tmp_path / f"b{packing}", b""))
    assert texts(write(tmp_path / "a.bz2", bz2.compress(b"x")))[0] is None  # no packing of ours: bytes that are no text


def test_a_missing_file_is_named_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "train.tsv", b"x")
    with pytest.raises(UserError, match=r"trian.tsv: there is no such file; did you mean .*train.tsv\?"):
        texts(tmp_path / "trian.tsv")
    with pytest.raises(UserError, match="check the name"):
        texts(tmp_path / "zzz")
    with pytest.raises(UserError, match="nor a folder"):
        texts(tmp_path / "none" / "a")
    with pytest.raises(UserError, match="cannot be opened"):
        texts(tmp_path)


def test_standard_input_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO("a\u2028\r\n\xef\n".encode())
    monkeypatch.setattr(sys, "stdin", Stdin(stream))
    assert [line.text for line in read_lines("-")] == ["a\u2028", "ï"]
    assert not stream.closed


@pytest.mark.parametrize("packing", PACK)
def test_standard_input_may_be_compressed(monkeypatch: pytest.MonkeyPatch, packing: str) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(io.BytesIO(PACK[packing](b"a\nb\n"))))
    assert [line.text for line in read_lines("-")] == ["a", "b"]
    monkeypatch.setattr(sys, "stdin", Stdin(io.BytesIO(PACK[packing](b"a\nb\n")[:-6])))
    with pytest.raises(UserError, match="standard input: cannot be read"):
        list(read_lines("-"))


class Typing(io.BufferedIOBase):
    """Somebody who types a line and waits for the answer: what is asked for beforehand never comes."""

    def __init__(self, *typed: bytes) -> None:
        self.to_come = list(typed)

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        return self.to_come.pop(0) if self.to_come else b""

    def read(self, size: int | None = -1, /) -> bytes:
        raise AssertionError("waits until there is enough")


def test_a_line_of_standard_input_is_there_before_the_next_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    typing = Typing(b"first\n", b"second\nthi", b"rd\n")
    monkeypatch.setattr(sys, "stdin", Stdin(typing))
    read = read_lines("-")
    assert next(read) == Line(1, "first")
    assert typing.to_come == [b"second\nthi", b"rd\n"]
    assert next(read) == Line(2, "second")
    assert typing.to_come == [b"rd\n"]
    assert list(read) == [Line(3, "third")]


def test_no_standard_input_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UserError, match="standard input is closed"):
        list(read_lines("-"))


def test_a_reader_that_is_left_early_closes_its_file(tmp_path: Path) -> None:
    # A file left open would be a ResourceWarning, and warnings are errors.
    for packing, pack in PACK.items():
        read = read_lines(write(tmp_path / f"a{packing}", pack(b"a\nb\n")))
        assert next(read) == Line(1, "a")
        read.close()
