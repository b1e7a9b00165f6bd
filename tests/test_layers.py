"""One direction: imports only point left. Read from the source, so that no import is missed because no test runs it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

LAYERS = (
    "text", "config", "data", "evaluate", "native", "nn", "models", "tasks", "train", "decode", "look", "presets", "runs", "api",
    "study", "serve", "cli",
)  # fmt: skip
WITHOUT_TORCH = ("text", "config", "data", "evaluate")
TORCH = {"torch", "transformers"}  # and what would bring it along
EVERYWHERE = "errors"
APART = {("decode", "train"), ("look", "train")}  # opening a finished model never needs the trainer


def imports(source: str, package: str) -> Iterator[str]:
    """The full names that a module of `package` imports, anywhere in it; of `from a import b` both a and a.b."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{name.name}" for name in node.names)


def faults(module: str, source: str) -> list[str]:
    """What a module (`sightline.nn.masks`) imports and must not."""
    own, package = module.split(".")[1], module.rpartition(".")[0]
    found = []
    for name in imports(source, package):
        parts = name.split(".")
        if own in WITHOUT_TORCH and (parts[0] in TORCH or name == "safetensors.torch"):
            found.append(f"{module} imports {name}: {own} does without torch")
        if parts[0] != "sightline" or len(parts) == 1:
            continue
        layer = parts[1]
        if own == EVERYWHERE and layer != EVERYWHERE:
            found.append(f"{module} imports {name}: everything imports errors")
        elif layer in LAYERS and own in LAYERS and LAYERS.index(layer) > LAYERS.index(own):
            found.append(f"{module} imports {name}: {layer} stands right of {own}")
        elif (own, layer) in APART:
            found.append(f"{module} imports {name}: {own} must do without {layer}")
    return sorted(set(found))


def modules(repository: Path) -> dict[str, Path]:
    """Every module of the package by its full name; a package's own file is named after its __init__."""
    source = repository / "src"
    return {".".join(path.relative_to(source).with_suffix("").parts): path for path in sorted(source.rglob("*.py"))}


def test_imports_point_left(repository: Path) -> None:
    found = [fault for name, path in modules(repository).items() for fault in faults(name, path.read_text("utf-8"))]
    assert not found, "\n".join(found)


def test_every_part_of_the_package_has_its_layer(repository: Path) -> None:
    package = repository / "src" / "sightline"
    parts = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts <= {*LAYERS, EVERYWHERE, "__init__", "__main__"}
    assert {"text", "config", "data", "evaluate", "nn", "models", "tasks", "train", "decode"} <= parts


def test_torch_is_not_loaded_by_the_layers_without_it(repository: Path) -> None:
    names = [name.removesuffix(".__init__") for name in modules(repository) if name.split(".")[1] in WITHOUT_TORCH]
    program = f"import importlib, sys\nfor name in {names!r}: importlib.import_module(name)\nsys.exit('torch' in sys.modules)"
    assert len(names) > 10
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("sightline.text.lines", "import torch"),
        ("sightline.text.lines", "def f():\n    from torch import Tensor"),
        ("sightline.evaluate.bleu", "from safetensors.torch import load_file"),
        ("sightline.data.pairs", "import torch.nn.functional as F"),
        ("sightline.config.read", "from sightline.data.pairs import Pair"),
        ("sightline.nn.masks", "from sightline import models"),
        ("sightline.nn.masks", "from ..models.build import build"),
        ("sightline.nn.masks", "import sightline.cli"),
        ("sightline.nn.__init__", "from ..train import loop"),
        ("sightline.train.loop", "if True:\n    from sightline.decode.search import beam"),
        ("sightline.decode.search", "from sightline.train.loop import train"),
        ("sightline.errors", "from sightline.text.lines import Line"),
    ],
)
def test_what_must_not_be_imported_is_seen(module: str, source: str) -> None:
    assert faults(module, source)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("sightline.nn.masks", "import torch\nfrom sightline.errors import UserError\nfrom sightline.nn.state import State"),
        ("sightline.decode.search", "from sightline.models.build import build\nfrom .options import Options"),
        ("sightline.cli.main", "from sightline import __version__, api"),
        ("sightline.__main__", "from sightline.cli import main"),
        ("sightline.text.lines", "import tokenizers\nfrom safetensors import SafetensorError"),
    ],
)
def test_what_may_be_imported_is_let_through(module: str, source: str) -> None:
    assert not faults(module, source)
