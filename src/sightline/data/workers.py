"""Work spread over processes, its results in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from types import TracebackType
from typing import TypeVar, final

from sightline.errors import UserError

Job = TypeVar("Job")
Result = TypeVar("Result")

WORTHWHILE = 12  # jobs; fewer are done before the processes have started
AHEAD = 2  # jobs waiting for each process: bounds the memory


@final
class Workers:
    """As many processes as asked for, started when there is enough to do, and gone when the block ends."""

    def __init__(self, count: int) -> None:
        self.count = count or cores()
        self._pool: ProcessPoolExecutor | None = None

    def map(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[Result]:
        """`function` of every job, in order; no more than a few jobs are taken in advance."""
        jobs = iter(jobs)
        if self.count == 1:
            yield from map(function, jobs)
            return
        some = list(islice(jobs, WORTHWHILE))
        if len(some) < WORTHWHILE and self._pool is None:
            yield from map(function, some)
            return
        try:
            yield from self._spread(function, chain(some, jobs))
        except BrokenProcessPool:
            raise UserError(
                "a process that prepares the data was ended from outside, perhaps for want of memory; set data.workers to a "
                "smaller number, such as 1 (which also serves a script without `if __name__ == '__main__':`)"
            ) from None

    def _spread(self, function: Callable[[Job], Result], jobs: Iterator[Job]) -> Iterator[Result]:
        pool = self._start()
        waiting: deque[Future[Result]] = deque()
        try:
            for job in jobs:
                waiting.append(pool.submit(function, job))
                if len(waiting) > AHEAD * self.count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def _start(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Never fork: this process may have threads, of a library or of its own, and a fork copies their locks.
            self._pool = ProcessPoolExecutor(self.count, multiprocessing.get_context("spawn"), initializer=_begin)
        return self._pool

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def cores() -> int:
    """How many cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _begin() -> None:
    """What every process does first."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # there is one process for each core already
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, and the parent ends this process
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that was killed cannot say so, and this process would wait for work for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
