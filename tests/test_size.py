"""The tail of sizes: a file and a function that nobody wants to read do not come into being."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

LONGEST_FILE = 400
LONGEST_BODY = 80
LONGEST_USUAL_BODY = 60  # of all but one function in a hundred


class Body(NamedTuple):
    """A function and the lines of its body, its docstring not counted."""

    lines: int
    where: str


def bodies(source: str, file: str) -> list[Body]:
    """Every function of a file, those inside others too."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            rest = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            lines = (rest[-1].end_lineno or 0) - rest[0].lineno + 1 if rest else 0
            found.append(Body(lines, f"{file}:{node.lineno} {node.name}"))
    return found


def percentile_99(found: Sequence[Body]) -> int:
    """The length that 99 of 100 bodies do not exceed."""
    ordered = sorted(body.lines for body in found)
    return ordered[math.ceil(0.99 * len(ordered)) - 1]


def sources(repository: Path, *folders: str) -> list[Path]:
    """What lies in a folder with a dot, such as another program's environment, is not ours."""
    paths = [path for folder in folders for path in sorted((repository / folder).rglob("*.py"))]
    return [path for path in paths if not any(part.startswith(".") for part in path.relative_to(repository).parts)]


def test_no_file_is_long(repository: Path) -> None:
    paths = sources(repository, "src", "bench", "tests")
    sizes = {path.relative_to(repository): len(path.read_text("utf-8").splitlines()) for path in paths}
    assert len(sizes) > 50
    assert not {path: lines for path, lines in sizes.items() if lines > LONGEST_FILE}


def test_no_function_is_long(repository: Path) -> None:
    found = [
        body
        for path in sources(repository, "src", "bench")
        for body in bodies(path.read_text("utf-8"), str(path.relative_to(repository)))
    ]
    longest = sorted(found, reverse=True)[:10]
    report = "\n".join(f"{body.lines:4} lines  {body.where}" for body in longest)
    assert len(found) > 100
    assert longest[0].lines <= LONGEST_BODY, report
    assert percentile_99(found) <= LONGEST_USUAL_BODY, report


def test_a_body_is_counted_without_its_docstring() -> None:
    source = 'def f():\n    """One\n    two\n    three."""\n    a = 1\n\n    def g():\n        return 2\n    return a\n'
    assert [(body.lines, body.where) for body in bodies(source, "x.py")] == [(5, "x.py:1 f"), (1, "x.py:7 g")]
    assert bodies('async def f():\n    """Only this."""\n', "x.py") == [Body(0, "x.py:1 f")]


def test_one_in_a_hundred_may_be_longer() -> None:
    many = [Body(3, "")] * 198
    assert percentile_99([*many, Body(70, ""), Body(75, "")]) == 3
    assert percentile_99([*many[1:], Body(65, ""), Body(70, ""), Body(75, "")]) == 65
