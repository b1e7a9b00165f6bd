"""Target tokens per second, ours and the peers': runs that take turns, each in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.speed import results
from bench.speed.data import SCRATCH, TOKENS, Shared
from bench.speed.envs import python_of, versions
from bench.speed.jobs import Failed, run, threads
from bench.speed.results import plain, ratio
from bench.speed.setups import OURS, PEERS, Recipe, Setup, Trained, train
from sightline.study.timing import Spread
from sightline.train.precision import resolve

WARM = 7  # updates before the clock counts
UPDATES = {OURS: 40, "joeynmt": 6}  # after them
USUAL_UPDATES = 12
LIMIT = 240.0  # seconds for one run
DISTURBED = 0.05  # of the processor: what a quiet machine does not reach
HELP = {
    OURS: ["-m", "sightline", "train", "--help"],
    "transformers": ["-c", "from transformers import PegasusForConditionalGeneration, Seq2SeqTrainer"],
    "opennmt": ["-m", "onmt.bin.train", "--help"],
    "eole": ["-m", "eole.bin.main", "train", "--help"],
    "joeynmt": ["-m", "joeynmt", "--help"],
    "ctranslate2": ["-c", "import ctranslate2"],
}


@dataclass
class Row:
    """One program with its settings, over all rounds."""

    setup: Setup
    rates: dict[int, float] = field(default_factory=dict)
    runs: list[Trained] = field(default_factory=list)
    trouble: str = ""

    def told(self) -> dict[str, Any]:
        """For the results."""
        row: dict[str, Any] = {"name": self.setup.name, "setup": self.setup.key, "trouble": self.trouble}
        if not self.rates:
            return row
        row["tokens_per_second"] = plain(Spread.of(list(self.rates.values())))
        row["rounds"] = {str(number): round(rate, 1) for number, rate in self.rates.items()}
        row["tokens_per_update"] = round(sum(tokens for one in self.runs for _, tokens in one.ticks) / self._updates())
        row["first_update_s"] = plain(Spread.of([one.first for one in self.runs]))
        row["peak_rss_mb"] = round(max(one.ran.rss for one in self.runs) / 1e6)
        row["parameters"] = self.runs[0].parameters
        row["disturbed"] = round(max(one.ran.disturbed for one in self.runs), 3)
        return row

    def _updates(self) -> int:
        return sum(len(one.ticks) for one in self.runs)


def take_turns(setups: Sequence[Setup], rounds: int, shared: Shared, share: float = 1.0) -> list[Row]:
    """Every setup once, then every setup again: what changes in the machine meanwhile, changes for all.

    `share`: of the updates that a full measurement has.
    """
    rows, warm = [Row(setup) for setup in setups], max(1, round(share * WARM))
    for number in range(rounds):
        for row in rows:
            if row.trouble:
                continue
            updates = warm + max(2, round(share * UPDATES.get(row.setup.system, USUAL_UPDATES)))
            try:
                done = train(row.setup, Recipe(updates), shared, SCRATCH / "train" / row.setup.system, LIMIT)
            except Failed as error:
                row.trouble = str(error)
                say(f"round {number + 1}: {row.setup.name}: {error}")
                continue
            row.rates[number] = done.rate(warm)
            row.runs.append(done)
            say(f"round {number + 1}: {row.setup.name}: {row.rates[number]:,.0f} target tokens/s{alarm(done.ran.disturbed)}")
    return rows


def alarm(disturbed: float) -> str:
    """A warning, where other programs were at work."""
    return f"; other programs took {100 * disturbed:.0f} % of the processor meanwhile" if disturbed > DISTURBED else ""


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def our_setups() -> list[Setup]:
    """As the command line runs it, with two processes, and without bf16."""
    import torch

    best = resolve("auto", torch.device("cpu"))
    other = [Setup(OURS, "fp32")] if best != "fp32" else []
    return [Setup(OURS, best), Setup(OURS, best, processes=2), *other]


AS_INSTALLED = Setup("transformers")  # what the ratios of the peers among themselves are told against


def peer_setups(sweeps: Mapping[str, Any]) -> list[Setup]:
    """Each peer at its best of the sweep, at its best without bf16, and transformers as installed."""
    found = [AS_INSTALLED]
    for system in PEERS:
        rows = [row for row in sweeps.get("train", {}).get(system, []) if "tokens_per_second" in row]
        rows.sort(key=lambda row: -float(row["tokens_per_second"]["median"]))
        setups = [Setup(**row["setup"]) for row in rows]
        found += setups[:1] or [Setup(system, malloc="tuned")]
        found += [setup for setup in setups if setup.precision == "fp32"][:1]
    return list(dict.fromkeys(found))


def measure(shared: Shared, rounds: int, share: float, missing: Mapping[str, str]) -> dict[str, Any]:
    """The part "train" of the results."""
    setups = [*our_setups(), *peer_setups(results.read(results.SWEEPS))]
    rows = take_turns([setup for setup in setups if setup.system not in missing], rounds, shared, share)
    ours = [row for row in rows if row.setup.system == OURS and row.rates]
    theirs = [row for row in rows if row.setup.system != OURS and row.rates]
    told = {
        "rows": [row.told() for row in rows],
        "missing": dict(missing),
        "ratios": {name: plain(spread) for name, spread in ratios(ours, theirs).items()},
        "beside_elsewhere": beside_elsewhere(rows),
        "start_up_s": start_up(1 if share < 1 else 3, missing),
        "versions": {system: versions(system) for system in ("transformers",) if system not in missing},
    }
    chosen = {"rounds": rounds, "warm_updates": WARM, "tokens": TOKENS, "updates": {**UPDATES, "others": USUAL_UPDATES}}
    return results.part(told, {**chosen, "share": share})


def fastest(rows: Sequence[Row]) -> Row:
    """By the median of its rounds."""
    return max(rows, key=lambda row: Spread.of(list(row.rates.values())).median)


# Each peer's rate over that of transformers as installed, on two cores with AMX, in November 2026. A peer far below its ratio is
# set up wrong, or this machine is of another kind: where fp32 products are slow, all that is besides them weighs less.
ELSEWHERE = {
    Setup("transformers", malloc="tuned"): 1.16,
    Setup("transformers", "bf16"): 1.02,
    Setup("transformers", "bf16", "eager"): 1.41,
    Setup("transformers", "bf16", "eager", "tuned"): 1.95,
    Setup("opennmt", malloc="tuned"): 1.31,
    Setup("eole", malloc="tuned"): 1.33,
    Setup("eole", "bf16", malloc="tuned"): 1.89,
    Setup("joeynmt", malloc="tuned"): 0.49,
}
TOO_SLOW = 0.85  # of its ratio there


def beside_elsewhere(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The peers' ratios among themselves, here and there."""
    base = next((row for row in rows if row.setup == AS_INSTALLED and row.rates), None)
    found: list[dict[str, Any]] = []
    for row in rows:
        if base is None or not row.rates or row.setup not in ELSEWHERE:
            continue
        here, there = ratio(row.rates, base.rates).median, ELSEWHERE[row.setup]
        found.append({"name": row.setup.name, "here": round(here, 3), "elsewhere": there, "slow": here < TOO_SLOW * there})
    return found


def ratios(ours: Sequence[Row], theirs: Sequence[Row]) -> dict[str, Spread]:
    """Ours over the best peer's, over each peer's best, and the same where nobody uses bf16."""
    if not ours or not theirs:
        return {}
    best = fastest(ours)
    found = {"train_vs_best_peer": ratio(best.rates, fastest(theirs).rates)}
    for system in dict.fromkeys(row.setup.system for row in theirs):
        found[f"train_vs_{system}"] = ratio(best.rates, fastest([row for row in theirs if row.setup.system == system]).rates)
    mine, others = ([row for row in rows if row.setup.precision == "fp32"] for rows in (ours, theirs))
    if mine and others:
        found["train_fp32_vs_best_peer_fp32"] = ratio(fastest(mine).rates, fastest(others).rates)
    return found


def start_up(times: int, missing: Mapping[str, str]) -> dict[str, float]:
    """Seconds until a program has said its help, or until its library is imported: the best of several."""
    found = {}
    for system, words in HELP.items():
        if system not in missing:
            command: list[str | Path] = [python_of(system), *words]
            try:
                found[system] = round(min(run(command, threads(1), 60.0).seconds for _ in range(times)), 2)
            except Failed as error:
                say(f"{system}: {error}")
    return found
