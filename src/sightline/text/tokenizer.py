"""The tokenizer: text to whole numbers and back. Learnt by `learn`, kept in one JSON file beside the weights."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import final

from tokenizers import Tokenizer as LibraryTokenizer

from sightline.errors import UserError
from sightline.text import tokenizer_file
from sightline.text.bpe_dropout import MergeTable
from sightline.text.files import write_whole
from sightline.text.pipeline import (
    BOS,
    EOS,
    FIRST_BYTE,
    FIRST_PIECE,
    PAD,
    SPACE,
    SPECIAL_PIECES,
    UNK,
    Kind,
    unescape,
)

__all__ = ["BOS", "EOS", "PAD", "UNK", "Tokenizer"]

_SURROGATES = re.compile("[\ud800-\udfff]")


@final
class Tokenizer:
    """Text to piece ids and back; ids 0 to 3 are PAD, BOS, EOS and UNK, and no text ever becomes one of the first three."""

    def __init__(self, kind: Kind, library: LibraryTokenizer) -> None:
        self.kind: Kind = kind
        self.size: int = library.get_vocab_size()
        self._library = library

    def __reduce__(self) -> tuple[Callable[[str], Tokenizer], tuple[str]]:
        return Tokenizer.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"Tokenizer(kind={self.kind!r}, size={self.size})"

    def encode(self, text: str) -> list[int]:
        """The ids of a text's pieces, without BOS and EOS."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many texts, on all cores and without holding the interpreter's lock."""
        try:
            encodings = self._library.encode_batch_fast(texts, add_special_tokens=False)
        except TypeError:
            # The library refuses half a surrogate pair, which is no character; it becomes the mark for a broken one.
            mended = [_SURROGATES.sub("\ufffd", text) for text in texts]
            encodings = self._library.encode_batch_fast(mended, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def encode_with_dropout(self, text: str, rate: float, key: int) -> list[int]:
        """`encode`, but each merge is left out with probability `rate` (BPE-dropout): a pure function of its arguments."""
        if self.kind != "bpe":
            raise UserError(f"BPE-dropout needs a tokenizer of kind bpe, this one is of kind {self.kind}; set it to 0")
        return self._merges.encode(_SURROGATES.sub("\ufffd", text), rate, key)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; PAD, BOS and EOS are left out, UNK reads "⁇"."""
        return self._library.decode([int(i) for i in ids if i >= UNK], skip_special_tokens=False)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """What to show for each id: "▁" marks a space in front, a byte is shown by its name, such as "<0xE2>"."""
        return [SPECIAL_PIECES[i] if i < FIRST_BYTE else unescape(self._names[i]) for i in ids]

    def words(self, ids: Iterable[int]) -> list[int]:
        """For each id the number of its word, as `text.split()` counts; white space goes with the next; PAD, BOS, EOS: -1."""
        numbers: list[int] = []
        word, open_word = -1, False
        ids = list(ids)
        for i, text in zip(ids, self._spell(ids), strict=True):
            visible = text.strip()
            if i < UNK:
                numbers.append(-1)
            elif not text:  # a further byte of the character before
                numbers.append(numbers[-1])
            elif not visible:
                numbers.append(word + 1)
                open_word = False
            else:
                word += not open_word or text[0].isspace()
                numbers.append(word)
                open_word = not text[-1].isspace()
        return [min(number, max(word, 0)) for number in numbers]

    @cached_property
    def fingerprint(self) -> str:
        """What weights remember of the tokenizer they were trained with."""
        return hashlib.sha256(self.to_json().encode("utf-8")).hexdigest()

    def to_json(self) -> str:
        """The whole tokenizer as text; equal tokenizers give equal text."""
        return tokenizer_file.write(self.kind, self._library)

    @classmethod
    def from_json(cls, text: str) -> Tokenizer:
        """The tokenizer that `to_json` wrote."""
        return cls(*tokenizer_file.read(text))

    def save(self, path: str | Path) -> None:
        """Write `tokenizer.json`, whole or not at all."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Read what `save` wrote."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"cannot read the tokenizer {path}: {error}") from error
        except UserError as error:
            raise UserError(f"{path}: {error}") from error

    @cached_property
    def _names(self) -> list[str]:
        """The library's name of every id."""
        by_id = {i: name for name, i in self._library.get_vocab(with_added_tokens=False).items()}
        return [by_id[i] for i in range(self.size)]

    @cached_property
    def _merges(self) -> MergeTable:
        return MergeTable.of(self._library)

    def _is_byte(self, i: int) -> bool:
        return self.kind != "words" and FIRST_BYTE <= i < FIRST_PIECE

    def _spell(self, ids: list[int]) -> list[str]:
        """The text each id stands for; of a character in several bytes the first has it and the others have nothing."""
        texts: list[str] = []
        for are_bytes, run in groupby(ids, self._is_byte):
            if are_bytes:
                texts.extend(_spell_bytes(bytes(i - FIRST_BYTE for i in run)))
            else:
                names = (f" {SPECIAL_PIECES[UNK]}" if i == UNK else self._names[i] for i in run)
                texts.extend(name.replace(SPACE, " ") for name in names)
        return texts


def _spell_bytes(data: bytes) -> list[str]:
    """One entry per byte: the character on its first byte, "" on the rest, "\ufffd" where there is no character."""
    texts: list[str] = []
    while len(texts) < len(data):
        start = len(texts)
        for length in (1, 2, 3, 4):
            try:
                character = data[start : start + length].decode("utf-8")
            except UnicodeDecodeError:
                continue
            texts.extend([character] + [""] * (len(data[start : start + length]) - 1))
            break
        else:
            texts.append("\ufffd")
    return texts
