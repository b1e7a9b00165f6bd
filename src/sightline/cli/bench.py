"""`sightline bench`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.words import say
from sightline.errors import UserError

KEPT = ("test.jsonl", "dev.jsonl")


def bench(
    model: Annotated[Path, typer.Argument(help="Model folder, or the run folder around it.")],
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Text to translate, a line each; else what training kept apart.")
    ] = None,
    engine: Annotated[list[str] | None, typer.Option(help="Only this engine: torch, native, ctranslate2.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """In about a minute: how fast this model is on this machine, with every engine, and what share of the machine that is."""
    from sightline.decode.engine import engine_name
    from sightline.models.store import find
    from sightline.study.bench import bench as measure
    from sightline.study.bench_text import to_json, to_text

    for name in engine or []:
        engine_name(name)  # says so if there is no such engine
    folder = find(model)
    texts, source = _texts(folder, file)
    found = measure(folder, texts, source, engine or [], say)
    sys.stdout.write(to_json(found) + "\n" if as_json else to_text(found))


def _texts(folder: Path, file: str | None) -> tuple[list[str], str]:
    """What to translate, and what to call it."""
    import json

    from sightline.text.lines import display_name, read_lines

    if file is not None:
        return [line.text for line in read_lines(file) if line.text], display_name(file)
    for path in (folder.parent / "data" / name for name in KEPT):
        if path.exists() and (lines := path.read_text(encoding="utf-8").split("\n")[:-1]):
            return [json.loads(line)["source"] for line in lines], str(path)
    raise UserError(f"{folder}: no text was kept with this model; name a file with a sentence in each line")
