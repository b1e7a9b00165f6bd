"""Reading a tokenizer's file, strictly.

Only what was learnt is taken from it: pieces, merges, scores. The rules around them are made anew by `build` and must be
those in the file. So no file brings patterns of its own, and the library, which ends the whole process over some damaged
descriptions, never sees one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers import models

from sightline.errors import UserError
from sightline.text.pipeline import BYTE_NAMES, KINDS, SPECIAL_NAMES, UNK, Kind, LibraryModel, build

FORMAT = 1


def write(kind: Kind, library: LibraryTokenizer) -> str:
    """The whole tokenizer as JSON; equal tokenizers give equal text."""
    whole = {"format": FORMAT, "kind": kind, "size": library.get_vocab_size(), "tokenizer": json.loads(library.to_str())}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def read(text: str) -> tuple[Kind, LibraryTokenizer]:
    """What `write` wrote."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"a tokenizer must be JSON, and this is not ({error}); take the file from a backup") from error
    if not isinstance(whole, dict) or set(whole) != {"format", "kind", "size", "tokenizer"}:
        raise UserError("a tokenizer must be an object with format, kind, size and tokenizer; is this another program's file?")
    if whole["format"] != FORMAT:
        raise UserError(f"a tokenizer has format {whole['format']}, this version reads {FORMAT}; update sightline")
    if whole["kind"] not in KINDS:
        raise UserError(f"a tokenizer has kind {whole['kind']!r}; the kinds are {', '.join(KINDS)}")
    kind: Kind = whole["kind"]
    described = whole["tokenizer"]
    _expect(isinstance(described, dict) and isinstance(described.get("model"), dict), "it does not describe a model")
    library = build(kind, _READERS[kind](described["model"]))
    _expect(json.loads(library.to_str()) == described, "its rules are not those of this version")
    _expect(library.get_vocab_size() == whole["size"], f"it says it has {whole['size']} pieces")
    return kind, library


def _expect(sound: bool, fault: str) -> None:
    if not sound:
        raise UserError(f"a tokenizer is damaged or was changed by hand ({fault}); take the file from a backup")


def _vocabulary(model: Mapping[str, Any], reserved: Sequence[str]) -> dict[str, int]:
    """Pieces numbered from 0 without a gap, the reserved ones in front."""
    vocabulary = model.get("vocab")
    _expect(isinstance(vocabulary, dict) and all(type(number) is int for number in vocabulary.values()), "its pieces")
    assert isinstance(vocabulary, dict)
    _check_names(list(vocabulary))
    _expect(sorted(vocabulary.values()) == list(range(len(vocabulary))), "numbers of its pieces are missing")
    _expect([vocabulary.get(name) for name in reserved] == list(range(len(reserved))), "its special pieces")
    return vocabulary


def _check_names(names: Sequence[object]) -> None:
    _expect(all(isinstance(name, str) and name for name in names), "a piece is no text")
    _expect(not any("\ud800" <= c <= "\udfff" for c in "".join(map(str, names))), "a piece is broken text")


def _read_bpe(model: Mapping[str, Any]) -> LibraryModel:
    vocabulary, merges = _vocabulary(model, (*SPECIAL_NAMES, *BYTE_NAMES)), model.get("merges")
    _expect(isinstance(merges, list) and all(_is_merge(merge, vocabulary) for merge in merges), "its merges")
    assert isinstance(merges, list)
    return models.BPE(vocab=vocabulary, merges=[(left, right) for left, right in merges], byte_fallback=True)


def _is_merge(merge: object, vocabulary: Mapping[str, int]) -> bool:
    if not isinstance(merge, list) or len(merge) != 2 or not all(isinstance(part, str) for part in merge):
        return False
    left, right = merge
    return left in vocabulary and right in vocabulary and left + right in vocabulary


def _read_unigram(model: Mapping[str, Any]) -> LibraryModel:
    pieces = model.get("vocab")
    _expect(isinstance(pieces, list) and all(isinstance(piece, list) and len(piece) == 2 for piece in pieces), "its pieces")
    assert isinstance(pieces, list)
    names, scores = [name for name, _ in pieces], [score for _, score in pieces]
    _check_names(names)
    _expect(len(set(names)) == len(names), "a piece stands in it twice")
    _expect(all(type(score) is float and math.isfinite(score) for score in scores), "its scores")
    reserved = [*SPECIAL_NAMES, *BYTE_NAMES]
    _expect(names[: len(reserved)] == reserved, "its special pieces")
    return models.Unigram(list(zip(names, scores, strict=True)), unk_id=UNK, byte_fallback=True)


def _read_words(model: Mapping[str, Any]) -> LibraryModel:
    return models.WordLevel(vocab=_vocabulary(model, SPECIAL_NAMES), unk_token=SPECIAL_NAMES[UNK])


_READERS: Mapping[Kind, Callable[[Mapping[str, Any]], LibraryModel]] = MappingProxyType(
    {"bpe": _read_bpe, "unigram": _read_unigram, "words": _read_words, "chars": _read_bpe}
)
