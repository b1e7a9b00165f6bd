"""From C++ sources to a loaded library: compiled once per machine and version, kept in the user's cache.

The sources use no header but the standard library's, so that compiling takes seconds; tensors are handed over as addresses.
OpenMP resolves to the runtime that PyTorch brings, so that both share one pool of threads. Where there is no compiler, callers
get None and take PyTorch's operations instead: slower, and the same to within rounding.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

import torch  # noqa: F401  loads the OpenMP runtime that our libraries are to share

SOURCES = Path(__file__).parent
SWITCH = "SIGHTLINE_NATIVE"  # 0: compile and load nothing
FLAGS = (
    "-std=c++20 -O3 -march=native -mprefer-vector-width=512 -fopenmp -fPIC -shared -fno-math-errno -fno-trapping-math "
    "-Wall -Wextra -Wno-psabi"
)
PATIENCE = 300  # seconds for the compiler


@functools.cache
def library(name: str) -> ctypes.CDLL | None:
    """The library made of the sources `NAME/*.cpp`; None where it cannot be had, and `why_not` says why."""
    try:
        return ctypes.CDLL(str(_built(name)))
    except (OSError, subprocess.SubprocessError, LookupError) as error:
        _reasons[name] = str(error)
        return None


_reasons: dict[str, str] = {}


def why_not(name: str) -> str:
    """Why there is no such library here, in words; empty where there is."""
    return "" if library(name) is not None else _reasons[name]


def compiler() -> str | None:
    """The C++ compiler of this machine."""
    return next(filter(None, map(shutil.which, filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")))), None)


def cache_folder() -> Path:
    """Where compiled libraries are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sightline" / "native"


def _built(name: str) -> Path:
    if os.environ.get(SWITCH) == "0":
        raise LookupError(f"switched off by {SWITCH}=0")
    command = _command(name)
    made = cache_folder() / f"{name}-{_key(name, command)}.so"
    if not made.exists():
        _compile(command, made)
    return made


def _command(name: str) -> list[str]:
    found = compiler()
    if found is None:
        raise LookupError("no C++ compiler; install one (on Debian and Ubuntu the package g++)")
    return [found, *FLAGS.split(), *map(str, sorted((SOURCES / name).glob("*.cpp")))]


def _key(name: str, command: list[str]) -> str:
    """Another source, compiler or processor is another library."""
    version = subprocess.run([command[0], "--version"], capture_output=True, timeout=PATIENCE, check=True).stdout
    digest = hashlib.sha256(version + FLAGS.encode() + _processor().encode())
    for path in sorted((SOURCES / name).glob("*.[ch]pp")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """What the compiler's -march=native depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine() + platform.processor()
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))}))


def _compile(command: list[str], made: Path) -> None:
    """Under another name first: several processes may do so at once, and one may be killed."""
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=made.parent) as making:
        fresh = Path(making) / made.name
        done = subprocess.run([*command, "-o", str(fresh)], capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            raise LookupError(f"{command[0]} could not compile {made.name}: {done.stderr.strip()[-2000:]}")
        fresh.replace(made)
