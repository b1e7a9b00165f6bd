"""What the type of a field allows: its words, its members, its description, its keys."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

Kind = Any
"""The type of a field as written: a class, a Literal, a union, a tuple."""

_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text", Path: "a path"}


def origin(kind: Kind) -> object:
    """What stands before the brackets of `kind`; None where there are none."""
    return get_origin(kind)


def is_table(kind: Kind) -> bool:
    return isinstance(kind, type) and is_dataclass(kind)


def is_enum(kind: Kind) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def is_union(kind: Kind) -> bool:
    return origin(kind) in {Union, types.UnionType}


def bare(kind: Kind) -> Kind:
    """The type without what `Annotated` hangs on it."""
    return get_args(kind)[0] if origin(kind) is Annotated else kind


def label(member: Enum) -> str:
    """What one writes for a member of an enumeration."""
    return member.value if isinstance(member.value, str) else member.name


def choices(kind: Kind) -> dict[str | int | bool, object] | None:
    """What may be written for a Literal or an enumeration, and what it stands for; None for other types."""
    if origin(kind) is Literal:
        return {word: word for word in get_args(kind)}
    if is_enum(kind):
        return {label(member): member for member in kind}
    return None


def describe(kind: Kind) -> str:
    """What is expected, in words."""
    kind = bare(kind)
    words = choices(kind)
    if words is not None:
        return ("one of " if len(words) > 1 else "") + ", ".join(map(repr, words))
    if kind is type(None):
        return "none"
    if is_table(kind):
        return f"a table of {', '.join(settable(kind)) or 'no keys'}"
    if is_union(kind):
        return " or ".join(dict.fromkeys(map(describe, get_args(kind))))
    if origin(kind) is tuple:
        members = get_args(kind)
        if members[1:] == (...,):
            return f"a list, each {describe(members[0])}"
        return f"a list of {len(members)}: {', '.join(map(describe, members))}"
    if kind not in _NAMES:
        raise TypeError(f"a configuration cannot hold {kind!r}")
    return _NAMES[kind]


def settable(kind: Kind) -> dict[str, tuple[Kind, object]]:
    """The fields of a dataclass: name to (type, default), the default MISSING where there is none."""
    hints = get_type_hints(kind)
    return {field.name: (bare(hints[field.name]), _default(field)) for field in fields(kind) if field.init}


def _default(field: Field[Any]) -> object:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def discriminator(members: list[Kind]) -> tuple[str, dict[object, Kind]]:
    """The field whose Literal tells the dataclasses of a union apart, and which value means which of them."""
    tables = {member: settable(member) for member in members}
    for name in tables[members[0]]:
        if all(name in table and origin(table[name][0]) is Literal for table in tables.values()):
            words = [(word, member) for member, table in tables.items() for word in get_args(table[name][0])]
            if len(dict(words)) == len(words):
                return name, dict(words)
    names = ", ".join(member.__name__ for member in members)
    raise TypeError(f"nothing tells {names} apart: give each a Literal field with words of its own")


def dotted_keys(kind: Kind, prefix: str = "", above: tuple[Kind, ...] = ()) -> Iterator[str]:
    """Every key that can be set in a dataclass and the tables inside it, such as `model.layers`."""
    if is_table(kind) and kind not in above:
        for name, (inner, _) in settable(kind).items():
            yield prefix + name
            yield from dotted_keys(inner, f"{prefix}{name}.", (*above, kind))
    elif is_union(kind):
        for member in get_args(kind):
            yield from dotted_keys(bare(member), prefix, above)


def dotted(path: tuple[str | int, ...]) -> str:
    """A way to a value as one writes it: `systems[1].model.layers`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
