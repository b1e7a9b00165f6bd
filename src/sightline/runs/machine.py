"""What this machine can do, what will be slow on it, what is missing."""

from __future__ import annotations

import importlib.util
import platform
import shutil
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from sightline.data.workers import cores
from sightline.native import compiler, why_not
from sightline.train.precision import SPEEDUP_WORTH_IT, product_rate

LITTLE_MEMORY, LITTLE_DISK = 4, 2  # GiB
EXTRAS = {
    "tensorboard": "curves of a run in TensorBoard (train.tensorboard=true)",
    "sacremoses": "evaluate --moses",
    "ctranslate2": "export, --engine ctranslate2",
}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Facts by name, and advice in sentences."""

    facts: dict[str, Any]
    advice: tuple[str, ...]

    def text(self) -> str:
        width = max(map(len, self.facts))
        facts = [f"{name:<{width}}  {value}" for name, value in self.facts.items()]
        advice = [f"- {line}" for line in self.advice] or ["nothing is missing"]
        return "\n".join([*facts, "", *advice])


def diagnose(folder: Path) -> Diagnosis:
    """Look at this machine, for a second or two, the first time for as long as the kernels take to compile.

    `folder` is where runs would be kept.
    """
    memory, disk = _memory(), shutil.disk_usage(_existing(folder)).free / 2**30
    fp32, bf16 = product_rate(torch.float32), product_rate(torch.bfloat16)
    cards = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    facts = {
        "sightline": metadata.version("sightline"),
        "Python": platform.python_version(),
        "PyTorch": torch.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": cores(),
        "threads": torch.get_num_threads(),
        "memory free": "unknown" if memory is None else f"{memory:.1f} GiB",
        "disk free": f"{disk:.1f} GiB",
        "products, fp32": f"{fp32 / 1e9:,.0f} GFLOP/s",
        "products, bf16": f"{bf16 / 1e9:,.0f} GFLOP/s",
        "CUDA": ", ".join(cards) or "no card",
        "C++ compiler": compiler() or "none",
        "C++ kernels": "none" if why_not("kernels") else "ready",
    }
    return Diagnosis(facts, tuple(_advice(memory, disk, bf16 / fp32, bool(cards), why_not("kernels"))))


def _advice(memory: float | None, disk: float, gain: float, card: bool, kernels: str) -> list[str]:
    found = []
    if gain < SPEEDUP_WORTH_IT and not card:
        found.append(f"bf16 products are only {gain:.1f} times as fast as fp32 here, so training takes fp32 and is slow")
    if memory is not None and memory < LITTLE_MEMORY:
        found.append("little memory is free: take a smaller train.tokens, or train.accumulate=2")
    if disk < LITTLE_DISK:
        found.append("little disk is free: checkpoints of a run need about six times its model")
    if cores() > 1 and torch.get_num_threads() == 1:
        found.append("only one thread is used; OMP_NUM_THREADS says so")
    found += [f"{name} is not installed: {use}" for name, use in EXTRAS.items() if importlib.util.find_spec(name) is None]
    if kernels:
        found.append(f"training and translating are several times slower than they could be, without kernels in C++: {kernels}")
    return found


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there already."""
    return next((place for place in (folder, *folder.absolute().parents) if place.exists()), Path())


def _memory() -> float | None:
    """GiB that could be had without swapping."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 2**20 for line in lines if line.startswith("MemAvailable:")), None)


def processor() -> str:
    """Its name, and the units by which it computes many numbers at once."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
    flags = next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), [])
    units = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_int8") if flag in flags]
    return f"{name} ({', '.join(units) or 'no vector units found'})"
