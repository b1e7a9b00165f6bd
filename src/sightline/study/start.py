"""`python -m sightline.study.start FOLDER ENGINE < lines`: a fresh process says how long it took to begin, and its memory.

Such a process is what a user starts; what a running one has loaded already would hide the most of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds of each step, and the most memory that was held, in bytes."""

    imported: float  # the library
    loaded: float  # the model
    first: float  # the first translation, with what is made ready only then
    memory: int  # after all texts have been translated with beam 5
    total: float  # from starting the process to its first translation


def measure_start(folder: Path, engine: str, texts: Sequence[str]) -> Start:
    """Start a process and see."""
    begin = time.time()  # a clock that both processes have
    command = [sys.executable, "-m", "sightline.study.start", str(folder), engine]
    done = subprocess.run(command, input="\n".join(texts), capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[-2000:]}")
    told = json.loads(done.stdout)
    return Start(told["imported"], told["loaded"], told["first"], told["memory"], told["at"] - begin)


def main() -> None:
    """In the process itself."""
    folder, engine = sys.argv[1:]
    texts = sys.stdin.read().splitlines()
    clock = [time.perf_counter()]

    def lap() -> float:
        clock.append(time.perf_counter())
        return clock[-1] - clock[-2]

    from sightline.api import load
    from sightline.decode.engine import engine_name

    imported = lap()
    model = load(folder, engine=engine_name(engine))
    loaded = lap()
    model.translate(texts[:1])
    first, at = lap(), time.time()
    model.translate(texts)
    print(json.dumps({"imported": imported, "loaded": loaded, "first": first, "memory": peak_memory(), "at": at}))


def peak_memory() -> int:
    """The most that this process has held, in bytes; 0 where the system does not tell.

    Not from `getrusage`: a process begins there with what the one that started it had held.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


if __name__ == "__main__":
    main()
