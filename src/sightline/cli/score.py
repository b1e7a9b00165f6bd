"""`sightline score`"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.words import say

CHUNK = 4096


def score(
    model: Annotated[Path, typer.Argument(help="Model folder, or the run folder around it.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Pairs: .tsv, .jsonl, two line-aligned files, or -.")],
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, with every piece.")] = False,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """How likely the model finds given translations: file:line, log-probability, perplexity per piece."""
    from sightline.api import load
    from sightline.data.readers import read_pairs

    translator = load(model, device=device)
    pairs = read_pairs(files, *translator.languages, bad=lambda line: say(f"skipped {line}"))
    while some := list(islice(pairs, CHUNK)):
        found = translator.score([(pair.source, pair.target) for pair in some])
        for pair, each in zip(some, found, strict=True):
            if as_json:
                pieces = list(zip(each.pieces, each.log_probabilities, strict=True))
                record = {"at": pair.origin, "log_probability": each.total, "perplexity": each.perplexity, "pieces": pieces}
                print(json.dumps(record, ensure_ascii=False))
            else:
                print(f"{pair.origin}\t{each.total:.4f}\t{each.perplexity:.4f}")
