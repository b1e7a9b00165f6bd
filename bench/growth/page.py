"""The table of docs/growth.md, between marks, so that the text around it stays; and a line for each point as it is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.growth.curves import Curve
from bench.growth.draw import NAMES, short
from bench.growth.points import SEVERAL, Point
from bench.speed.tables import filled, number, origin, table

WORK = {"train": "training", "decode": "decoding", "prepare": "preparing", "order": "an epoch's order"}
SERIES = {"": "", "beam1": ", greedy", "beam5": ", beam 5"}


def line(axis: str, point: Point, told: Mapping[str, Any]) -> str:
    """For the terminal."""
    size = f"{point.batch} tokens, {_workers(point)}" if axis == SEVERAL else f"{axis} {point.key[axis]}"
    head = f"{WORK[point.kind]:<17} {size:<30}"
    if "trouble" in told:
        return f"{head} {told['trouble']}"
    figures = {name: told[name] for name in ("beam1", "beam5") if name in told} or {"": told}
    said = [f"{one['rate']:>11,.0f}/s {one['memory'] / 1e6:>7,.0f} MB{SERIES[name]}" for name, one in figures.items()]
    return f"{head} {'   '.join(said)}"


def _workers(point: Point) -> str:
    if point.processes > 1:
        return f"{point.processes} processes"
    return "one thread" if point.threads == 1 else f"one process, {point.threads} threads"


def fill(told: Mapping[str, Any], curves: Sequence[Curve], page: Path) -> None:
    """Put the tables in their places."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    last = max(told.values(), key=lambda part: str(part["date"]))
    text = filled(text, "growth", f"{growth_table(curves)}\n\n{origin(last)}{_missing(told)}")
    if several := told.get(f"train {SEVERAL}"):
        text = filled(text, "processes", processes_table(several["points"]))
    page.write_text(text, encoding="utf-8")


def growth_table(curves: Sequence[Curve]) -> str:
    """A row for each curve of rates with its memory."""
    memories = {(c.kind, c.axis, c.series): c for c in curves if c.figure == "memory"}
    rows = []
    for curve in (c for c in curves if c.figure == "rate"):
        memory = memories[curve.kind, curve.axis, curve.series]
        rows.append(
            [
                f"{WORK[curve.kind]}{SERIES[curve.series]}",
                f"{NAMES[curve.axis]}: {' · '.join(short(place, 2) for place in curve.at)}",
                " · ".join(short(float(f"{rate:.3g}")) for rate in curve.measured),
                _verdict(curve),
                " · ".join(f"{size / 1e6:.0f}" for size in memory.measured),
                _verdict(memory),
            ]
        )
    return table(["work", "what grows", "rate, 1/s", "last step costs", "peak memory, MB", "memory grows"], rows)


def _verdict(curve: Curve) -> str:
    """How many times what is demanded; marked where that is worse."""
    said = f"×{number(curve.worse)}"
    return f"**{said}**" if curve.grows_worse else said


def processes_table(points: Sequence[Mapping[str, Any]]) -> str:
    """One thread, one process and several, for each size of an update."""
    rows, base = [], 1.0
    for told in points:
        point = Point(**told["point"])
        if "trouble" in told:
            rows.append([f"{point.batch:,}", _workers(point), told["trouble"], "", ""])
            continue
        base = told["rate"] if point.threads == 1 else base
        memory = f"{told['memory'] / 1e6:,.0f}"
        rows.append([f"{point.batch:,}", _workers(point), f"{told['rate']:,.0f}", f"{told['rate'] / base:.2f}", memory])
    return table(["tokens an update", "who computes", "target tokens/s", "times one thread", "peak memory, MB"], rows)


def _missing(told: Mapping[str, Any]) -> str:
    """Points that could not be measured."""
    lines = [f"- {name}: {point['trouble']}" for name, part in told.items() for point in part["points"] if "trouble" in point]
    return "\n".join(["\n\nNot measured:", "", *lines]) if lines else ""
