"""The allocator keeps what is freed: asking for the same large blocks again costs no fresh pages."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from sightline.train import memory
from sightline.train.memory import keep_freed_memory

ROUNDS = """
import resource, sys
import numpy as np
from sightline.train.memory import keep_freed_memory

if sys.argv[1] == "keep":
    assert keep_freed_memory()
def round():
    blocks = [np.empty(size << 17) for size in (1, 3, 20)]  # 1 to 20 MB
    for block in blocks:
        block.fill(1.0)
round()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    round()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", ROUNDS, how], capture_output=True, text=True, check=True, timeout=60)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's allocator is told")
def test_blocks_asked_for_again_cost_no_fresh_pages() -> None:
    assert faults("keep") < 0.1 * faults("plain")


def test_elsewhere_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setattr(memory, "ctypes", None)
    assert keep_freed_memory() is False
