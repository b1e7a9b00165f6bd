"""`sightline train`"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.words import say, setting, split_words
from sightline.errors import UserError

INTERRUPTED = 130


def train(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE… [CONFIG.toml] [KEY=VALUE…]",
            help="Parallel text (.tsv, .jsonl, two line-aligned files, - for standard input, builtin:200000), a "
            "configuration, and changes to it.",
        ),
    ] = None,
    source: Annotated[str, typer.Option("--from", help="Language code of the source.")] = "",
    target: Annotated[str, typer.Option("--to", help="Language code of the target.")] = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the run; the model comes to lie in it.")] = None,
    preset: Annotated[
        str, typer.Option(help="tiny, small, base, big, recurrent, bottleneck, student; auto: by corpus size.")
    ] = "auto",
    dev: Annotated[list[str] | None, typer.Option(help="Development pairs; else some are cut from the training pairs.")] = None,
    test: Annotated[list[str] | None, typer.Option(help="Test pairs; else some are cut from the training pairs.")] = None,
) -> None:
    """Train a translator from parallel text; the same command goes on with a run that was stopped."""
    if out is None:
        raise UserError("where to? say -o FOLDER, such as -o my-model")
    files, changes = split_words(words or [])
    configs = [word for word in files if word.endswith(".toml")]
    if len(configs) > 1:
        raise UserError(f"{' and '.join(configs)}: one configuration at a time; put the second one's keys on the command line")
    corpora = [word for word in files if not word.endswith(".toml")]
    given = {"source": source, "target": target, "data.train": corpora, "data.dev": dev or [], "data.test": test or []}
    changes = [*(setting(key, value) for key, value in given.items() if value), *changes]

    from sightline.runs.request import Request
    from sightline.runs.train import train_model

    outcome = train_model(Request(preset, Path(configs[0]) if configs else None, tuple(changes)), out, say)
    if outcome.leads and not outcome.interrupted:
        for score in outcome.scores:
            print(score)
        say(f"the model is in {outcome.folder.model}; try: sightline translate {out}")
    _leave(INTERRUPTED if outcome.interrupted else 0)


def _leave(code: int) -> None:
    """End with this exit code; as one of several processes at once, without the interpreter's clean-up.

    A thread of PyTorch's exchange now and then outlives that clean-up and aborts a process whose work is done and saved.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    if code:
        raise typer.Exit(code)
