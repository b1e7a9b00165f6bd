"""Reading a file never runs code, and nothing opens a connection: what SECURITY.md says, read from the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

RUN_WHAT_THEY_READ = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "imp", "runpy"}
CONNECT = {"socket", "ssl", "http", "urllib", "ftplib", "smtplib", "requests", "httpx", "httpx2", "huggingface_hub"}
BETWEEN_PROCESSES = re.compile("(broadcast|scatter|gather|all_gather|send|recv)_object(_list)?")  # PyTorch's, which pickle
CALLS = {"eval", "exec", "compile", "__import__", "torch.load", "torch.hub.load", "torch.jit.load", "pd.read_pickle"}


def faults(source: str, file: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [str(node.module)]
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            pickles = any(word.arg == "allow_pickle" and ast.unparse(word.value) != "False" for word in node.keywords)
            if called in CALLS or pickles:
                found.append(f"{file}:{node.lineno} calls {called}")
        named = [node.attr] if isinstance(node, ast.Attribute) else []
        if isinstance(node, ast.ImportFrom):
            named = [name.name for name in node.names]
        found += [f"{file}: {name} sends pickles" for name in named if BETWEEN_PROCESSES.fullmatch(name)]
        found += [
            f"{file}:{node.lineno} imports {name}"  # type: ignore[attr-defined]  # only statements have names here
            for name in names
            if name.partition(".")[0] in RUN_WHAT_THEY_READ | CONNECT
        ]
    return found


def test_nothing_read_is_run_and_nothing_connects(repository: Path) -> None:
    paths = sorted((repository / "src").rglob("*.py"))
    found = [fault for path in paths for fault in faults(path.read_text("utf-8"), str(path.relative_to(repository)))]
    assert len(paths) > 50
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "def f():\n    from pickle import loads",
        "import urllib.request",
        "torch.load(path, weights_only=True)",
        "numpy.load(path, allow_pickle=True)",
        "eval(text)",
        "dist.broadcast_object_list(box)",
        "torch.distributed.all_gather_object(box, own)",
        "send = dist.send_object_list",
        "from torch.distributed import gather_object as gather",
    ],
)
def test_a_way_in_is_seen(source: str) -> None:
    assert faults(source, "x.py")


def test_what_is_safe_is_let_through() -> None:
    assert not faults(
        "import json\nmodel.eval()\nre.compile('x')\ntorch.compile(f)\nnp.load(p, allow_pickle=False)\ndist.broadcast(t, 0)",
        "x.py",
    )
