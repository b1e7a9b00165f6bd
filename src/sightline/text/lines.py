"""Reading lines, plain or compressed, as a stream: memory does not grow with the file.

A line ends at "\\n" alone. Whatever else some programs take for a line end (U+2028, U+0085, a lone "\\r", form feeds)
is part of the text, or two files of a parallel corpus would shift against each other.
"""

from __future__ import annotations

import contextlib
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, NamedTuple, Protocol

import zstandard

from sightline.errors import UserError

STANDARD_INPUT = "-"
LONGEST_LINE = 1 << 20
COMPRESSED_SUFFIXES = (".gz", ".xz", ".zst")

_MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BLOCK = 1 << 16
_SLICE = 1 << 10  # what is unpacked at a time: it may become many thousand times as much


# What reading a file that is cut short or damaged may raise.
BROKEN_STREAM = (EOFError, OSError, lzma.LZMAError, zlib.error, zstandard.ZstdError)


class Line(NamedTuple):
    """A line without its end; `text` is None when it cannot be read, and `problem` then says why."""

    number: int  # the first line is 1
    text: str | None
    problem: str = ""


def read_lines(path: str | Path) -> Generator[Line, None, None]:
    """The lines of a file, or of standard input when the path is "-"; .gz, .xz and .zst are unpacked on the way."""
    name = display_name(path)
    with open_bytes(path) as file:
        number = 0
        try:
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                if number == 1:
                    _refuse_utf16(raw, name)
                    raw = raw.removeprefix(_BOM)
                yield _line(number, raw, file)
        except BROKEN_STREAM as error:
            raise UserError(
                f"{name}: cannot be read past line {number} ({error}); the file seems cut short or damaged, fetch it again"
            ) from error


def display_name(path: str | Path) -> str:
    """What to call a file in messages."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


@contextlib.contextmanager
def open_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """The unpacked bytes of a file."""
    with contextlib.ExitStack() as stack:
        if str(path) == STANDARD_INPUT:
            raw: io.BufferedReader[io.RawIOBase] = io.BufferedReader(_Borrowed(_standard_input()), _BLOCK)
        else:
            raw = stack.enter_context(_open_existing(Path(path)))
        packing = _packing(raw, path)
        if packing:
            yield stack.enter_context(io.BufferedReader(_Unpacked(raw, packing), _BLOCK))
        else:
            yield raw


def _standard_input() -> io.BufferedIOBase:
    if sys.stdin is None:  # as some services start their programs
        raise UserError("standard input is closed; give a file, or a pipe that is open")
    assert isinstance(sys.stdin.buffer, io.BufferedIOBase)
    return sys.stdin.buffer


def _open_existing(path: Path) -> io.BufferedReader[io.RawIOBase]:
    try:
        return io.BufferedReader(path.open("rb", buffering=0), _BLOCK)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file{_nearest_name(path)}") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be opened ({error.strerror or error}); give a file you may read") from error


def _nearest_name(path: Path) -> str:
    """A hint at the file that was probably meant."""
    folder = path.parent
    if not folder.is_dir():
        return f", nor a folder {folder}; check the path"
    near = get_close_matches(path.name, [entry.name for entry in os.scandir(folder)], n=1)
    return f"; did you mean {folder / near[0]}?" if near else "; check the name"


def _packing(raw: io.BufferedReader[io.RawIOBase], path: str | Path) -> str:
    """How the file is compressed: what its first bytes say, else what its name says."""
    head = raw.peek(8)[:8]
    for magic, packing in _MAGIC.items():
        if head.startswith(magic):
            return packing
    named = Path(path).suffix
    if named not in COMPRESSED_SUFFIXES:
        return ""
    if not head:
        raise UserError(f"{path}: is empty, and a {named} file never is; fetch it again")
    if named == ".zst" and head[1:4] == b"\x2a\x4d\x18":  # a skippable frame in front, as parallel compressors write it
        return named
    raise UserError(f"{path}: is named {named} but does not hold such data; rename it or fetch it again")


def _line(number: int, raw: bytes, file: BinaryIO) -> Line:
    """Decode one line; of an over-long one the rest is read away."""
    if len(raw) > LONGEST_LINE and not raw.endswith(b"\n"):
        while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
            pass
        return Line(number, None, f"longer than {LONGEST_LINE:,} bytes")
    try:
        return Line(number, raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8"))
    except UnicodeDecodeError:
        return Line(number, None, "not valid UTF-8")


def _refuse_utf16(raw: bytes, name: str) -> None:
    if raw.startswith(_UTF16):
        raise UserError(f"{name}: is UTF-16, and text is read as UTF-8; convert it (iconv -f UTF-16 -t UTF-8)")


class _Borrowed(io.RawIOBase):
    """A stream that stays open when the reader around it is closed: standard input is not ours to close."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # the stub asks for any buffer
        data = self._stream.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _Unpacker(Protocol):
    """What unpacks one stream; zlib, lzma and zstandard agree on it."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


_UNPACKERS: Mapping[str, Callable[[], _Unpacker]] = MappingProxyType(
    {
        ".gz": lambda: zlib.decompressobj(wbits=zlib.MAX_WBITS + 16),  # 16: with gzip's header and checksum
        ".xz": lzma.LZMADecompressor,
        ".zst": lambda: zstandard.ZstdDecompressor().decompressobj(),
    }
)


class _Unpacked(io.RawIOBase):
    """The bytes of a compressed file.

    The packages' own readers take some files that are cut short, or whose second part is damaged, for ended ones.
    """

    def __init__(self, raw: BinaryIO, packing: str) -> None:
        self._blocks = _unpack(raw, _UNPACKERS[packing])
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # the stub asks for any buffer
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = block
        taken = self._rest[: len(buffer)]
        self._rest = self._rest[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)


def _unpack(raw: BinaryIO, start: Callable[[], _Unpacker]) -> Iterator[bytes]:
    """Stream after stream to the end; zeros between them are padding."""
    while data := raw.read(_SLICE):
        while data := data.lstrip(b"\0"):
            unpacker = start()
            while not unpacker.eof:
                if not data:
                    raise EOFError("its end is missing")
                yield unpacker.decompress(data)
                data = unpacker.unused_data if unpacker.eof else raw.read(_SLICE)
