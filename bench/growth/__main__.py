"""Cost as work grows: `python -m bench growth`, about eight minutes; the picture and the table of docs/growth.md come of it.

    python -m bench growth                      # every axis; corpora to 10^6 pairs
    python -m bench growth --all                # corpora to 10^7
    python -m bench growth --only length width  # these axes; the others stay as they were measured before
    python -m bench growth --quick              # less than a minute, in bench/scratch: proves that it runs
    python -m bench growth report               # picture and table again, from bench/growth.json

Each point is a process of its own, so its peak of memory is its own. The same point on several axes is measured once.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.growth import page
from bench.growth.curves import Curve
from bench.growth.draw import picture
from bench.growth.points import QUICK, SEVERAL, STEPS, Point, axes
from bench.speed import results
from bench.speed.data import ROOT, SCRATCH
from bench.speed.envs import python_of
from bench.speed.jobs import Failed, distributed, run, threads

RESULTS = ROOT / "bench" / "growth.json"
DOCS = ROOT / "docs"
LIMIT, LONG_LIMIT = 120.0, 1200.0  # seconds of a point; the second where a large corpus is prepared
AXES = tuple(dict.fromkeys([*(name for grows in STEPS.values() for name in grows), SEVERAL]))


def measure(point: Point) -> dict[str, Any]:
    """One point, or why there is none."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    variables = {**threads(1), "OMP_NUM_THREADS": str(point.threads // point.processes)}
    limit = LONG_LIMIT if point.kind == "prepare" else LIMIT
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        words = ["-m", "bench.growth.work", json.dumps(point.key), folder]
        try:
            run(distributed(python_of("sightline"), point.processes, words), variables, limit)
            found: dict[str, Any] = json.loads((Path(folder) / "told.json").read_text(encoding="utf-8"))
        except (Failed, OSError) as error:
            return {"point": point.key, "trouble": " ".join(str(error).split())[-300:]}
    return found


def measured(only: Sequence[str], quick: bool, everything: bool) -> dict[str, Any]:
    """The points of each axis, by kind of work and axis."""
    known: dict[Point, dict[str, Any]] = {}
    found = {}
    for kind, name, points in axes(quick, everything):
        if only and name not in only:
            continue
        for point in points:
            if point not in known:
                known[point] = measure(point)
                print(page.line(name, point, known[point]), flush=True)
        told = {"points": [known[point] for point in points]}
        found[f"{kind} {name}"] = results.part(told, {"quick": quick})
    return found


def options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench growth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", choices=("measure", "report"), default="measure")
    parser.add_argument("--only", nargs="+", choices=AXES, default=[], metavar="AXIS", help=f"some of {', '.join(AXES)}")
    parser.add_argument("--quick", action="store_true", help=f"few points on {len(QUICK)} kinds of work, in bench/scratch")
    parser.add_argument("--all", action="store_true", help="corpora to 10^7 pairs: ten minutes more")
    return parser.parse_args(words)


def write(told: dict[str, Any], docs: Path) -> None:
    """Picture and page."""
    curves = [curve for name, part in told.items() for curve in Curve.of(name, part)]
    (docs / "growth").mkdir(parents=True, exist_ok=True)
    (docs / "growth" / "growth.svg").write_text(picture(curves), encoding="utf-8")
    page.fill(told, curves, docs / "growth.md")


def main(words: Sequence[str]) -> int:
    chosen = options(words)
    place, docs = (SCRATCH / "growth.json", SCRATCH) if chosen.quick else (RESULTS, DOCS)
    told = results.read(place)
    if chosen.part == "measure":
        told |= measured(chosen.only, chosen.quick, chosen.all)
        place.parent.mkdir(parents=True, exist_ok=True)
        results.write(told, place)
    if not told:
        print(f"{place}: nothing has been measured yet; leave out the word report", file=sys.stderr)
        return 2
    write(told, docs)
    troubles = [point for part in told.values() for point in part["points"] if "trouble" in point]
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
