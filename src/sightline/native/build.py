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
import threading
from collections.abc import Callable
from pathlib import Path

import torch  # noqa: F401  loads the OpenMP runtime that our libraries are to share

SOURCES = Path(__file__).parent
SWITCH = "SIGHTLINE_NATIVE"  # 0: compile and load nothing
FLAGS = "-std=c++20 -O3 -march=native -fopenmp -fPIC -shared -fno-math-errno -fno-trapping-math -Wall -Wextra -Wno-psabi"
WIDE = "-mprefer-vector-width=512"  # where the processor has such vectors, compilers still take half of them
PATIENCE = 300  # seconds for the compiler


def library(name: str) -> ctypes.CDLL | None:
    """The library made of the sources `NAME/*.cpp`; None where it cannot be had, and `why_not` says why."""
    with _one_at_a_time:
        return _library(name)


@functools.cache
def _library(name: str) -> ctypes.CDLL | None:
    try:
        return _opened(name)
    except (OSError, RuntimeError, LookupError, subprocess.SubprocessError) as error:
        _reasons[name] = str(error)
        return None


_one_at_a_time = threading.RLock()  # threads that all need it at once would all compile
_reasons: dict[str, str] = {}


def why_not(name: str) -> str:
    """Why there is no such library here, in words; empty where there is."""
    return "" if library(name) is not None else _reasons[name]


def prepare(name: str, tell: Callable[[str], None], loss: str) -> None:
    """Compile it now if it has to be, and say so; where it cannot be had, say why, and what is lost by that."""
    if os.environ.get(SWITCH) != "0" and compiler() is not None and not _path(name).exists():
        tell("compiling kernels for this processor, once; this takes some seconds")
    if reason := why_not(name):
        tell(f"{loss}: {reason}")


def forget() -> None:
    """Look anew at the next call."""
    _library.cache_clear()


def compiler() -> str | None:
    """The C++ compiler of this machine."""
    return next(filter(None, map(shutil.which, filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")))), None)


def cache_folder(what: str) -> Path:
    """The folder for this kind of thing in the user's cache; it may not exist yet."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sightline" / what


def _opened(name: str) -> ctypes.CDLL:
    if os.environ.get(SWITCH) == "0":
        raise LookupError(f"switched off by {SWITCH}=0")
    path = _path(name)
    if path.exists():
        try:
            return ctypes.CDLL(str(path))
        except OSError:  # damaged; made anew
            pass
    _compile(name, path)
    return ctypes.CDLL(str(path))


def _path(name: str) -> Path:
    """Another source or processor is another library."""
    digest = hashlib.sha256(" ".join(_flags()).encode() + processor().encode())
    for path in sorted((SOURCES / name).glob("*.[ch]pp")):
        digest.update(path.name.encode() + path.read_bytes())
    return cache_folder("native") / f"{name}-{digest.hexdigest()[:16]}.so"


def _flags() -> list[str]:
    return [*FLAGS.split(), *([WIDE] if "avx512f" in processor() else [])]


@functools.cache
def processor() -> str:
    """What the compiler's -march=native depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine() + platform.processor()
    return "\n".join(sorted({line for line in lines if line.startswith(("vendor_id", "model name", "flags", "Features"))}))


def _compile(name: str, made: Path) -> None:
    """Under another name first: several processes may do so at once, and one may be killed."""
    found = compiler()
    if found is None:
        raise LookupError("no C++ compiler; install one (on Debian and Ubuntu the package g++)")
    try:
        made.parent.mkdir(parents=True, exist_ok=True)
        making = tempfile.TemporaryDirectory(dir=made.parent)
    except OSError as error:
        raise LookupError(f"{made.parent}: {error.strerror}; name a folder that can be written to in XDG_CACHE_HOME") from error
    with making:
        fresh = Path(making.name) / made.name
        command = [found, *_flags(), *map(str, sorted((SOURCES / name).glob("*.cpp"))), "-o", str(fresh)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=PATIENCE)
        if done.returncode:
            raise LookupError(f"{found} could not compile {made.name}: {done.stderr.strip()[-2000:]}")
        fresh.replace(made)
