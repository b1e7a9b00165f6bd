"""Translate with one of Sightline's engines: `python -m bench.speed.our_decoder JOB.json`, a process of its own."""

from __future__ import annotations

import time

begin = time.perf_counter()

import json  # noqa: E402
import sys  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from bench.peers.timing import measured, write  # noqa: E402
from sightline import load  # noqa: E402
from sightline.decode.options import SearchOptions  # noqa: E402


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    model = load(job["model"], engine=job["engine"])
    told: dict[str, Any] = {"loaded_s": time.perf_counter() - begin}
    longest = model.translator.longest
    for work in job["works"]:
        options = SearchOptions(beam=work["beam"], length_penalty=job["length_penalty"])
        engine = model.translator.engine(options)
        told["recipe"] = engine.recipe

        def search(rows: Sequence[Any]) -> list[list[Any]]:
            found = engine.search(rows, options, None, longest)  # noqa: B023
            return [list(hypotheses[0].tokens) for hypotheses in found]

        def texts(rows: Sequence[Any]) -> list[list[Any]]:
            return [[found.text] for found in model.translate(rows, options)]  # noqa: B023

        by_text = work["name"].endswith("_text")
        told[work["name"]] = measured(work, texts if by_text else search, job["texts"] if by_text else job["sources"])
    write(job["out"], told)


main()
