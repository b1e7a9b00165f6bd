"""Work in several processes: results in order, few jobs in the air, errors and deaths told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.data import workers
from sightline.data.workers import AHEAD, WORTHWHILE, Workers, cores
from sightline.errors import UserError


def square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def refuse_thirteen(number: int) -> int:
    if number == 13:
        raise UserError("thirteen")
    return number


def die_at_thirteen(number: int) -> int:
    if number == 13:
        os._exit(9)
    return number


def test_results_come_in_order_from_other_processes() -> None:
    with Workers(2) as pool:
        for _ in range(2):  # the processes are used again
            results = list(pool.map(square, range(40)))
            assert [result for result, _ in results] == [number * number for number in range(40)]
            assert os.getpid() not in {process for _, process in results}
        assert [result for result, _ in pool.map(square, range(2))] == [0, 1]


@pytest.mark.parametrize(("count", "jobs"), [(1, 40), (2, WORTHWHILE - 1)])
def test_little_work_starts_no_process(count: int, jobs: int) -> None:
    with Workers(count) as pool:
        assert {process for _, process in pool.map(square, range(jobs))} == {os.getpid()}


def test_jobs_are_not_taken_far_in_advance() -> None:
    taken = 0

    def jobs() -> Iterator[int]:
        nonlocal taken
        while taken < 100:
            taken += 1
            yield taken

    with Workers(2) as pool:
        for done, _ in enumerate(pool.map(square, jobs()), 1):
            assert taken <= done + max(WORTHWHILE, 2 * AHEAD + 1)
    assert taken == 100


def test_an_error_in_a_process_arrives() -> None:
    with pytest.raises(UserError, match="thirteen"), Workers(2) as pool:
        list(pool.map(refuse_thirteen, range(40)))


def test_a_process_that_dies_is_told_with_the_way_out() -> None:
    with pytest.raises(UserError, match=r"ended from outside.* data\.workers"), Workers(2) as pool:
        list(pool.map(die_at_thirteen, range(40)))


def test_as_many_as_cores_unless_said() -> None:
    assert Workers(0).count == cores() >= 1
    assert Workers(3).count == 3
    assert workers.WORTHWHILE > 1


ORPHANS = """
import os, signal
from sightline.data.workers import Workers

def main():
    with Workers(2) as pool:
        for _ in pool.map(abs, range(40)):
            os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    main()
"""


def test_no_process_outlives_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    # The output is at its end only when all who could write to it are gone.
    result = subprocess.run([sys.executable, str(script)], capture_output=True, timeout=60, check=False)
    assert result.returncode == -signal.SIGKILL
