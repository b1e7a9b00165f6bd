"""Curves as one SVG of small panels, both scales logarithmic: what was measured, and dashed what the mathematics demands.

Colours are of middle lightness, so that they show on white and on black; there is no background.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bench.growth.curves import Curve

WIDTH, HEIGHT = 150, 104  # of a panel's frame
LEFT, TOP, GAP, BELOW = 144, 66, 46, 56
LEAST = 760  # units, so that the legend has room
ROOM = 24  # between two numbers below a panel
GREY, FRAME = "#808890", "#808890"
COLOURS = {"": "#2f80ed", "beam1": "#2f80ed", "beam5": "#e07b39", "prepare": "#2f9e6e", "order": "#9b6dd6"}
NAMES = {
    "length": "tokens a sentence",
    "batch": "batch",
    "width": "width",
    "layers": "layers, each side",
    "vocabulary": "vocabulary",
    "pairs": "pairs of the corpus",
}
# Panels from left to right, and rows from top to bottom: which kinds of work are drawn in them, the figure, the words beside.
COLUMNS = tuple(NAMES)
ROWS = (
    (("train",), "rate", ("training", "tokens/s")),
    (("train",), "memory", ("training", "memory, MB")),
    (("decode", "prepare", "order"), "rate", ("decoding", "tokens/s,", "data: pairs/s")),
    (("decode", "prepare", "order"), "memory", ("decoding, data", "memory, MB")),
)


class Scale:
    """Numbers on a logarithmic line of so many units, widened so that it shows at least a factor of 4."""

    def __init__(self, values: Sequence[float], units: float) -> None:
        low, high = math.log10(min(values)), math.log10(max(values))
        short = max(0.0, math.log10(4) - (high - low)) / 2
        self.low, self.high, self.units = low - short - 0.06, high + short + 0.06, units

    def __call__(self, value: float) -> float:
        return (math.log10(value) - self.low) / (self.high - self.low) * self.units

    def ticks(self, most: int) -> list[float]:
        """Round numbers in reach, at most so many."""
        for steps in ((1, 2, 5), (1, 3), (1,)):
            found = [
                step * 10.0**power
                for power in range(math.floor(self.low), math.ceil(self.high) + 1)
                for step in steps
                if self.low <= math.log10(step * 10.0**power) <= self.high
            ]
            if 2 <= len(found) <= most:
                return found
        return found[:: max(1, math.ceil(len(found) / most))]


def short(value: float, digits: int = 3) -> str:
    """A number in few letters."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{float(f'{value / size:.{digits}g}'):g}{letter}"
    return f"{value:.3g}"  # 512 stays


def picture(curves: Sequence[Curve]) -> str:
    """All panels."""
    columns = [name for name in COLUMNS if any(curve.axis == name for curve in curves)]
    width, height = LEFT + len(columns) * (WIDTH + GAP), TOP + len(ROWS) * (HEIGHT + BELOW)
    width = max(width, LEAST)
    body = [*_legend()]
    for down, (kinds, figure, words) in enumerate(ROWS):
        y = TOP + down * (HEIGHT + BELOW)
        body += [_text(LEFT - 44, y + HEIGHT / 2 + 14 * (line - 0.3), word, "end", 12) for line, word in enumerate(words)]
        for across, axis in enumerate(columns):
            own = [curve for curve in curves if curve.kind in kinds and curve.figure == figure and curve.axis == axis]
            if own:
                body += _panel(LEFT + across * (WIDTH + GAP), y, axis, own)
    inside = "\n".join(body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="Helvetica, Arial, DejaVu Sans, sans-serif">\n<title>Cost as work grows</title>\n{inside}\n</svg>\n'
    )


def _legend() -> Iterator[str]:
    """In two lines: the curves, then the dashes."""
    entries = (
        ("training, or greedy search", COLOURS[""]),
        ("beam 5", COLOURS["beam5"]),
        ("preparing, pairs/s", COLOURS["prepare"]),
        ("an epoch's order, sentences/s", COLOURS["order"]),
    )
    x = 20.0
    for words, colour in entries:
        yield f'<line x1="{x:.0f}" y1="20" x2="{x + 22:.0f}" y2="20" stroke="{colour}" stroke-width="2"/>'
        yield _text(x + 28, 24, words, "start", 12)
        x += 56 + 6.8 * len(words)
    yield f'<line x1="20" y1="40" x2="42" y2="40" stroke="{GREY}" stroke-width="1.4" stroke-dasharray="4 3"/>'
    yield _text(48, 44, "what the mathematics demands, drawn through the first point", "start", 12)


def _panel(x: float, y: float, axis: str, curves: Sequence[Curve]) -> Iterator[str]:
    unit = 1e6 if curves[0].figure == "memory" else 1.0
    values = [value / unit for curve in curves for value in (*curve.measured, *curve.demanded)]
    right, up = Scale([place for curve in curves for place in curve.at], WIDTH), Scale(values, HEIGHT)
    yield f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="{FRAME}" stroke-opacity="0.55"/>'
    for place in _spaced(sorted({place for curve in curves for place in curve.at}), right):
        yield _rule(x + right(place), y, x + right(place), y + HEIGHT)
        yield _text(x + right(place), y + HEIGHT + 13, short(place, 2), "middle", 10)
    for tick in up.ticks(6):
        yield _rule(x, y + HEIGHT - up(tick), x + WIDTH, y + HEIGHT - up(tick))
        yield _text(x - 4, y + HEIGHT - up(tick) + 3.5, short(tick), "end", 10)
    yield _text(x + WIDTH / 2, y + HEIGHT + 28, _title(axis, curves), "middle", 11)
    for curve in curves:
        colour = COLOURS[curve.kind if curve.kind in COLOURS else curve.series]
        wanted, taken = (
            [(x + right(place), y + HEIGHT - up(value / unit)) for place, value in zip(curve.at, figures, strict=True)]
            for figures in (curve.demanded, curve.measured)
        )
        yield f'<polyline points="{_path(wanted)}" fill="none" stroke="{GREY}" stroke-width="1.4" stroke-dasharray="4 3"/>'
        yield f'<polyline points="{_path(taken)}" fill="none" stroke="{colour}" stroke-width="1.8"/>'
        yield from (f'<circle cx="{across:.1f}" cy="{down:.1f}" r="2.4" fill="{colour}"/>' for across, down in taken)


def _spaced(places: Sequence[int], right: Scale) -> list[int]:
    """Those whose numbers do not run into each other, the largest first."""
    found: list[int] = []
    for place in reversed(places):
        if not found or right(found[-1]) - right(place) >= ROOM:
            found.append(place)
    return found


def _title(axis: str, curves: Sequence[Curve]) -> str:
    if axis == "batch":
        return "tokens an update" if curves[0].kind == "train" else "sentences given at once"
    return NAMES[axis]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{FRAME}" stroke-opacity="0.18"/>'


def _text(x: float, y: float, words: str, anchor: str, size: int) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{GREY}">{words}</text>'
