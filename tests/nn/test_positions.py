"""Position schemes against their papers' formulas, and what a cache asks of them."""

from __future__ import annotations

import math
from typing import get_args

import pytest
import torch
from torch import Tensor, nn

from sightline.errors import UserError
from sightline.nn.positions import Alibi, Learned, Position, PositionName, Relative, Rotary, Sinusoidal, make_position

DIM, LENGTH = 8, 12


def channels(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def test_sinusoids_are_the_papers() -> None:
    """Sine in even channels, cosine in odd ones, of position / 10000^(2i/d)."""
    added = Sinusoidal().embed(torch.zeros(1, LENGTH, DIM), 5)[0]
    for place in range(LENGTH):
        for pair in range(DIM // 2):
            angle = (place + 5) / 10000 ** (2 * pair / DIM)
            expected = torch.tensor([math.sin(angle), math.cos(angle)])
            torch.testing.assert_close(added[place, 2 * pair : 2 * pair + 2], expected, rtol=0, atol=1e-5)


def test_rotary_products_depend_on_the_distance_alone() -> None:
    q, k, rotary = channels(1, 1, 1, DIM), channels(1, 1, 1, DIM), Rotary()

    def product(query: int, key: int) -> Tensor:
        return (rotary.rotate(q, query) * rotary.rotate(k, key)).sum()

    for shift in (1, 7, 40):
        torch.testing.assert_close(product(9 + shift, 4 + shift), product(9, 4), rtol=1e-4, atol=1e-4)
    assert abs(float(product(9, 4) - product(9, 5))) > 1e-2
    torch.testing.assert_close(rotary.rotate(q, 33).norm(), q.norm())
    torch.testing.assert_close(rotary.rotate(q, 0), q)


@pytest.mark.parametrize(
    ("heads", "powers"),
    [(1, [8]), (2, [4, 8]), (4, [2, 4, 6, 8]), (8, [1, 2, 3, 4, 5, 6, 7, 8]), (6, [2, 4, 6, 8, 1, 3]), (3, [4, 8, 2])],
)
def test_alibi_slopes_are_the_papers(heads: int, powers: list[int]) -> None:
    """Powers of two; for other numbers of heads the rest comes from twice the power of two below."""
    assert Alibi(heads).slopes.tolist() == pytest.approx([2.0**-power for power in powers])


def test_alibi_is_a_penalty_on_distance() -> None:
    alibi, q = Alibi(2), torch.zeros(1, 2, 3, 4)
    penalty = alibi.bias(q, 5)  # three queries behind a cache of two keys stand at places 2, 3 and 4
    for head, slope in enumerate((2.0**-4, 2.0**-8)):
        for row, place in enumerate((2, 3, 4)):
            assert penalty[0, head, row].tolist() == pytest.approx([-slope * abs(key - place) for key in range(5)])


def test_relative_is_the_key_term_of_the_paper() -> None:
    """q · a(clip(j - i)) / √d."""
    relative = Relative(4, reach=2)
    q = channels(1, 2, LENGTH, 4)
    bias = relative.bias(q, LENGTH)
    for i in range(LENGTH):
        for j in range(LENGTH):
            vector = relative.table.weight[max(-2, min(2, j - i)) + 2]
            torch.testing.assert_close(bias[0, :, i, j], q[0, :, i] @ vector / 2.0, rtol=1e-4, atol=1e-5)


def test_learned_positions_end_somewhere() -> None:
    learned = Learned(DIM, 6)
    torch.testing.assert_close(learned.embed(torch.zeros(1, 2, DIM), 4)[0], learned.table.weight[4:6])
    with pytest.raises(UserError, match=r"7 tokens are more than the 6 positions .* has learned; .*train a model with more"):
        learned.embed(torch.zeros(1, 2, DIM), 5)


@pytest.mark.parametrize("name", get_args(PositionName))
def test_what_comes_later_may_come_in_pieces(name: PositionName) -> None:
    """Each of the three places to act, with an offset, gives what it gives for the whole."""
    position = make_position(name, DIM, 2, 32)
    assert isinstance(position, Position)
    assert isinstance(position, nn.Module)
    x, q = channels(2, LENGTH, DIM), channels(2, 2, LENGTH, DIM // 2)
    whole, turned, bias = position.embed(x, 0), position.rotate(q, 0), position.bias(q, LENGTH)
    for cut in (1, 5, LENGTH - 1):
        torch.testing.assert_close(position.embed(x[:, cut:], cut), whole[:, cut:], rtol=0, atol=1e-6)
        torch.testing.assert_close(position.rotate(q[:, :, cut:], cut), turned[:, :, cut:], rtol=0, atol=1e-6)
        later = position.bias(q[:, :, cut:], LENGTH)
        assert (later is None) == (bias is None)
        if later is not None and bias is not None:
            torch.testing.assert_close(later, bias[:, :, cut:], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", get_args(PositionName))
def test_a_scheme_acts_in_one_place(name: PositionName) -> None:
    position = make_position(name, DIM, 2, 32)
    x, q = channels(1, LENGTH, DIM), channels(1, 2, LENGTH, DIM // 2)
    acts = {
        "embed": not torch.equal(position.embed(x, 1), x),
        "rotate": not torch.equal(position.rotate(q, 1), q),
        "bias": position.bias(q, LENGTH) is not None,
    }
    where = {"none": None, "sinusoidal": "embed", "learned": "embed", "rotary": "rotate", "alibi": "bias", "relative": "bias"}
    assert [place for place, does in acts.items() if does] == [place for place in [where[name]] if place]


@pytest.mark.parametrize("name", get_args(PositionName))
def test_precision_is_left_alone(name: PositionName) -> None:
    """Sines of large angles are worked out in fp32 and rounded only then."""
    position = make_position(name, DIM, 2, 4096)
    x, q = torch.zeros(1, 1, DIM, dtype=torch.bfloat16), channels(1, 2, 1, DIM // 2).bfloat16()
    assert position.embed(x, 4000).dtype == position.rotate(q, 4000).dtype == torch.bfloat16
    exact = position.rotate(q.float(), 4000)
    torch.testing.assert_close(position.rotate(q, 4000).float(), exact, rtol=0, atol=0.05)
