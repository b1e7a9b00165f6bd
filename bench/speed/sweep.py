"""Which settings suit each peer best on this machine: `python -m bench speed sweep`, kept in bench/sweeps.json."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.speed import decoding, results
from bench.speed.data import SCRATCH, Shared
from bench.speed.jobs import Failed
from bench.speed.setups import PEERS, Setup
from bench.speed.training import beside_elsewhere, say, take_turns

COMMAND = "python -m bench speed sweep"
VARIABLES: list[dict[str, str]] = [{}, {"OMP_NUM_THREADS": "1"}, {"CT2_USE_MKL": "0"}, {"CT2_USE_MKL": "1"}]  # of CTranslate2
SHARE = 0.35  # of the updates of a measured run


def training_setups(system: str) -> list[Setup]:
    """What is tried. What a peer cannot do on a CPU is not in the list: see NOT_POSSIBLE."""
    one = Setup(system, malloc="tuned")
    match system:
        case "transformers":
            return [
                Setup(system),
                Setup(system, malloc="tuned", wait="PASSIVE"),
                Setup(system, "bf16", malloc="tuned"),
                Setup(system, "bf16", "eager"),
                Setup(system, "bf16", "eager", "tuned"),
                Setup(system, "bf16", "eager", "tuned", wait="PASSIVE"),
                Setup(system, "bf16", "eager", "tuned", processes=2),
            ]
        case "eole":
            return [one, Setup(system, "bf16", malloc="tuned"), Setup(system, "bf16", "eager", "tuned")]
        case _:
            return [Setup(system), one]


NOT_POSSIBLE = {
    "opennmt": "bf16 (it autocasts on CUDA only) and several processes (on CUDA only)",
    "eole": "several processes (on CUDA only)",
    "joeynmt": "bf16 (it turns half precision off on a CPU) and several processes (on CUDA only)",
}


def sweep_training(shared: Shared, missing: Mapping[str, str], share: float = SHARE) -> dict[str, Any]:
    """Every setting of every peer, once."""
    setups = [setup for system in PEERS if system not in missing for setup in training_setups(system)]
    rows = take_turns(setups, 1, shared, share)
    told = {system: [row.told() for row in rows if row.setup.system == system] for system in PEERS}
    return {**told, "beside_elsewhere": beside_elsewhere(rows)}


def ctranslate2_choices() -> list[tuple[dict[str, Any], dict[str, str]]]:
    """Settings for batches, with environment variables. bf16 is not among them: it refuses it on a CPU without AMX, and with."""
    sizes = [("examples", 16), ("examples", 32), ("examples", 64), ("examples", 128), ("tokens", 1024), ("tokens", 2048)]
    usual = sizes[1:2]
    ways = [
        ((2, 1), sizes, VARIABLES[:1]),
        ((2, 1), usual, VARIABLES[1:]),
        ((1, 2), usual, VARIABLES[:1]),
        ((1, 1), usual, VARIABLES[:1]),
    ]
    return [
        ({"compute": "int8", "inter": inter, "intra": intra, "batch": size, "batch_type": kind}, chosen)
        for (inter, intra), some, environments in ways
        for (kind, size), chosen in itertools.product(some, environments)
    ]


def sweep_ctranslate2(model: decoding.Model, share: float) -> dict[str, Any]:
    """The best for batches of either beam together, and the best for single sentences."""
    rows, alone = [], []
    for chosen, variables in ctranslate2_choices():
        rows.append(_tried("ctranslate2", chosen, variables, model, share, single=False))
    for intra, variables in ((1, VARIABLES[0]), (1, VARIABLES[1]), (1, VARIABLES[2]), (2, VARIABLES[0])):
        chosen = {**decoding.CT2_SINGLE, "intra": intra}
        alone.append(_tried("ctranslate2", chosen, variables, model, share, single=True))
    return {"tried": [*rows, *alone], "best": _best([*rows, *alone])}


def sweep_transformers(model: decoding.Model, share: float) -> dict[str, Any]:
    """Precision, attention, size of batches, and when a beam ends."""
    rows = [
        _tried(
            "transformers", {"precision": p, "attention": a, "batch": b, "early_stopping": True}, {}, model, share, single=False
        )
        for p, a, b in [("fp32", "sdpa", 64), ("bf16", "sdpa", 64), ("bf16", "eager", 64), ("bf16", "sdpa", 200)]
    ]
    alone = [
        _tried("transformers", {**decoding.HF_BATCH, "precision": p}, {}, model, share, single=True) for p in ("fp32", "bf16")
    ]
    return {"tried": [*rows, *alone], "best": _best([*rows, *alone])}


def _tried(
    system: str, chosen: dict[str, Any], variables: dict[str, str], model: decoding.Model, share: float, single: bool
) -> dict[str, Any]:
    """One choice, greedy and with a beam."""
    singles = 40 if system == "ctranslate2" else 16
    row: dict[str, Any] = {"settings": chosen, "variables": variables}
    choices = {f"{name}_{kind}": row for name in decoding.BEAMS for kind in ("batch", "single")}
    decoder = decoding.Decoder(system, system, choices, singles=singles, passes=1)
    works = [work for work in decoder.works(share) if work["single"] == single]
    try:
        told, _ = decoding.decode(decoder, model, works)
    except Failed as error:
        return {**row, "trouble": str(error)}
    row["rates"] = {work["name"]: round(decoding.figures(told[work["name"]], model)["rate"], 2) for work in works}
    say(f"{system} {chosen} {variables}: {row['rates']}")
    return row


def _best(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """For each kind of work the fastest settings: a peer may have others for greedy than for a beam."""
    some = [row for row in rows if "rates" in row]
    works = dict.fromkeys(name for row in some for name in row["rates"])
    fastest = {work: max((row for row in some if work in row["rates"]), key=_rate(work)) for work in works}
    return {work: {"settings": row["settings"], "variables": row["variables"]} for work, row in fastest.items()}


def _rate(work: str) -> Callable[[dict[str, Any]], float]:
    return lambda row: float(row["rates"][work])


def everything(shared: Shared, path: Path | None, missing: Mapping[str, str], quick: bool) -> None:
    """All peers; what was found before is replaced."""
    share = 0.05 if quick else SHARE
    keep("train", sweep_training(shared, missing, share), quick)
    model = decoding.prepared_model(path or decoding.trained_model(shared, quick))
    found = {}
    if "ctranslate2" not in missing:
        found["ctranslate2"] = sweep_ctranslate2(model, share)
    if "transformers" not in missing:
        found["transformers"] = sweep_transformers(model, share)
    keep("decode", found, quick)


def keep(name: str, found: Mapping[str, Any], quick: bool) -> None:
    """Put into bench/sweeps.json what was tried, with the command that tries it again."""
    place = SCRATCH / "quick-sweeps.json" if quick else results.SWEEPS
    known = results.read(place)
    about = {"command": COMMAND, "not_possible": NOT_POSSIBLE}
    results.write({**known, **about, f"{name}_measured": results.part({}, {}), name: dict(found)}, place)
