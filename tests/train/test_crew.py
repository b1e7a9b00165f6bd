"""Threads that share out an update."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_run import Run, configured
from torch import Tensor

from sightline.data.batches import cut_by_length
from sightline.train import gradient
from sightline.train.crew import MOST, Crew, add_gradients
from sightline.train.gradient import Gradient

CPU = torch.device("cpu")


@pytest.fixture
def crew() -> Iterator[Crew]:
    made = Crew(3)
    yield made
    made.close()


def test_a_crew_works_at_once_and_answers_in_order(crew: Crew) -> None:
    together = threading.Barrier(3, timeout=60)

    def work(share: int) -> tuple[float, list[Tensor | None]]:
        together.wait()  # would never return to one that works alone
        return float(share), [None]

    assert [loss for loss, _ in crew.gradients(work, [3, 1, 2])] == [3.0, 1.0, 2.0]


def test_a_failure_in_a_thread_is_heard_and_the_threads_of_the_process_stay_as_they_were(crew: Crew) -> None:
    before = torch.get_num_threads()

    def fail(share: int) -> tuple[float, list[Tensor | None]]:
        raise MemoryError(share)

    with pytest.raises(MemoryError):
        crew.gradients(fail, [1, 2, 3])
    assert torch.get_num_threads() == before


def test_only_a_lonely_process_on_a_processor_has_a_crew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 64)
    assert Crew.fitting(CPU, 1).size == MOST
    assert Crew.fitting(CPU, 2).size == 1
    assert Crew.fitting(torch.device("cuda"), 1).size == 1


def test_gradients_are_added_and_one_that_nobody_has_stays_away() -> None:
    a, b, c = (torch.zeros(2, requires_grad=True) for _ in range(3))
    add_gradients([a, b, c], [[torch.tensor([1.0, 2.0]), None, None], [torch.tensor([10.0, 20.0]), torch.ones(2), None]])
    assert a.grad is not None
    assert b.grad is not None
    assert a.grad.tolist() == [11.0, 22.0]
    assert b.grad.tolist() == [1.0, 1.0]
    assert c.grad is None


@pytest.mark.parametrize("size", [2, 3])
def test_a_crew_gives_the_gradient_of_one_thread(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    losses, found = [], []
    for members in (1, size):
        monkeypatch.setattr(gradient.Crew, "fitting", staticmethod(lambda *_, members=members: Crew(members)))
        run = Run(tmp_path / str(members), configured(max_updates=1))
        asked: Gradient = run.loop.gradient
        rows = run.task.rows(0, 0)
        losses.append(asked.add(rows, 0, 0, run.task.tokens(rows), "fp32"))
        found.append([p.grad for p in asked.parameters])
        asked.crew.close()
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    for alone, together in zip(*found, strict=True):
        torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-6)


def test_rows_are_cut_into_parts_of_like_length_and_equal_cost() -> None:
    lengths = np.array([9, 1, 8, 2, 7, 3, 6, 4, 5, 5], np.int32)
    rows = np.arange(100, 110)
    parts = cut_by_length(rows, lengths, lengths, 2)
    assert sorted(np.concatenate(parts).tolist()) == rows.tolist()
    shorter, longer = ([int(lengths[row - 100]) for row in part] for part in parts)
    assert max(shorter) <= min(longer)
    assert abs(sum(shorter) - sum(longer)) <= 9
    assert len(shorter) > len(longer)


def test_few_rows_give_few_parts() -> None:
    lengths = np.array([3], np.int32)
    assert [part.tolist() for part in cut_by_length(np.array([7]), lengths, lengths, 4)] == [[7]]
    none = np.empty(0, np.int64)
    for count in (1, 4):
        assert cut_by_length(none, none.astype(np.int32), none.astype(np.int32), count) == []


def test_a_gradient_in_another_order_of_memory_is_put_in_the_usual_one() -> None:
    """PyTorch's fused optimiser would add it to the wrong numbers."""
    weight = torch.zeros(2, 3, requires_grad=True)
    add_gradients([weight], [[torch.arange(6.0).view(3, 2).t()]])
    assert weight.grad is not None
    assert weight.grad.is_contiguous()
    assert weight.grad.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
