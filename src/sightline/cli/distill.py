"""`sightline distill`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.words import say, split_words
from sightline.errors import UserError

INTERRUPTED = 130


def distill(
    teacher: Annotated[Path, typer.Argument(help="The model that teaches: its run folder, or its model folder.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE…] [KEY=VALUE…]",
            help="Parallel text whose sources are taught (else what the teacher was trained on), and changes to the student.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Run folder of the student.")] = None,
    also: Annotated[list[Path] | None, typer.Option("--with", help="A further teacher; they vote on every token.")] = None,
    text: Annotated[list[str] | None, typer.Option(help="Text of the source language alone, a line each.")] = None,
    preset: Annotated[str, typer.Option(help="student: 6 + 1 layers of the teacher's width; or one of train's.")] = "student",
    beam: Annotated[int, typer.Option(help="How widely the teacher searches.")] = 5,
    keep_originals: Annotated[bool, typer.Option(help="Learn people's translations besides the teacher's.")] = False,
    dev: Annotated[list[str] | None, typer.Option(help="Development pairs; else those the teacher was chosen by.")] = None,
    test: Annotated[list[str] | None, typer.Option(help="Test pairs; else those kept with the teacher.")] = None,
    beside: Annotated[list[Path] | None, typer.Option(help="A further model, such as another student, for the table.")] = None,
    lesson: Annotated[Path | None, typer.Option(help="Another student of this teacher, whose translations are taken.")] = None,
    engine: Annotated[str | None, typer.Option(help="torch, native, ctranslate2 or auto.")] = None,
) -> None:
    """Train a small, fast student on a teacher's translations; the same command goes on with one that was stopped."""
    if out is None:
        raise UserError("where to? say -o FOLDER, such as -o my-student")
    files, changes = split_words(words or [])

    from sightline.decode.engine import engine_name
    from sightline.decode.options import SearchOptions
    from sightline.study.distill import Distillation
    from sightline.study.distill import distill as teach
    from sightline.study.lesson import Material

    if beam < 1:
        raise UserError(f"--beam {beam}: a search keeps at least 1 hypothesis")
    material = Material(tuple(files), tuple(text or ()), tuple(dev or ()), tuple(test or ()), keep_originals)
    wanted = Distillation(
        (teacher, *(also or ())),
        out,
        material,
        preset,
        tuple(changes),
        SearchOptions(beam=beam),
        engine_name(engine),
        tuple(beside or ()),
        lesson,
    )
    try:
        outcome, found = teach(wanted, say)
    except KeyboardInterrupt:
        say("stopped; the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None
    if found is None:
        raise typer.Exit(INTERRUPTED)
    sys.stdout.write(found.text())
    say(f"the student is in {outcome.folder.model}; the table is in {out / 'comparison.md'}; try: sightline translate {out}")
