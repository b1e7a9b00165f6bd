"""The timings of growth: what is demanded, what counts as worse, and what is drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from bench.growth import demand, page
from bench.growth.curves import Curve
from bench.growth.draw import Scale, picture, short
from bench.growth.points import DECODE, SEVERAL, TRAIN, Point, axes
from bench.speed.setups import Recipe
from sightline.models.build import build
from sightline.study.flops import work_of

MACHINE = {"processor": "one", "units": [], "cores": 2, "memory_gb": 4, "python": "3", "torch": "2"}


def part(points: list[dict[str, Any]]) -> dict[str, Any]:
    return {"date": "2026-01-01 00:00 UTC", "commit": "abc", "machine": MACHINE, "points": points}


def trained(rates: dict[int, float], memory: float = 1e9) -> dict[str, Any]:
    """Points along the length of sentences."""
    return part([{"point": replace(TRAIN, length=n).key, "rate": rate, "memory": memory} for n, rate in rates.items()])


def curve(name: str, told: dict[str, Any], figure: str = "rate") -> Curve:
    return next(found for found in Curve.of(name, told) if found.figure == figure)


def test_the_usual_model_is_that_of_all_comparisons() -> None:
    assert TRAIN.config == Recipe(1).config().model


@pytest.mark.parametrize("point", [TRAIN, replace(TRAIN, width=128, layers=1, vocabulary=500)])
def test_parameters_are_the_models_matrices(point: Point) -> None:
    model = build(point.config, point.vocabulary, point.vocabulary, 1)
    assert demand.parameters(point) == sum(p.numel() for p in model.parameters() if p.dim() > 1)


def test_an_axis_changes_one_size_and_goes_up() -> None:
    for kind, name, points in axes(quick=False, everything=True):
        assert {point.kind for point in points} == {kind}
        if name != SEVERAL:
            sizes = [point.key[name] for point in points]
            assert sizes == sorted(set(sizes))
            rest = {"pairs", "batch"} if kind == "decode" else {"pairs"}  # follow from the others
            changed = {key for point in points for key, size in point.key.items() if size != points[0].key[key]}
            assert changed - rest <= {name}


def test_a_corpus_has_several_unlike_updates() -> None:
    for kind, name, points in axes(quick=False, everything=False):
        if kind == "train" and name != SEVERAL:
            assert all(point.pairs * point.length >= 2 * point.batch for point in points), name


def test_all_goes_to_ten_million_pairs() -> None:
    reach = {kind: points[-1].pairs for kind, name, points in axes(quick=False, everything=True) if name == "pairs"}
    assert reach == {"train": 10**7, "prepare": 10**7, "order": 10**7}


def test_cost_is_that_of_the_formula() -> None:
    work = work_of(Recipe(1).config().model, 8000)
    assert demand.cost(TRAIN) == pytest.approx(work.training(16, 16) / 16)
    assert demand.cost(DECODE, beam=5) == pytest.approx(work.decoding(16, 16, 5) / 16)


def test_a_rate_as_demanded_is_not_worse() -> None:
    costs = {n: demand.cost(replace(TRAIN, length=n)) for n in (16, 64, 256)}
    found = curve("train length", trained({n: 1e9 / cost for n, cost in costs.items()}))
    assert found.measured == pytest.approx(found.demanded)
    assert found.worse == pytest.approx(1)
    assert not found.grows_worse


def test_a_rate_that_falls_too_fast_is_seen_even_after_it_rose() -> None:
    found = curve("train length", trained({16: 1000, 64: 4000, 256: 1000}))
    assert found.worse > 3
    assert found.grows_worse


def test_memory_that_need_not_grow_and_does_is_seen() -> None:
    told = trained({16: 1000, 64: 1000})
    assert not curve("train length", told, "memory").grows_worse
    told["points"][1]["memory"] = 2e9
    assert curve("train length", told, "memory").grows_worse


def test_growth_is_bytes_for_each_byte_demanded() -> None:
    assert demand.growth([100, 300], [1000, 1600]) == 3
    assert demand.growth([100, 100], [1000, 1600]) == 1.6


def test_memory_on_a_steeper_line_is_no_worse_but_a_bend_is() -> None:
    def grown(*sizes: float) -> Curve:
        batches = (1024, 2048, 4096)
        rows = [{"point": replace(TRAIN, batch=n).key, "rate": 1, "memory": m} for n, m in zip(batches, sizes, strict=True)]
        return curve("train batch", part(rows), "memory")

    needed = [demand.memory(replace(TRAIN, batch=n)) for n in (1024, 2048, 4096)]
    line = grown(*(4 * size for size in needed))
    assert line.worse == pytest.approx(4)
    assert not line.grows_worse
    assert grown(4 * needed[0], 4 * needed[1], 12 * needed[2]).grows_worse


def test_a_point_that_failed_is_left_out_and_told_of() -> None:
    told = trained({16: 1000, 64: 900, 256: 800})
    told["points"][1] = {"point": told["points"][1]["point"], "trouble": "did not end"}
    assert curve("train length", told).at == (16, 256)
    assert "did not end" in page._missing({"train length": told})


def test_processes_are_told_against_one_thread_of_the_same_update() -> None:
    def point(batch: int, rate: float, **more: int) -> dict[str, Any]:
        return {"point": replace(TRAIN, batch=batch, **more).key, "rate": rate, "memory": 1e9}

    points = [point(1024, 100, threads=1), point(1024, 150), point(4096, 200, threads=1), point(4096, 360, processes=2)]
    lines = page.processes_table(points).splitlines()[2:]
    assert [line.split(" | ")[3] for line in lines] == ["1.00", "1.50", "1.00", "1.80"]


def test_a_scale_is_logarithmic_and_its_ticks_lie_in_it() -> None:
    scale = Scale([10, 1000], 100)
    assert scale(100) == pytest.approx(50)
    assert all(0 <= scale(tick) <= 100 for tick in scale.ticks(5))
    assert 2 <= len(scale.ticks(5)) <= 5


def test_numbers_are_short() -> None:
    assert [short(n) for n in (8, 8000, 16384, 1e7)] == ["8", "8k", "16.4k", "10M"]
    assert [short(n, 2) for n in (512, 1024, 1e5, 1e6)] == ["512", "1k", "100k", "1M"]


def test_the_picture_has_every_point_inside_it() -> None:
    told = trained({16: 1000, 64: 900, 256: 50}, memory=2e9)
    drawn = ElementTree.fromstring(picture(Curve.of("train length", told)))
    _, _, width, height = map(float, drawn.attrib["viewBox"].split())
    points = [each for each in drawn.iter() if each.tag.endswith("circle")]
    assert len(points) == 6  # of the rates and of the memory
    assert all(0 < float(p.attrib["cx"]) < width and 0 < float(p.attrib["cy"]) < height for p in points)
    ups = [float(p.attrib["cy"]) for p in points[:3]]
    assert ups == sorted(ups)  # lower rates are drawn lower
