"""Dropout's numbers: uniform, independent of one another, and a function of what they are said to be a function of."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from sightline.nn.noise import Dropout, Noise, mix, noise_at, number_sites

SAMPLES = torch.arange(100, 164)
LENGTH, CHANNELS = 32, 64


def draws(update: int = 5, site: int = 2, seed: int = 1, samples: Tensor = SAMPLES, length: int = LENGTH) -> Tensor:
    return Noise.of(seed, update, samples).draw(site, length, CHANNELS)


def correlation(a: Tensor, b: Tensor) -> float:
    """Times √n: a standard normal deviate if they are independent."""
    x, y = (each.flatten().double() - each.double().mean() for each in (a, b))
    return float((x * y).mean() / (x.square().mean() * y.square().mean()).sqrt() * len(x) ** 0.5)


def test_draws_are_uniform() -> None:
    """χ² over 256 bins, of the high and of the low byte: 255 ± 22.6 expected; seven deviations off would be a fault."""
    numbers = draws().flatten().long() + 32768
    assert len(numbers) == 131072
    for byte in (numbers >> 8, numbers & 255):
        counts = torch.bincount(byte, minlength=256).double()
        expected = len(numbers) / 256
        assert 100 < float(((counts - expected).square() / expected).sum()) < 255 + 7 * 22.6


def test_draws_are_uniform_in_every_lane() -> None:
    """A 64-bit number is cut into four: each quarter on its own."""
    for lane in range(4):
        counts = torch.bincount(((draws()[..., lane::4].flatten().long() + 32768) >> 11), minlength=32).double()
        assert float(((counts - counts.mean()).square() / counts.mean()).sum()) < 31 + 7 * 7.9


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(lambda: (draws()[:, :-1], draws()[:, 1:]), id="neighbouring positions"),
        pytest.param(lambda: (draws()[..., :-1], draws()[..., 1:]), id="neighbouring channels"),
        pytest.param(lambda: (draws()[..., :-4], draws()[..., 4:]), id="neighbouring 64-bit numbers"),
        pytest.param(lambda: (draws()[:-1], draws()[1:]), id="neighbouring samples"),
        pytest.param(lambda: (draws(site=0), draws(site=1)), id="neighbouring sites"),
        pytest.param(lambda: (draws(update=1), draws(update=2)), id="neighbouring updates"),
        pytest.param(lambda: (draws(seed=1), draws(seed=2)), id="neighbouring seeds"),
        pytest.param(lambda: (draws(site=1)[:, 1:], draws(site=2)[:, :-1]), id="next site, position before"),
        pytest.param(lambda: (draws(update=1)[1:], draws(update=2)[:-1]), id="next update, sample before"),
        pytest.param(lambda: (draws()[:, :-1, 4:], draws()[:, 1:, :-4]), id="next position, channels before"),
        pytest.param(
            lambda: (Noise.of(1, 5, SAMPLES).fork(0).draw(2, 32, 64), Noise.of(1, 5, SAMPLES).fork(1).draw(2, 32, 64)), id="forks"
        ),
        pytest.param(lambda: (draws(), Noise.of(1, 5, SAMPLES).fork(0).draw(2, 32, 64)), id="fork and stem"),
    ],
)
def test_neighbours_are_independent(pair: Callable[[], tuple[Tensor, Tensor]]) -> None:
    a, b = pair()
    assert abs(correlation(a, b)) < 5
    kept_a, kept_b = (each >= 3277 - 32768 for each in (a, b))  # as at a rate of 0.05
    assert abs(correlation(kept_a, kept_b)) < 5
    assert float((a == b).double().mean()) < 4 / 65536


def test_no_two_keys_of_a_large_run_are_the_same() -> None:
    samples = torch.arange(50_000)
    keys = torch.cat([Noise.of(1, update, samples).keys for update in range(8)])
    assert len(keys.unique()) == len(keys)


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.3, 0.5, 0.9])
def test_rate_and_scale(rate: float) -> None:
    """Kept values are scaled up so that the mean stays."""
    out = Dropout(rate)(torch.ones(64, 32, 64), Noise.of(1, 1, SAMPLES))
    dropped = float((out == 0).double().mean())
    deviation = (rate * (1 - rate) / out.numel()) ** 0.5
    assert abs(dropped - rate) < 5 * deviation + 1 / 65536
    kept = out[out != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - rate)), rtol=1e-4, atol=0.0)


def test_rate_per_position_and_channel() -> None:
    """No corner is dropped more often than another."""
    noise = Noise.of(1, 1, torch.arange(2000))
    dropped = (Dropout(0.2)(torch.ones(2000, 8, 10), noise) == 0).double().mean(0)
    assert float((dropped - 0.2).abs().max()) < 5 * (0.16 / 2000) ** 0.5


def test_place_in_the_batch_and_its_split_change_nothing() -> None:
    whole, order = draws(), torch.randperm(len(SAMPLES), generator=torch.Generator().manual_seed(0))
    assert torch.equal(draws(samples=SAMPLES[order]), whole[order])
    assert torch.equal(torch.cat([draws(samples=part) for part in SAMPLES.split(7)]), whole)


def test_a_longer_batch_begins_with_the_same_numbers() -> None:
    """Padding comes after."""
    assert torch.equal(draws(length=LENGTH + 9)[:, :LENGTH], draws())


def test_offset_goes_on_where_it_was_left() -> None:
    noise = Noise.of(1, 5, SAMPLES)
    assert torch.equal(noise.at(10).draw(2, LENGTH - 10, CHANNELS), noise.draw(2, LENGTH, CHANNELS)[:, 10:])
    steps = [noise_at(noise, step) for step in range(4)]
    found = torch.cat([step.draw(2, 1, CHANNELS) for step in steps if step is not None], 1)
    assert torch.equal(found, noise.draw(2, 4, CHANNELS))
    assert noise_at(None, 3) is None


def test_odd_numbers_of_channels_begin_alike() -> None:
    noise = Noise.of(1, 5, SAMPLES)
    for channels in range(1, 10):
        assert torch.equal(noise.draw(0, 3, channels), noise.draw(0, 3, 12)[..., :channels])


def test_weights_of_more_keys_begin_alike() -> None:
    """A cache makes rows of keys longer from step to step; padding does so too."""
    dropout, noise = Dropout(0.5), Noise.of(1, 1, SAMPLES[:3])
    long = dropout.weights(torch.ones(3, 4, 5, 9), noise)
    assert torch.equal(dropout.weights(torch.ones(3, 4, 5, 6), noise), long[..., :6])
    assert torch.equal(dropout.weights(torch.ones(3, 4, 2, 9), noise.at(3)), long[:, :, 3:])
    heads = [long[:, head] for head in range(4)]
    assert not any(torch.equal(a, b) for a, b in pairwise(heads))


def test_same_seed_same_numbers_for_ever() -> None:
    """Written down, so that a run of this version resumes under the next."""
    assert Noise.of(1, 0, torch.tensor([0])).draw(0, 1, 4).flatten().tolist() == RECORDED


def test_mix_is_splitmix64() -> None:
    """The reference's first outputs from a seed of 0."""
    golden = 0x9E3779B97F4A7C15
    states = [(golden * step + (1 << 63)) % (1 << 64) - (1 << 63) for step in (1, 2, 3)]
    found = [each % (1 << 64) for each in mix(torch.tensor(states)).tolist()]
    assert found == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_no_noise_no_dropout() -> None:
    x = torch.randn(2, 3, 4)
    assert Dropout(0.5)(x, None) is x
    assert Dropout(0.0)(x, Noise.of(1, 1, SAMPLES[:2])) is x


@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.5])
def test_a_rate_outside_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="rate lies in"):
        Dropout(rate)


def test_every_site_gets_a_number_of_its_own() -> None:
    model = nn.ModuleList([nn.Sequential(Dropout(0.1), nn.Linear(2, 2)), Dropout(0.2), nn.ModuleList([Dropout(0.0)])])
    number_sites(model)
    assert [module.site for module in model.modules() if isinstance(module, Dropout)] == [0, 1, 2]


def test_global_generator_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    draws()
    assert torch.equal(torch.random.get_rng_state(), before)


RECORDED = [4512, 28471, 1235, -83]
