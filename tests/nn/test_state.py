"""State and memory: what is repeated, reordered and selected, and what is left where it is."""

from __future__ import annotations

import torch

from sightline.nn.noise import Noise
from sightline.nn.state import Memory, State, last_state, map_tensors, masked_mean

FIXED = torch.arange(3)[:, None]
LIVE = torch.arange(10, 13)[:, None]


def state() -> State:
    return State((FIXED, None, (FIXED + 100,)), (LIVE, (None, LIVE + 100)), 4, Noise(torch.arange(3)))


def told(found: State) -> list[list[int]]:
    (fixed, _, (deep,)), (live, (_, below)) = found.fixed, found.live  # type: ignore[misc]
    assert found.noise is not None
    assert torch.equal(deep, fixed + 100)
    assert torch.equal(below, live + 100)
    return [fixed.flatten().tolist(), live.flatten().tolist(), found.noise.keys.tolist()]


def test_copies_stand_side_by_side() -> None:
    assert told(state().repeat(2)) == [[0, 0, 1, 1, 2, 2], [10, 10, 11, 11, 12, 12], [0, 0, 1, 1, 2, 2]]


def test_reordering_leaves_what_comes_from_the_source() -> None:
    before = state()
    after = before.reorder(torch.tensor([2, 2, 0]))
    assert told(after) == [[0, 1, 2], [12, 12, 10], [0, 1, 2]]
    assert after.fixed is before.fixed
    assert after.length == 4


def test_selecting_takes_everything_along() -> None:
    assert told(state().select(torch.tensor([2, 0]))) == [[2, 0], [12, 10], [2, 0]]
    assert state().select(torch.tensor([1])).length == 4


def test_none_of_these_changes_the_state_itself() -> None:
    one = state()
    one.repeat(2), one.reorder(torch.tensor([0, 0, 0])), one.select(torch.tensor([1]))
    assert told(one) == told(state())


def test_trees() -> None:
    assert map_tensors(lambda tensor: tensor, None) is None
    assert map_tensors(lambda tensor: tensor, ()) == ()
    assert State().repeat(3) == State()


def test_means_and_last_states_are_of_real_tokens() -> None:
    states = torch.tensor([[[1.0], [3.0], [50.0]], [[2.0], [4.0], [9.0]], [[7.0], [7.0], [7.0]]])
    mask = torch.tensor([[1, 1, 0], [1, 1, 1], [0, 0, 0]], dtype=torch.bool)
    assert masked_mean(states, mask).flatten().tolist() == [2.0, 5.0, 0.0]
    assert last_state(states, mask).flatten().tolist() == [3.0, 9.0, 7.0]


def test_rows_of_a_memory() -> None:
    memory = Memory(torch.arange(6.0).view(3, 2, 1), torch.ones(3, 2, dtype=torch.bool), torch.arange(3.0)[:, None])
    chosen = memory.rows(torch.tensor([2, 0]))
    assert chosen.states.flatten().tolist() == [4.0, 5.0, 0.0, 1.0]
    assert chosen.summary.flatten().tolist() == [2.0, 0.0]
    assert chosen.mask.shape == (2, 2)
