"""Whatever a configuration holds comes back from TOML and from JSON as it was."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.config import dump_toml, from_dict, load, to_dict
from sightline.config.toml_lines import Key, key_lines


class Colour(StrEnum):
    RED = "red"
    BLUE = "dark blue"


@dataclass(frozen=True)
class Leaf:
    kind: Literal["leaf"] = "leaf"
    text: str = ""
    numbers: tuple[float, ...] = ()
    pairs: tuple[tuple[int, str], ...] = ()
    size: int | Literal["auto", "none"] = "auto"


@dataclass(frozen=True)
class Branch:
    kind: Literal["branch"]
    left: Leaf | None = Leaf()
    right: Leaf = Leaf()
    many: tuple[Leaf, ...] = ()
    mixed: tuple[Leaf | str, ...] = ()


@dataclass(frozen=True)
class Tree:
    count: int
    flag: bool
    colour: Colour
    path: Path | None
    limit: float | None
    top: Leaf | Branch
    maybe: Leaf | Branch | None = None


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.floats(allow_nan=False)
leaves = st.builds(
    Leaf,
    text=texts,
    numbers=st.lists(numbers, max_size=3).map(tuple),
    pairs=st.lists(st.tuples(st.integers(), texts), max_size=2).map(tuple),
    size=st.integers() | st.sampled_from(["auto", "none"]),
)
branches = st.builds(
    Branch,
    kind=st.just("branch"),
    left=st.none() | leaves,
    right=leaves,
    many=st.lists(leaves, max_size=3).map(tuple),
    mixed=st.lists(leaves | texts, max_size=3).map(tuple),
)
trees = st.builds(
    Tree,
    count=st.integers(),
    flag=st.booleans(),
    colour=st.sampled_from(Colour),
    path=st.none() | texts.filter(lambda text: text != "none").map(Path),
    limit=st.none() | numbers,
    top=leaves | branches,
    maybe=st.none() | leaves | branches,
)


@given(trees)
def test_toml_and_json_bring_it_back(tree: Tree) -> None:
    text = dump_toml(tree)
    base = Tree(0, False, Colour.RED, None, None, Leaf(text="from the base"))
    assert from_dict(Tree, json.loads(json.dumps(to_dict(tree)))) == tree
    for line in text.partition("\n\n")[0].splitlines():  # a plain line of the file also passes as one key=value
        field = line.split(" ")[0]
        assert getattr(load(Tree, None, [line], base), field) == getattr(tree, field)
    assert dump_toml(load(Tree, None, text.partition("\n\n")[0].splitlines(), tree)) == text


@given(trees)
def test_a_file_outweighs_the_base(tmp_path_factory: pytest.TempPathFactory, tree: Tree) -> None:
    path = tmp_path_factory.mktemp("config") / "run.toml"
    path.write_text(dump_toml(tree), encoding="utf-8")
    assert load(Tree, path, base=Tree(0, False, Colour.RED, None, None, Leaf(text="from the base"))) == tree


def paths(value: object, path: Key = ()) -> set[Key]:
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    return {path} | {found for key, item in inner for found in paths(item, (*path, key))}


@given(trees)
def test_every_key_has_a_line_that_shows_it(tree: Tree) -> None:
    text = dump_toml(tree)
    lines = key_lines(text)
    assert set(lines) | {()} == paths(tomllib.loads(text))
    rows = text.split("\n")
    for path, line in lines.items():
        name = next(part for part in reversed(path) if isinstance(part, str))
        assert name in rows[line - 1]


AWKWARD = """\
title = "a # no comment" # [no.table]
'quoted "key"' = '''
[not.a.table]
x = 1''''
"es\\u0063aped" . sub = [ # array
  1.5, 1979-05-27 07:32:00, [ "]", '}' ],
  { a = 1, b.c = "=" },
]

[ spaced . "dotted.key" ]
1.2 = true
text = \"\"\"
a \\\"\"\" [b] = \"\"\"\"
after = -inf
[[rows]]
[[rows]]
[rows.inner]
x = {}
[[rows.deep]]
y = 1
[[rows.deep]]
"""


def test_lines_of_an_awkward_text() -> None:
    lines = key_lines(AWKWARD)
    assert set(lines) | {()} == paths(tomllib.loads(AWKWARD))
    expected = {
        ("title",): 1,
        ('quoted "key"',): 2,
        ("escaped", "sub"): 5,
        ("escaped", "sub", 0): 6,
        ("escaped", "sub", 3, "b", "c"): 7,
        ("spaced", "dotted.key"): 10,
        ("spaced", "dotted.key", "1", "2"): 11,
        ("spaced", "dotted.key", "after"): 14,
        ("rows",): 15,
        ("rows", 1): 16,
        ("rows", 1, "inner", "x"): 18,
        ("rows", 1, "deep", 0, "y"): 20,
        ("rows", 1, "deep", 1): 21,
    }
    assert {key: lines[key] for key in expected} == expected
