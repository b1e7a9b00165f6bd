"""`sightline demo`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.train import INTERRUPTED
from sightline.cli.words import say, split_words
from sightline.errors import UserError


def demo(
    changes: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE…]", help="Changes to the preset demo.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the run.")] = Path("demo"),
) -> None:
    """Built-in corpus to translator to score to attention, in about five minutes and without any data."""
    files, settings = split_words(changes or [])
    if files:
        raise UserError(f"{files[0]}: the demonstration brings its own corpus; for yours: sightline train {files[0]} …")

    from sightline.runs.demo import demonstrate

    if not demonstrate(out, tuple(settings), say):
        raise typer.Exit(INTERRUPTED)
