"""What a user meets first: the names of `import sightline`, and a command that answers at once."""

from __future__ import annotations

import ast
import resource
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import sightline

HELP = "import sys\nfrom sightline.cli import main\nsys.argv = ['sightline', *sys.argv[1:]]\n"
# Programs are written against these: taking one away breaks them, and adding one is a promise.
NAMES = [
    "Candidate", "Explanation", "Hypothesis", "Model", "Outcome", "PairScore", "Request", "SampleOptions", "SearchOptions",
    "Translation", "UserError", "load", "train_model",
]  # fmt: skip
WITHOUT_TORCH = "import atexit, os, sys\natexit.register(lambda: 'torch' in sys.modules and os._exit(99))\n"


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)


def from_elsewhere(path: Path) -> set[str]:
    """The names that a module imports from outside Sightline: its tools, not its offer."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not str(node.module).startswith("sightline")):
            names.update(name.asname or name.name.partition(".")[0] for name in node.names)
    return names


def test_public_names_are_sorted_and_there() -> None:
    assert list(sightline.__all__) == NAMES == sorted(NAMES)
    assert all(getattr(sightline, name) is not None for name in sightline.__all__)


def test_every_public_name_is_listed() -> None:
    assert sightline.__file__ is not None
    offered = {name for name, value in vars(sightline).items() if not isinstance(value, ModuleType) and not name.startswith("_")}
    assert offered - from_elsewhere(Path(sightline.__file__)) <= set(sightline.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        sightline.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_importing_sightline_loads_no_torch() -> None:
    assert run(WITHOUT_TORCH + "import sightline\nsightline.__all__").returncode == 0
    assert run(WITHOUT_TORCH + "import torch").returncode == 99


def test_help_loads_no_torch() -> None:
    done = run(WITHOUT_TORCH + HELP + "sys.exit(main())", "--help")
    assert done.returncode == 0, done.stderr
    assert "translate" in done.stdout


def test_the_help_of_every_command_loads_no_torch() -> None:
    program = (
        WITHOUT_TORCH
        + HELP
        + "import typer\nfrom sightline.cli import app\n"
        + "for name in typer.main.get_command(app).commands:\n"
        + "    sys.argv = ['sightline', name, '--help']\n"
        + "    try:\n        main()\n    except SystemExit as end:\n        assert not end.code, name\n"
    )
    done = run(program)
    assert done.returncode == 0, done.stderr
    assert "--help" in done.stdout


def processor_seconds() -> float:
    """What all children that have ended took; waiting for a processor that another program has is not counted."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_help_is_there_at_once() -> None:
    times = []
    for _ in range(5):
        before = processor_seconds()
        assert run(HELP + "sys.exit(main())", "--help").returncode == 0
        times.append(processor_seconds() - before)
    assert min(times) < 0.3, times
