"""What `doctor` finds, and what it advises on which machine."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from sightline.runs import machine
from sightline.runs.machine import diagnose

Usage = namedtuple("Usage", "total used free")
GIB = 2**30


@dataclass
class Found:
    """A machine that lacks nothing; each test takes something away."""

    cores: int = 1
    threads: int = 1
    cards: int = 0
    memory: float | None = 16.0
    disk: float = 100.0
    bf16: float = 4.0  # products, times as fast as fp32
    kernels: str = ""  # why there are none
    installed: bool = True


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Found:
    here = Found()
    monkeypatch.setattr(machine, "cores", lambda: here.cores)
    monkeypatch.setattr(machine, "product_rate", lambda kind: 1e9 * (here.bf16 if kind is torch.bfloat16 else 1))
    monkeypatch.setattr(machine, "_memory", lambda: here.memory)
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda folder: Usage(0, 0, here.disk * GIB))
    monkeypatch.setattr(machine, "why_not", lambda name: here.kernels)
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: "" if here.installed else None)
    monkeypatch.setattr(torch, "get_num_threads", lambda: here.threads)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: here.cards)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: f"card {number}")
    return here


def test_a_machine_that_lacks_nothing_gets_no_advice(found: Found) -> None:
    diagnosis = diagnose(Path())
    assert diagnosis.advice == ()
    assert diagnosis.text().endswith("\n\nnothing is missing")


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ({"bf16": 1.1}, "bf16 products are only 1.1 times as fast"),
        ({"memory": 1.0}, "little memory is free"),
        ({"disk": 1.0}, "little disk is free"),
        ({"cores": 2, "cards": 1}, "only one thread is used"),
        ({"kernels": "no C++ compiler; install one"}, "without kernels in C++: no C++ compiler; install one"),
    ],
)
def test_each_lack_gets_its_own_advice(found: Found, change: dict[str, float], advice: str) -> None:
    for name, value in change.items():
        setattr(found, name, value)
    (line,) = diagnose(Path()).advice
    assert advice in line


def test_packages_that_are_not_there_are_named_with_their_use(found: Found) -> None:
    found.installed = False
    assert [line.split(":")[0] for line in diagnose(Path()).advice] == [f"{name} is not installed" for name in machine.EXTRAS]


@pytest.mark.parametrize("change", [{"bf16": 1.1, "cards": 1}, {"cores": 2, "threads": 2, "cards": 1}, {"memory": None}])
def test_no_advice_where_it_would_be_idle(found: Found, change: dict[str, float | None]) -> None:
    for name, value in change.items():
        setattr(found, name, value)
    assert diagnose(Path()).advice == ()


def test_a_folder_that_is_not_there_yet_is_judged_by_the_nearest_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(machine, "product_rate", lambda kind: 1e9)
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda folder: asked.append(folder) or Usage(0, 0, GIB))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    for folder in (Path("there"), Path("not/yet"), tmp_path / "there" / "not" / "yet"):
        diagnose(folder)
    assert asked == [Path("there"), tmp_path, tmp_path / "there"]
