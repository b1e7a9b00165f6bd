"""What each of several processes does in `test_ranks`: the same runs, one after the other; a line of JSON for each.

Every process has a folder of its own, as machines without a shared disk have.
"""

from __future__ import annotations

import json
import math
import signal
import sys
from dataclasses import replace
from pathlib import Path

import torch
from tiny_run import RECURRENT, SAMPLES, Run, configured, fingerprint, make_corpus

from sightline.errors import UserError
from sightline.train.config import RunConfig
from sightline.train.events import Skipped, Stepped
from sightline.train.ranks import Ranks, joined

SHORT = configured(log_every=1, max_updates=12)
SCENARIOS: dict[str, RunConfig] = {
    "plain": SHORT,
    "fewer sentences than processes": configured(SHORT, tokens=10),
    "accumulated": configured(SHORT, accumulate=3),
    "averages": configured(SHORT, ema=0.9, average=2),
    "recurrent": replace(SHORT, model=RECURRENT),
    "patience": configured(SHORT, patience=1, validate_every=3),
    "minutes": configured(SHORT, max_minutes=1e-9),
    "not finite": SHORT,
    "always not finite": configured(SHORT, max_updates=100),
    "stopped": SHORT,
}
BAD_UPDATE = 4  # in which one process alone computes a loss that is not finite
STOP = 5


def poison(run: Run, *, always: bool) -> None:
    """One sample's loss is not finite, in one update or in all."""
    inner = run.task.loss
    guilty = int(run.task.rows(0, BAD_UPDATE - 1)[1])

    def loss(model, rows, epoch, noise):  # type: ignore[no-untyped-def]
        value = inner(model, rows, epoch, noise)
        bad = always or (guilty in rows and run.loop.progress.update in (BAD_UPDATE - 1, BAD_UPDATE))
        return value * (math.nan if bad else 1.0)

    run.task.loss = loss  # type: ignore[method-assign]


def stop_one(run: Run) -> None:
    """The last process alone is asked to leave."""
    inner = run.task.rows

    def rows(epoch, index):  # type: ignore[no-untyped-def]
        if run.loop.progress.update == STOP - 1 and run.ranks.rank == run.ranks.world - 1:
            signal.raise_signal(signal.SIGTERM)
        return inner(epoch, index)

    run.task.rows = rows  # type: ignore[method-assign]


def outcome(run: Run) -> dict[str, object]:
    try:
        reason = run.go()
    except UserError as error:
        reason = str(error)
    return {
        "reason": reason,
        "update": run.loop.progress.update,
        "losses": [event.loss for event in run.events if isinstance(event, Stepped)],
        "gradients": [event.gradient for event in run.events if isinstance(event, Stepped)],
        "skipped": [[event.update, *event.origins] for event in run.events if isinstance(event, Skipped)],
        "weights": fingerprint(run.loop.model),
        "ema": run.loop.ema and fingerprint(run.loop.ema),
        "kept": run.kept,
        "files": sorted(path.name for path in run.folder.iterdir()),
    }


def play(folder: Path, ranks: Ranks) -> dict[str, dict[str, object]]:
    """All scenarios in this process."""
    told = {}
    for name, config in SCENARIOS.items():
        run = Run(folder / name, config, ranks)
        if "not finite" in name:
            poison(run, always=name.startswith("always"))
        if name == "stopped":
            stop_one(run)
        told[name] = outcome(run)
    told["resumed"] = outcome(Run(folder / "stopped", SCENARIOS["stopped"], ranks))
    return told


def astray(folder: Path, ranks: Ranks) -> str:
    """The last process alone has other data."""
    folder.mkdir()
    make_corpus(folder / "corpus", SAMPLES + (ranks.rank == ranks.world - 1))
    try:
        Run(folder / "run", SHORT, ranks)
    except UserError as error:
        return str(error)
    return ""


def sent(ranks: Ranks) -> dict[str, object]:
    """What comes from the leading process, which alone has anything to tell; tensors bit for bit."""
    value = {"é": [1, 0.1, None, "\u2028"], "none": math.inf} if ranks.leads else None
    whole = {"a": torch.tensor([[-0.0, 1e-45]]), "step": torch.tensor(5.0), "b": torch.tensor([3], dtype=torch.bfloat16)}
    got = ranks.tensors_from_leader(whole if ranks.leads else {})
    same = [(got[n].dtype, got[n].shape, got[n].signbit().tolist()) == (t.dtype, t.shape, t.signbit().tolist())
            and torch.equal(got[n], t) for n, t in whole.items()]  # fmt: skip
    return {"value": ranks.from_leader(value), "same": same, "names": list(got)}


def main() -> None:
    with joined() as ranks:
        own = Path(sys.argv[1]) / f"rank {ranks.rank}"
        own.mkdir()
        told = {**play(own, ranks), "astray": {"reason": astray(own / "astray", ranks)}, "sent": sent(ranks)}
        (own / "told.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
