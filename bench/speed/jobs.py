"""A process of its own for everything that is timed: bounded in time, its memory watched, its last words kept."""

from __future__ import annotations

import math
import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.prepare import Memory, watch
from bench.speed.data import ROOT

CORES = 2  # every program gets as many threads in all
# glibc keeps what is freed, and asks for huge pages: what the peers ran fastest with.
TUNED = (
    "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=17179869184:"
    "glibc.malloc.top_pad=268435456:glibc.malloc.hugetlb=1"
)
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")  # said anew for every process
LAST_WORDS = 2000  # characters
LOOK = 0.05  # seconds between two looks at a process


class Failed(Exception):
    """A process that did not do what it was for; says why."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a process."""

    seconds: float
    rss: int  # bytes, at the peak, of the process and all its descendants together
    said: str
    signed: float = math.nan  # seconds until the sign that was waited for
    disturbed: float = 0.0  # share of the processor that other programs took meanwhile


def run(command: Sequence[str | Path], variables: Mapping[str, str], limit: float, sign: Callable[[], bool] | None = None) -> Ran:
    """Run to its end; a failure or a run beyond `limit` seconds is a `Failed`. When `sign` came true is noted."""
    memory, ended, begin, busy = Memory(), threading.Event(), time.time(), _others()
    inherited = {name: value for name, value in os.environ.items() if name not in THREADS}
    environment = {**inherited, **variables, "BENCH_BEGIN": str(begin), "PYTHONPATH": "", "TOKENIZERS_PARALLELISM": "true"}
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            [str(word) for word in command], cwd=ROOT, env=environment, stdout=said, stderr=said, start_new_session=True
        )
        watcher = threading.Thread(target=watch, args=(process.pid, memory, ended), daemon=True)
        watcher.start()
        signed = math.nan
        try:
            while process.poll() is None and time.time() - begin < limit:
                time.sleep(LOOK)
                if math.isnan(signed) and sign is not None and sign():
                    signed = time.time() - begin
            late = process.poll() is None
        finally:
            ended.set()
            _end(process)
            watcher.join()
        seconds = time.time() - begin
        said.seek(0)
        words = said.read()[-LAST_WORDS:]
    if late:
        raise Failed(f"did not end within {limit:.0f} s")
    if process.returncode:
        raise Failed(f"exit code {process.returncode}: {words.strip()[-500:]}")
    return Ran(seconds, memory.rss, words, signed, max(0.0, _others() - busy) / (seconds * (os.cpu_count() or 1)))


def _others() -> float:
    """Seconds that all cores together have worked, but for this program and what it started and saw end."""
    if not Path("/proc/stat").exists():
        return 0.0
    user, nice, system, _, _, interrupts, soft, *_ = map(int, Path("/proc/stat").read_text().split()[1:9])
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    everybody = (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")
    return everybody - sum(each.ru_utime + each.ru_stime for each in own)


def _end(process: subprocess.Popen[bytes]) -> None:
    """It and what it started, which is a session of its own."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def threads(processes: int, malloc: str = "stock", wait: str = "") -> dict[str, str]:
    """The cores shared between processes, the allocator, and how waiting threads wait."""
    count = str(max(1, CORES // processes))
    chosen = {"OMP_NUM_THREADS": count}
    if malloc == "tuned":
        chosen["GLIBC_TUNABLES"] = TUNED
    if wait:
        chosen["OMP_WAIT_POLICY"] = wait
    return chosen


def distributed(python: Path, processes: int, words: Sequence[str]) -> list[str | Path]:
    """The same program in one process, or in several that PyTorch's launcher joins."""
    if processes == 1:
        return [python, *words]
    port = str(29500 + os.getpid() % 1000)
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", str(processes), "--master-port", port]
    return [python, *launcher, *words]
