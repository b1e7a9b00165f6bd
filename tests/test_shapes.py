"""Shapes stand in the signatures of everything that takes or gives tensors, and they are executed in the tests.

A public function of these layers says the shape of every tensor in its signature. A tensor of any shape may stand inside
`Callable`, `Mapping` and `dict`: what is handed through whatever its shape, and weights by their name.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from jaxtyping import TypeCheckError

from sightline.models.transformer import TransformerDecoder
from sightline.nn.masks import over_keys
from sightline.nn.scores import dot
from sightline.nn.state import State
from sightline.tasks.translation import Batch

LAYERS = ("nn", "models", "tasks", "decode", "look")
SHAPED = {"Float", "Int", "Bool", "Num", "Shaped", "Integer", "Inexact", "Real", "UInt8", "Int16", "Int32", "Int64", "Float32"}
ANY_SHAPE = {"Callable", "Mapping", "dict"}
CALLED = {"__call__", "forward"}


def has_bare_tensor(annotation: ast.expr | None) -> bool:
    """Whether a tensor stands in an annotation without its shape."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return has_bare_tensor(ast.parse(annotation.value, mode="eval").body)
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) in SHAPED | ANY_SHAPE | {"Literal"}:
        return False
    if isinstance(annotation, ast.Name):
        return annotation.id == "Tensor"
    if isinstance(annotation, ast.Attribute):
        return annotation.attr == "Tensor"
    return annotation is not None and any(
        has_bare_tensor(child) for child in ast.iter_child_nodes(annotation) if isinstance(child, ast.expr)
    )


def public_functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    """Functions and methods that others call; what is inside a function is its own affair."""
    for node in body:
        if isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name in CALLED):
            yield node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body)


def faults(source: str, file: str) -> list[str]:
    """The public functions of a file that keep a shape to themselves."""
    found = []
    for function in public_functions(ast.parse(source).body):
        given = function.args
        arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
        if any(has_bare_tensor(note) for note in (function.returns, *(argument.annotation for argument in arguments))):
            found.append(f"{file}:{function.lineno} {function.name}: a Tensor without its shape")
    return found


def test_every_tensor_in_a_public_signature_has_a_shape(repository: Path) -> None:
    package = repository / "src" / "sightline"
    paths = [path for layer in LAYERS for path in sorted((package / layer).rglob("*.py"))]
    found = [fault for path in paths for fault in faults(path.read_text("utf-8"), str(path.relative_to(repository)))]
    assert len(paths) > 20
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x: Tensor) -> None: ...",
        "def f(x: int) -> torch.Tensor: ...",
        "def f(x: 'Tensor | None') -> None: ...",
        "def f(*, x: list[tuple[Tensor, int]]) -> None: ...",
        "class A:\n    def forward(self, x: Tensor) -> None: ...",
        "class A:\n    def __call__(self, *x: Tensor) -> None: ...",
    ],
)
def test_a_missing_shape_is_seen(source: str) -> None:
    assert faults(source, "x.py")


@pytest.mark.parametrize(
    "source",
    [
        'def f(x: Float[Tensor, "B T"] | None) -> tuple[Int[Tensor, "B"], State]: ...',
        "def f(change: Callable[[Tensor], Tensor], weights: dict[str, Tensor]) -> None: ...",
        "def _f(x: Tensor) -> None: ...",
        "class _A:\n    def forward(self, x: Tensor) -> None: ...",
        "def f(kind: Literal['Tensor']) -> None: ...",
        "def f() -> None:\n    def g(x: Tensor) -> None: ...",
    ],
)
def test_what_has_its_shapes_is_let_through(source: str) -> None:
    assert not faults(source, "x.py")


def test_shapes_are_executed_in_every_layer_that_has_them(repository: Path) -> None:
    options = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]["addopts"]
    (packages,) = (option.split("=", 1)[1].split(",") for option in options if option.startswith("--jaxtyping-packages="))
    assert {f"sightline.{layer}" for layer in LAYERS} <= set(packages)
    assert packages[-1] == "beartype.beartype"


def test_a_wrong_shape_raises() -> None:
    assert dot(torch.zeros(1, 2, 3, 4), torch.zeros(1, 2, 5, 4)).shape == (1, 2, 3, 5)
    with pytest.raises(TypeCheckError):
        dot(torch.zeros(1, 2, 3, 4), torch.zeros(1, 2, 5, 6))
    with pytest.raises(TypeCheckError):
        over_keys(torch.zeros(2, 3))  # numbers where truth values are asked for
    with pytest.raises(TypeCheckError):
        TransformerDecoder.forward(torch.nn.Identity(), torch.zeros(2, 3), State())  # type: ignore[arg-type]
    with pytest.raises(TypeCheckError):
        Batch(*(torch.zeros(2, dtype=torch.int64) for _ in range(4)))
