"""A tree of plain values into nested frozen dataclasses. Every mistake is kept, with its place, not only the first."""

from __future__ import annotations

import difflib
import math
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from sightline.config import kinds
from sightline.config.kinds import Kind, dotted
from sightline.config.toml_lines import Key

_INVALID: Final = object()
_LARGEST: Final = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Word:
    """The right side of a `key=value`: what it means as TOML, and the text itself for fields that want text."""

    raw: str
    value: object

    @classmethod
    def read(cls, raw: str) -> Word:
        try:
            meaning = tomllib.loads(f"value = {raw}")
        except tomllib.TOMLDecodeError:
            return cls(raw, raw)
        return cls(raw, meaning["value"] if len(meaning) == 1 else raw)

    def items(self) -> list[object]:
        """The word as a list: a TOML array, or words with commas between them."""
        if isinstance(self.value, list):
            return self.value
        if self.value != self.raw:
            return [self]
        return [Word.read(part.strip()) for part in self.raw.split(",")] if self.raw else []


class Converter:
    """Reads one tree as one dataclass; `mistakes` is empty exactly when `table` gave a whole result."""

    def __init__(self, root: Kind, places: Mapping[Key, str], origin: str, none_word: str | None) -> None:
        self.root = root
        self.places = places
        self.origin = origin
        self.none_word = none_word  # TOML cannot say "nothing", so there a word stands for it
        self.mistakes: list[str] = []

    def table(self, kind: Kind, value: object, path: Key, current: object = None) -> Any:
        """`value` laid over `current`, or over the defaults of `kind` where there is no current one."""
        if not isinstance(value, Mapping):
            return self._refuse(kind, value, path)
        known = kinds.settable(kind)
        for key in value:
            if key not in known:
                self._unknown((*path, key), known)
        values: dict[str, object] = {}
        for name, (inner, default) in known.items():
            start = default if current is None else getattr(current, name)
            if name in value:
                start = self._read(inner, value[name], (*path, name), start)
            elif start is MISSING:
                self._missing(inner, (*path, name))
            values[name] = start
        if any(item is _INVALID or item is MISSING for item in values.values()):
            return _INVALID
        try:
            return kind(**values)
        except ValueError as error:
            self._mistake(_blamed(str(error), path, value), f"{dotted(path)}: {error}" if path else str(error))
            return _INVALID

    def _read(self, kind: Kind, value: object, path: Key, current: object) -> object:
        if kinds.is_union(kind):
            return self._union(kind, value, path, current)
        if kinds.is_table(kind):
            return self.table(kind, value, path, current if type(current) is kind else None)
        if kinds.origin(kind) is tuple:
            return self._sequence(kind, value, path)
        result = _scalar(kind, value)
        return self._refuse(kind, value, path) if result is _INVALID else result

    def _union(self, kind: Kind, value: object, path: Key, current: object) -> object:
        members = [kinds.bare(member) for member in get_args(kind)]
        for member in members:  # a word that is a choice of its own comes before the word for nothing
            if kinds.choices(member) is not None and (found := _scalar(member, value)) is not _INVALID:
                return found
        if type(None) in members and (value is None or (self.none_word and _meaning(value) == self.none_word)):
            return None
        tables = [member for member in members if kinds.is_table(member)]
        others = [member for member in members if member not in tables and member is not type(None)]
        if tables and (isinstance(value, Mapping) or not others):
            return self._one_of(kind, tables, value, path, current)
        if len(others) == 1:
            return self._read(others[0], value, path, current)
        for member in others:
            trial = Converter(self.root, self.places, self.origin, self.none_word)
            if (result := trial._read(member, value, path, current)) is not _INVALID and not trial.mistakes:
                return result
        return self._refuse(kind, value, path)

    def _one_of(self, kind: Kind, tables: list[Kind], value: object, path: Key, current: object) -> object:
        if len(tables) == 1:
            return self._read(tables[0], value, path, current)
        if not isinstance(value, Mapping):
            return self._refuse(kind, value, path)
        name, meanings = kinds.discriminator(tables)
        if name in value:
            word = self._read(Literal[tuple(meanings)], value[name], (*path, name), None)
            return _INVALID if word is _INVALID else self._read(meanings[word], value, path, current)
        if type(current) in tables:
            return self._read(type(current), value, path, current)
        self._missing(Literal[tuple(meanings)], (*path, name))
        return _INVALID

    def _sequence(self, kind: Kind, value: object, path: Key) -> object:
        items = value.items() if isinstance(value, Word) else value
        if not isinstance(items, list | tuple):
            return self._refuse(kind, value, path)
        members = get_args(kind)
        if members[1:] == (...,):
            members = members[:1] * len(items)
        if len(members) != len(items):
            return self._refuse(kind, value, path)
        read = tuple(
            self._read(kinds.bare(member), item, (*path, index), None)
            for index, (member, item) in enumerate(zip(members, items, strict=True))
        )
        return _INVALID if any(item is _INVALID for item in read) else read

    def _refuse(self, kind: Kind, value: object, path: Key) -> object:
        given = _meaning(value)
        words = map(str, kinds.choices(kind) or (["true", "false"] if kind is bool else []))
        hint = _nearest(str(given), words)
        self._mistake(path, f"{dotted(path)}: expected {kinds.describe(kind)}, given {given!r}{hint}")
        return _INVALID

    def _missing(self, kind: Kind, path: Key) -> None:
        key = dotted(path)
        self._mistake(path, f"missing key {key!r} ({kinds.describe(kind)}); set it in the file or say {key}=...")

    def _unknown(self, path: Key, known: Iterable[str]) -> None:
        name, prefix = str(path[-1]), dotted((*path[:-1], ""))
        elsewhere = [key for key in kinds.dotted_keys(self.root) if key.rpartition(".")[2] == name]
        hint = _nearest(name, known, prefix) or _nearest(name, elsewhere, cutoff=0.0)
        self._mistake(path, f"unknown key {dotted(path)!r}{hint or '; valid here: ' + ', '.join(known)}")

    def _mistake(self, path: Key, text: str) -> None:
        self.mistakes.append(f"{self._place(path)}: {text}")

    def _place(self, path: Key) -> str:
        """Where the key stands; where it does not, the table around it, or the first key given in that table."""
        for end in range(len(path), 0, -1):
            inside = (place for key, place in self.places.items() if key[:end] == path[:end])
            if (place := self.places.get(path[:end]) or next(inside, None)) is not None:
                return place
        return self.origin


