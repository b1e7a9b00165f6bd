"""Layers of configuration into one dataclass: a preset, then a TOML file, then `key=value`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sightline.config.convert import Converter, Word
from sightline.config.toml_lines import Key, key_lines
from sightline.errors import UserError
from sightline.text.lines import open_bytes

T = TypeVar("T")

NONE_WORD = "none"
"""How TOML and `key=value` write an optional value that is absent."""


@dataclass(slots=True)
class _Given:
    """What the user gave, and where each key of it stands."""

    origin: str = "the configuration"
    values: dict[str, Any] = field(default_factory=dict)
    places: dict[Key, str] = field(default_factory=dict)
    mistakes: list[str] = field(default_factory=list)


def load(kind: type[T], path: Path | None, overrides: Sequence[str] = (), base: T | None = None) -> T:
    """`kind` from `base` (or its defaults), the TOML file over it, and the `key=value` arguments over that.

    Tables are laid over one another key by key. Where a key chooses another dataclass of a union, that table begins
    again from the defaults of the one chosen. All mistakes are reported at once.
    """
    given = _Given() if path is None else _read_file(path)
    for argument in overrides:
        _override(given, argument)
    return _convert(kind, given, base, NONE_WORD)


def from_text(kind: type[T], text: str, origin: str = "the configuration") -> T:
    """`kind` from the text of a TOML file."""
    return _convert(kind, _parse(text, origin), None, NONE_WORD)


def from_dict(kind: type[T], values: Mapping[str, object], origin: str = "the configuration") -> T:
    """`kind` from what `to_dict` made of it, as strictly as from a file; `origin` names it in errors."""
    return _convert(kind, _Given(origin, dict(values)), None, None)


def _convert(kind: type[T], given: _Given, base: T | None, none_word: str | None) -> T:
    converter = Converter(kind, given.places, given.origin, none_word)
    result: T = converter.table(kind, given.values, (), base)
    mistakes = given.mistakes + converter.mistakes
    if mistakes:
        raise UserError("\n".join([f"{len(mistakes)} mistakes in the configuration:", *mistakes][len(mistakes) == 1 :]))
    return result


def _read_file(path: Path) -> _Given:
    with open_bytes(path) as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 (byte {error.start}); save the configuration as UTF-8") from error
    return _parse(text, str(path))


def _parse(text: str, origin: str) -> _Given:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(error))
        line = (place and place[1]) or str(len(text.splitlines()) or 1)
        reason = str(error).replace(place[0], "") if place else str(error)
        message = f'{origin}:{line}: not valid TOML: {reason}; note that text stands in quotes, as in to = "en"'
        raise UserError(message) from error
    return _Given(origin, values, {key: f"{origin}:{line}" for key, line in key_lines(text).items()})


def _override(given: _Given, argument: str) -> None:
    name, equals, raw = argument.partition("=")
    keys = tuple(part.strip() for part in name.split("."))
    if not equals or not all(keys):
        given.mistakes.append(f"argument {argument!r}: expected key=value, such as seed=1 or model.layers=4")
        return
    word = Word.read(raw.strip())
    _put(given, keys, word.value if isinstance(word.value, dict) else word, f"argument {argument!r}")


def _put(given: _Given, keys: tuple[str, ...], value: object, place: str) -> None:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            _put(given, (*keys, key), inner, place)
        return
    table = given.values
    for key in keys[:-1]:
        if not isinstance(table.get(key), dict):
            table[key] = {}
        table = table[key]
    table[keys[-1]] = value
    for stale in [known for known in given.places if known[: len(keys)] == keys]:
        del given.places[stale]
    given.places[keys] = place
