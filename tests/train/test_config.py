"""What no optimiser and no generator could work with is refused before anything is prepared."""

from __future__ import annotations

import pytest

from sightline.config import from_dict
from sightline.errors import UserError
from sightline.train.config import OptimiserConfig, RunConfig


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": -1}, r"seed=-1 must lie in \[0, 2\^63\)"),
        ({"seed": 1 << 63}, r"seed=9223372036854775808 must lie in \[0, 2\^63\)"),
        ({"optimiser": {"beta1": 1.0}}, r"beta1=1\.0 must lie in \[0, 1\)"),
        ({"optimiser": {"beta1": -0.1}}, r"beta1=-0\.1 must lie in \[0, 1\)"),
        ({"optimiser": {"beta2": 1.5}}, r"beta2=1\.5 must lie in \[0, 1\)"),
        ({"optimiser": {"epsilon": 0.0}}, r"epsilon=0\.0 must be above 0"),
        ({"optimiser": {"epsilon": -1e-9}}, r"epsilon=-1e-09 must be above 0"),
    ],
)
def test_a_number_out_of_range_is_named(given: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        from_dict(RunConfig, given, origin="here")


def test_the_bounds_are_allowed() -> None:
    for seed in (0, (1 << 63) - 1):
        assert RunConfig(seed=seed, optimiser=OptimiserConfig(beta1=0.0, beta2=0.0, epsilon=1e-30)).seed == seed
