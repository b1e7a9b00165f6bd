"""Sightline beside its peers: `python -m bench speed`, or parts of it.

    python -m bench speed                          # train, decode, roofline, curve, quality, then the tables of docs/speed.md
    python -m bench speed train decode --rounds 5
    python -m bench speed --quick                  # a few minutes, figures that mean nothing: does it all run?
    python -m bench speed sweep                    # the peers' best settings on this machine, kept in bench/sweeps.json
    python -m bench speed report                   # the tables again, from bench/results.json

What one part measures takes the place of what it had measured before, in bench/results.json; the others keep theirs.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.speed import curve, decoding, results, roofline, sweep, tables, training
from bench.speed.data import SCRATCH, Shared, real_data, shared_data
from bench.speed.envs import OF, set_up

PARTS = ("train", "decode", "roofline", "curve", "quality")  # in this order, without a name
ALL = (*PARTS, "sweep", "report", "setup")


def options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench speed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(ALL)}; none: {', '.join(PARTS)}")
    parser.add_argument("--model", type=Path, help="model folder that is decoded; unset: one is trained first, some minutes")
    parser.add_argument("--rounds", type=int, default=3, help="how often each program has its turn")
    parser.add_argument("--updates", type=int, default=0, help="of curve and quality; unset: 150 and 900")
    parser.add_argument("--every", type=int, default=100, help="updates between two measurements of quality")
    parser.add_argument("--bleu", type=float, default=30.0, help="the quality to be reached, dev BLEU of greedy search")
    parser.add_argument("--seeds", type=int, default=3, help="of the loss curve")
    parser.add_argument("--quick", action="store_true", help="a little of everything, in bench/scratch: proves that it runs")
    found = parser.parse_args(words)
    if unknown := [name for name in found.parts if name not in ALL]:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(ALL)}")
    return found


def main(words: list[str]) -> int:
    chosen = options(words)
    signal.signal(signal.SIGTERM, _leave)
    place = SCRATCH / "quick.json" if chosen.quick else results.RESULTS
    if chosen.parts != ["report"]:
        _measure(chosen, place)
    page = SCRATCH / "quick.md" if chosen.quick else tables.PAGE
    tables.fill(results.read(place), page)
    print(tables.summary(results.read(place)))
    return 0


def _leave(*_: object) -> None:
    """What was started is ended too; whoever asks twice must not interrupt that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def _measure(chosen: argparse.Namespace, place: Path) -> None:
    real_data()
    missing = set_up()
    absent = {system: missing[name] for system, name in OF.items() if name in missing}
    for system, trouble in absent.items():
        training.say(f"{system}: {trouble}")
    shared = shared_data(training.say)
    for name in chosen.parts or PARTS:
        training.say(f"== {name}")
        found = _part(name, chosen, shared, absent)
        if found is not None:
            results.write(results.merged(results.read(place), name, found), place)


def _part(name: str, chosen: argparse.Namespace, shared: Shared, missing: dict[str, str]) -> dict[str, Any] | None:
    """Measure it; None for what leaves no part."""
    quick = chosen.quick
    rounds, share = (1, 0.05) if quick else (chosen.rounds, 1.0)
    todo: dict[str, Callable[[], dict[str, Any] | None]] = {
        "train": lambda: training.measure(shared, rounds, share, missing),
        "decode": lambda: decoding.measure(chosen.model or decoding.trained_model(shared, quick), rounds, share, missing),
        "roofline": lambda: roofline.measure(
            shared, results.read(SCRATCH / "quick.json" if quick else results.RESULTS), small=quick
        ),
        "curve": lambda: curve.measure_curve(shared, 6 if quick else chosen.updates or 150, 1 if quick else chosen.seeds),
        "quality": lambda: curve.measure_quality(
            shared,
            6 if quick else chosen.updates or 900,
            3 if quick else chosen.every,
            chosen.bleu,
            20 if quick else 500,
        ),
        "sweep": lambda: sweep.everything(shared, chosen.model, missing, quick),
        "report": lambda: None,
        "setup": lambda: None,
    }
    return todo[name]()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
