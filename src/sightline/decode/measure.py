"""How fast an engine is here: it is tried on made-up sentences for a moment, and the figure is kept in the user's cache."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

import numpy as np
import torch

from sightline.data.workers import cores
from sightline.decode.cached import fingerprint
from sightline.decode.engine import Engine
from sightline.decode.options import SearchOptions
from sightline.decode.shortlist import FILE as SHORTLIST
from sightline.errors import UserError
from sightline.models.store import Stored
from sightline.native import cache_folder
from sightline.text.files import write_whole
from sightline.text.tokenizer import UNK

SECONDS = 0.25  # a trial that takes as long is believed
FEWEST, MOST = 8, 2048  # sentences in a trial
LENGTHS = (8, 25)  # pieces of a made-up sentence, the second bound left out
INSTALLED = ("sightline", "torch", "ctranslate2")  # another version is another speed


def rates(stored: Stored, engines: Mapping[str, Callable[[], Engine]], beam: int) -> dict[str, float]:
    """Sentences a second of each engine for this model and beam on this machine, measured if they were not before."""
    options = SearchOptions(beam=beam, max_ratio=1.0, max_extra=8)
    machine = [_processor(), f"{cores()} cores", f"{torch.get_num_threads()} threads", *map(_version, INSTALLED)]
    listed = f"shortlist: {(stored.folder / SHORTLIST).exists()}"
    kept = cache_folder("engines") / f"{fingerprint(stored, *machine, *sorted(engines), f'beam={beam}', listed)}.json"
    known = _read(kept)
    if known is not None and known.keys() <= engines.keys():
        return known
    made = {name: make() for name, make in engines.items()}
    found = {name: rate(engine, stored, options) for name, engine in made.items() if not engine.can(options)}
    try:
        write_whole(kept, json.dumps(found))
    except UserError:
        return found  # no place to keep it: it is measured again next time
    return found


def rate(engine: Engine, stored: Stored, options: SearchOptions) -> float:
    """Sentences a second, in a trial long enough to be believed."""
    longest = stored.config.max_length - 1
    count = FEWEST
    engine.search(sentences(stored, count), options, None, longest)  # what is done once only
    while True:
        rows, began = sentences(stored, count), time.perf_counter()
        engine.search(rows, options, None, longest)
        took = time.perf_counter() - began
        if took >= SECONDS or count >= MOST:
            return count / took
        count *= 4


def sentences(stored: Stored, count: int) -> list[list[int]]:
    """Pieces drawn from the whole vocabulary."""
    drawn, shortest = np.random.default_rng(count), min(LENGTHS[0], stored.config.max_length - 1)
    lengths = drawn.integers(shortest, min(LENGTHS[1], stored.config.max_length), count)
    return [drawn.integers(UNK + 1, stored.tokenizers[0].size, length).tolist() for length in lengths]


def _read(path: Path) -> dict[str, float] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    usable = isinstance(found, dict) and found and all(isinstance(value, float) for value in found.values())
    return found if usable else None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next((line for line in lines if line.startswith("model name")), f"{platform.machine()} {platform.processor()}")


def _version(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"no {package}"
