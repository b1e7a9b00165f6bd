"""The peers' environments: each made from its pins in bench/peers/*.lock, in bench/.envs/, and made anew when those change."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

from bench.speed.data import ROOT

LOCKS = ROOT / "bench" / "peers"
ENVIRONMENTS = ROOT / "bench" / ".envs"
# The trainers share one environment: each is installed without what it says it needs, for two of them ask for a PyTorch of
# years ago, and torch.lock holds all that they are found to need, one version of each.
OF = {"transformers": "torch", "opennmt": "torch", "eole": "torch", "joeynmt": "torch", "ctranslate2": "ctranslate2"}
LIMIT = 3600  # seconds for one environment


def python_of(system: str) -> Path:
    """The interpreter that runs this program."""
    return ENVIRONMENTS / OF[system] / "bin" / "python" if system in OF else Path(sys.executable)


def set_up() -> dict[str, str]:
    """Every environment, ready; where one could not be made, why, by the environment's name."""
    return {name: trouble for name in sorted(set(OF.values())) if (trouble := _set_up(name))}


def _set_up(name: str) -> str:
    lock = LOCKS / f"{name}.lock"
    folder, wanted = ENVIRONMENTS / name, hashlib.sha256(lock.read_bytes()).hexdigest()
    stamp = folder / ".ready"
    if stamp.exists() and stamp.read_text() == wanted:
        return ""
    print(f"setting up {folder} (minutes, once)", file=sys.stderr)
    venv.create(folder, with_pip=True, clear=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    try:
        done = subprocess.run([*pip, "--no-deps", "-r", str(lock)], capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"the installation did not end within {LIMIT} s"
    if done.returncode:
        return f"could not be installed: {done.stderr.strip()[-500:]}"
    stamp.write_text(wanted)
    return ""


def versions(system: str) -> dict[str, str]:
    """What is pinned for this program."""
    lines = (LOCKS / f"{OF[system]}.lock").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
