"""What was measured, as plain values: medians and ratios with their spread, and one file that parts are merged into."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.prepare import processor
from bench.speed.data import ROOT
from sightline.study.timing import Spread

RESULTS = ROOT / "bench" / "results.json"
SWEEPS = ROOT / "bench" / "sweeps.json"
UNITS = ("avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_int8")


def ratio(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Spread:
    """Ours over theirs, taken in each round by itself: a machine that slows down in one slows both."""
    rounds = sorted(ours.keys() & theirs.keys())
    if not rounds:
        raise ValueError("no round has both")
    return Spread.of([ours[number] / theirs[number] for number in rounds])


def machine() -> dict[str, Any]:
    """Where it was measured."""
    flags = Path("/proc/cpuinfo").read_text().split() if Path("/proc/cpuinfo").exists() else []
    return {
        "processor": processor(),
        "units": [unit for unit in UNITS if unit in flags],
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "python": platform.python_version(),
        "torch": version("torch"),
        "system": platform.platform(),
    }


def read(path: Path = RESULTS) -> dict[str, Any]:
    """All that is known so far."""
    if not path.exists():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def write(results: Mapping[str, Any], path: Path = RESULTS) -> None:
    """The whole file, or the one before."""
    making = path.with_suffix(".part")
    making.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(making, path)


def part(measured: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """One part of the results, with its date and its machine: parts may be measured at other times, or elsewhere."""
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "commit": _commit(),
        "machine": machine(),
        "settings": dict(settings),
        **measured,
    }


def merged(results: Mapping[str, Any], name: str, measured: Mapping[str, Any]) -> dict[str, Any]:
    """With this part put in; the ratios follow from the parts."""
    parts = {**results.get("parts", {}), name: dict(measured)}
    five: dict[str, float] = {}
    further: dict[str, Any] = {}
    for name_of_part in ("train", "decode"):
        found = parts.get(name_of_part, {}).get("ratios", {})
        five |= {key: spread["median"] for key, spread in found.items() if key in HEADLINES}
        further |= found
    return {"ratios": five, "ratios_with_spread": further, "parts": parts}


HEADLINES = (
    "train_vs_best_peer",
    "beam5_batch_vs_ctranslate2",
    "greedy_batch_vs_ctranslate2",
    "beam5_single_vs_ctranslate2",
    "greedy_single_vs_ctranslate2",
)


def plain(spread: Spread) -> dict[str, float]:
    """For JSON, with the digits that mean something."""
    return {name: float(f"{value:.4g}") for name, value in asdict(spread).items()}


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
