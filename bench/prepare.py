"""Prepare generated pairs for training: pairs per second, and the peak of the memory of all processes together.

    python -m bench.prepare                      # 10 million pairs
    python -m bench.prepare --pairs 300000

A process of its own prepares builtin:PAIRS, French to English, with the default configuration. Meanwhile its memory and that of
all processes it started is read off /proc and summed: as PSS, where a page that several share counts once, and as RSS, where it
counts for each. Exit code 1 if the sum of PSS reaches 1 GB.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

MOST = 10**9  # bytes
EVERY = 0.2  # seconds between two looks at the memory
SEED = 1
ROOT = Path(__file__).resolve().parent.parent
# What the preparation says at the end of each pass, and what the pass does.
PASSES = {
    "read and cleaned": "generate, clean, hash",
    "learnt": "duplicates, held-out sets, vocabulary",
    "encoded": "encode and write",
}


def work(folder: Path, pairs: int) -> None:
    """Prepare; a line of JSON for every message, with the seconds until then, and one with what came out."""
    from sightline.data.prepare import DataConfig, prepare

    begin = time.monotonic()

    def tell(message: str) -> None:
        print(json.dumps([time.monotonic() - begin, message]), flush=True)

    summary = prepare(DataConfig(train=(f"builtin:{pairs}",), seed=SEED), "fr", "en", folder, tell).summary
    tell("done")
    kept = {"train": summary.train, "dev": summary.dev, "test": summary.test, **summary.dropped}
    print(json.dumps({"kept": kept, "tokens": summary.tokens}), flush=True)


@dataclass
class Memory:
    """The peaks of a process and all its descendants, in bytes."""

    pss: int = 0
    rss: int = 0
    processes: int = 0
    looks: int = 0

    def look(self, process: int) -> None:
        """Take all of them at this moment."""
        found = [sizes for one in family(process) if (sizes := sizes_of(one))]
        self.pss = max(self.pss, sum(pss for pss, _ in found))
        self.rss = max(self.rss, sum(rss for _, rss in found))
        self.processes = max(self.processes, len(found))
        self.looks += 1


def family(process: int) -> Iterator[int]:
    """The process and all its descendants; children are listed with the thread that started them."""
    yield process
    try:
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from family(int(child))
    except OSError:  # ended meanwhile
        return


def sizes_of(process: int) -> tuple[int, int] | None:
    """PSS and RSS in bytes; None where the process has ended."""
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return None
    kilobytes = {line.split()[0]: int(line.split()[1]) for line in rollup.splitlines()[1:]}
    return kilobytes["Pss:"] << 10, kilobytes["Rss:"] << 10


def watch(process: int, memory: Memory, ended: threading.Event) -> None:
    """Look again and again."""
    while not ended.wait(EVERY):
        memory.look(process)


def run(folder: Path, pairs: int) -> tuple[dict[str, float], dict[str, dict[str, int]], Memory]:
    """When each pass ended, in seconds; what came out; the memory."""
    command = [sys.executable, "-m", "bench.prepare", "--worker", str(folder), "--pairs", str(pairs)]
    ends: dict[str, float] = {}
    outcome: dict[str, dict[str, int]] = {}
    memory, ended = Memory(), threading.Event()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        watcher = threading.Thread(target=watch, args=(process.pid, memory, ended))
        watcher.start()
        assert process.stdout is not None
        for line in process.stdout:
            told = json.loads(line)
            if isinstance(told, dict):
                outcome = told
                continue
            seconds, message = told
            print(f"{seconds:8.1f} s  {message}", file=sys.stderr)
            ends.update({name: seconds for name in (*PASSES, "done") if message.startswith(name)})
        ended.set()
        watcher.join()
    if process.returncode:
        raise SystemExit(f"preparing failed with exit code {process.returncode}")
    return ends, outcome, memory


def processor() -> str:
    """Its name, as the system knows it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def measure(folder: Path, pairs: int) -> bool:
    """The table on standard output. True if the memory stayed below its bound."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        ends, outcome, memory = run(folder, pairs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "tokenizers", "sightline"))
    print(f"builtin:{pairs}, fr to en, seed {SEED}, default configuration")
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores; python {platform.python_version()}, {packages}\n")
    before = 0.0
    for name, what in PASSES.items():
        seconds, before = ends[name] - before, ends[name]
        print(f"{what:40} {seconds:9.1f} s  {pairs / seconds:12,.0f} pairs/s")
    print(f"{'all':40} {ends['done']:9.1f} s  {pairs / ends['done']:12,.0f} pairs/s\n")
    print(", ".join(f"{count:,} {name}" for name, count in outcome["kept"].items()))
    print(
        f"peak memory, {memory.processes} processes together: {memory.pss / 1e6:,.0f} MB PSS, {memory.rss / 1e6:,.0f} MB RSS"
        f" ({memory.looks} looks)"
    )
    good = memory.pss < MOST
    print(f"below {MOST / 1e6:,.0f} MB: {'good' if good else 'FAILED'}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "scratch" / "prepare")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.pairs)
        return 0
    if not Path("/proc/self/smaps_rollup").exists():
        raise SystemExit("this timing reads memory off /proc, which this system has not")
    return 0 if measure(options.folder, options.pairs) else 1


if __name__ == "__main__":
    sys.exit(main())
