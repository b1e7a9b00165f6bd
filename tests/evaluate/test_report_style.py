"""Numbers in the heat map can be read on every shade."""

import itertools
import re

import pytest

from sightline.evaluate.report_style import SHADES, STYLE, luminance

RULE = re.compile(r"\.w(\d+)\{background:#(\w\w)(\w\w)(\w\w);color:(#\w+)\}")


@pytest.mark.parametrize("scheme", [0, 1])
def test_text_stands_out_on_every_shade(scheme: int) -> None:
    rules = RULE.findall(STYLE.split("@media")[scheme])
    assert [int(rule[0]) for rule in rules] == list(range(SHADES))
    for _, red, green, blue, ink in rules:
        back = luminance((int(red, 16), int(green, 16), int(blue, 16))) + 0.05
        front = {"#000": 0.05, "#fff": 1.05}[ink]
        assert max(back, front) / min(back, front) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1])
def test_more_weight_is_further_from_the_paper(scheme: int) -> None:
    shades = [luminance((int(r, 16), int(g, 16), int(b, 16))) for _, r, g, b, _ in RULE.findall(STYLE.split("@media")[scheme])]
    steps = [later - earlier for earlier, later in itertools.pairwise(shades)]
    assert all(step > 0 for step in steps) if scheme else all(step < 0 for step in steps)


def test_luminance_is_that_of_the_guidelines() -> None:
    assert luminance((0, 0, 0)) == 0
    assert luminance((255, 255, 255)) == pytest.approx(1)
    assert luminance((119, 119, 119)) == pytest.approx(0.184, abs=1e-3)  # the grey with a contrast of 4.48 on white
