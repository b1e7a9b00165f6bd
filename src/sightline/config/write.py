"""Dataclasses into plain values and into TOML that `load` reads back as the same thing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from sightline.config.kinds import label
from sightline.config.read import NONE_WORD, from_text


def to_dict(config: object) -> dict[str, Any]:
    """The configuration as values that JSON can hold; `from_dict` reads it back."""
    return {field.name: _plain(getattr(config, field.name), None) for field in _written(config)}


def fingerprint(config: object) -> str:
    """Sixteen hexadecimal digits that two configurations share exactly when all their values are the same."""
    text = json.dumps(to_dict(config), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def dump_toml(config: object) -> str:
    """The configuration as TOML, every key written out; `load` gives an equal one back."""
    values = {field.name: _plain(getattr(config, field.name), NONE_WORD) for field in _written(config)}
    text = "\n".join(_lines(values, "")).strip("\n") + "\n"
    if from_text(type(config), text) != config:
        raise ValueError(f"TOML cannot hold this configuration: an optional text may not be {NONE_WORD!r}:\n{text}")
    return text


def _written(config: object) -> list[Any]:
    if isinstance(config, type) or not is_dataclass(config):
        raise TypeError(f"a configuration is a dataclass, not {config!r}")
    return [field for field in fields(config) if field.init]


def _plain(value: object, none: str | None) -> Any:
    if value is None:
        return none
    if isinstance(value, Enum):
        return label(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item, none) for item in value]
    if isinstance(value, bool | int | float | str):
        return value
    return {field.name: _plain(getattr(value, field.name), none) for field in _written(value)}


def _lines(values: dict[str, Any], path: str) -> Iterator[str]:
    """Plain keys first: in TOML whatever follows a table's header belongs to that table."""
    tables = {key: value for key, value in values.items() if isinstance(value, dict)}
    arrays = {
        key: value
        for key, value in values.items()
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
    }
    for key, value in values.items():
        if key not in tables and key not in arrays:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in tables.items():
        yield f"\n[{path}{_key(key)}]"
        yield from _lines(value, f"{path}{_key(key)}.")
    for key, items in arrays.items():
        for item in items:
            yield f"\n[[{path}{_key(key)}]]"
            yield from _lines(item, f"{path}{_key(key)}.")


def _value(value: Any) -> str:
    if isinstance(value, str):  # JSON's escapes are TOML's too; TOML alone refuses a bare DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {_value(item)}' for key, item in value.items())}}}"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _key(name: str) -> str:
    return name if name.isascii() else _value(name)
