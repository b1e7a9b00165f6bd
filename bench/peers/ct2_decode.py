# mypy: ignore-errors
"""Translate with CTranslate2, in an environment of its own: `python ct2_decode.py JOB.json`."""

from __future__ import annotations

import time

begin = time.perf_counter()

import functools  # noqa: E402
import sys  # noqa: E402

import ctranslate2  # noqa: E402
from clock import read_job  # noqa: E402
from timing import measured, write  # noqa: E402


def main() -> None:
    job = read_job(sys.argv[1])
    names, end = job["names"], job["names"][job["eos"]]
    ids = {name: number for number, name in enumerate(names)}
    sources = [[*(names[i] for i in row), end] for row in job["sources"]]

    @functools.cache
    def translator(compute: str, inter: int, intra: int) -> ctranslate2.Translator:
        return ctranslate2.Translator(job["model"], compute_type=compute, inter_threads=inter, intra_threads=intra)

    works = {}
    for work in job["works"]:
        chosen = work["settings"]
        engine = translator(chosen["compute"], chosen["inter"], chosen["intra"])
        works.setdefault("loaded_s", time.perf_counter() - begin)
        options = {
            "max_batch_size": chosen["batch"],
            "batch_type": chosen["batch_type"],
            "beam_size": work["beam"],
            "length_penalty": job["length_penalty"],
            "max_decoding_length": job["longest"],
            "max_input_length": 0,
        }
        works[work["name"]] = measured(work, functools.partial(search, engine, options, ids), sources)
    write(job["out"], works)


def search(engine: ctranslate2.Translator, options: dict, ids: dict[str, int], rows: list[list[str]]) -> list[list[int]]:
    return [[ids[piece] for piece in found.hypotheses[0]] for found in engine.translate_batch(rows, **options)]


main()