def _scalar(kind: Kind, value: object) -> object:
    """`value` as a plain type, or _INVALID. A word from the command line may also be taken as the text it is."""
    meaning = _meaning(value)
    words = kinds.choices(kind)
    if words is not None:
        options = [meaning, value.raw] if isinstance(value, Word) else [meaning]
        same = (word for word in words for option in options if word == option and type(word) is type(option))
        return next((words[word] for word in same), _INVALID)
    if kind in {str, Path}:
        text = value.raw if isinstance(value, Word) and not isinstance(meaning, str) else meaning
        return kind(text) if isinstance(text, str) else _INVALID
    if kind is bool:
        return meaning if isinstance(meaning, bool) else _INVALID
    if isinstance(meaning, bool) or not isinstance(meaning, int | float):
        return _INVALID
    if kind is int:
        return meaning if isinstance(meaning, int) else _INVALID
    if isinstance(meaning, int) and abs(meaning) > _LARGEST:
        return _INVALID
    return _INVALID if math.isnan(meaning) else float(meaning)


def _meaning(value: object) -> object:
    return value.value if isinstance(value, Word) else value


def _blamed(message: str, path: Key, given: Mapping[str, object]) -> Key:
    """The key that a dataclass's own check speaks of, if the user gave it; else the first key given; else the table."""
    spoken = [key for key in given if re.search(rf"\b{re.escape(key)}\b", message)]
    return (*path, *[*spoken, *given][:1])


def _nearest(given: str, valid: Iterable[str], prefix: str = "", cutoff: float = 0.6) -> str:
    near = difflib.get_close_matches(given, valid, n=1, cutoff=cutoff)
    return f"; the nearest is {prefix + near[0]!r}" if near else ""
