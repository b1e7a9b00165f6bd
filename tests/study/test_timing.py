"""Several ways of doing one thing take turns, and what comes of it is told with its spread."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from sightline.study import timing
from sightline.study.rates import Rates, measure_rates
from sightline.study.table import Table
from sightline.study.timing import Spread, interleaved, percentile, ratio


def test_jobs_take_turns_and_begin_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    order, clock = list[str](), [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock[0])

    def job(name: str, seconds: float) -> Callable[[], None]:
        def work() -> None:
            order.append(name)
            clock[0] += seconds

        return work

    found = interleaved({"a": job("a", 1.0), "b": job("b", 3.0)}, 3)
    assert found == {"a": [1.0] * 3, "b": [3.0] * 3}
    assert "".join(order) == "ab" + "ab" + "ba" + "ab"  # the first of all do not count


def test_a_short_job_is_done_often(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock[0])
    done = {"a": 0, "b": 0}

    def job(name: str, seconds: float) -> None:
        done[name] += 1
        clock[0] += seconds

    jobs = {"a": lambda: job("a", 0.125), "b": lambda: job("b", 3.0)}
    assert interleaved(jobs, 2, shortest=0.5) == {"a": [0.125] * 2, "b": [3.0] * 2}
    assert done == {"a": 2 + 2 * 4, "b": 2 + 2}


def test_a_ratio_is_taken_round_by_round() -> None:
    """A round in which the machine was slow slows both."""
    assert ratio([2.0, 20.0, 3.0], [1.0, 10.0, 1.0]) == Spread(2.0, 2.0, 3.0)


def test_a_spread_is_told_with_its_ends() -> None:
    assert Spread.of([1234.4, 1300.0, 1100.0]).text() == "1,234 [1,100 – 1,300]"
    assert Spread.of([1.0, 2.0]).text(2) == "1.50 [1.00 – 2.00]"


@pytest.mark.parametrize(("share", "value"), [(0.5, 10), (0.95, 19), (1.0, 20), (0.01, 1)])
def test_percentiles(share: float, value: int) -> None:
    assert percentile(list(range(20, 0, -1)), share) == value


def test_the_processor_has_rates_by_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.study.rates.SECONDS", 0.001)
    monkeypatch.setattr("sightline.study.rates.SHAPES", ((64, 64, 64),))
    monkeypatch.setattr("sightline.study.rates.READ", 1 << 16)
    found = measure_rates()
    assert min(found.fp32, found.bf16, found.bandwidth) > 1e6


@pytest.mark.parametrize(
    ("recipe", "rate"),
    [("torch fp32", 1.0), ("native int8, 2 workers", 3.0), ("native bf16, 1 worker", 2.0), ("x", 1.0), ("int8_float32", 3.0)],
)
def test_a_recipe_names_its_precision(recipe: str, rate: float) -> None:
    assert Rates(1.0, 2.0, 3.0, 4.0).of(recipe) == rate


def test_without_a_product_of_int8_the_share_is_of_fp32() -> None:
    assert Rates(1.0, 2.0, 0.0, 4.0).of("native int8") == 1.0


def test_a_table_on_the_screen_and_in_markdown() -> None:
    table = Table(("name", "n"), (("a|b", "1,000"), ("次", "7")))
    assert table.text() == "name      n\na|b   1,000\n次        7"
    assert table.markdown() == "| name | n |\n| --- | ---: |\n| a\\|b | 1,000 |\n| 次 | 7 |"


def test_the_clock_is_a_real_one() -> None:
    assert 0 < timing.seconds_of(lambda: time.perf_counter()) < 1
