"""The pins: everything that is needed, exactly, and nothing else."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distribution, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version


def pins(repository: Path) -> dict[str, str]:
    lines = (repository / "requirements.lock").read_text("utf-8").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines), "a line is not name==version"
    return {str(canonicalize_name(name)): pin for name, pin in (line.split("==") for line in lines)}


def asked_for(repository: Path) -> list[Requirement]:
    """What pyproject.toml names itself: to run, to develop, to build."""
    whole = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))
    project = whole["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values(), whole["build-system"]["requires"]]
    return [Requirement(line) for group in groups for line in group]


def needed(first: list[Requirement]) -> set[str]:
    """The names of all that is asked for and of all that these ask for in turn."""
    seen: set[tuple[str, str]] = set()
    waiting = list(first)
    while waiting:
        requirement = waiting.pop()
        name = str(canonicalize_name(requirement.name))
        for extra in {"", *requirement.extras} - {extra for known, extra in seen if known == name}:
            seen.add((name, extra))
            further = [Requirement(line) for line in distribution(name).requires or []]
            waiting += [r for r in further if r.marker is None or r.marker.evaluate({"extra": extra})]
    return {name for name, _ in seen}


def test_the_pins_are_what_is_needed(repository: Path) -> None:
    # A GPU build of torch brings libraries that the pins, made for any machine, leave to it.
    for_cards = {name for name in needed(asked_for(repository)) if name.startswith(("nvidia-", "cuda-", "triton"))}
    assert needed(asked_for(repository)) - for_cards == set(pins(repository))


def test_the_pins_are_what_is_asked_for_and_installed(repository: Path) -> None:
    pinned = pins(repository)
    for requirement in asked_for(repository):
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), requirement
    installed = {name: Version(version(name)).public for name in pinned}
    assert installed == pinned
