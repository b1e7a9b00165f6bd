"""`sightline look` and `sightline align`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.data.pairs import BadLine

Reading = Literal["while_writing", "after_reading"]
READING = "Weights of the step that writes a word, or of the step after it, which reads it."


def look(
    model: Annotated[Path, typer.Argument(help="Model folder, or the run folder around it.")],
    text: Annotated[str, typer.Argument(help="A sentence of the source language.")],
    target: Annotated[str | None, typer.Option(help="Its translation; else the model's own.")] = None,
    layer: Annotated[int, typer.Option(help="Which decoder layer, counted from 0; -1 is the last.")] = -1,
    head: Annotated[int | None, typer.Option(help="From 0; else the mean of all heads.")] = None,
    reading: Annotated[Reading, typer.Option(help=READING)] = "while_writing",
    as_json: Annotated[bool, typer.Option("--json", help="Every layer and head, as JSON.")] = False,
) -> None:
    """Draw what each word of a translation looks at."""
    import shutil

    from sightline.api import load
    from sightline.look.draw import draw, shading_for

    if not text.strip():
        raise UserError("there is no text to look at; give a sentence of the source language")
    explanation = load(model).explain(text, target)
    if as_json:
        print(explanation.to_json())
        return
    print(" ".join(explanation.target.words), end="\n\n")
    width = shutil.get_terminal_size().columns
    print(draw(explanation, explanation.cross(layer), head, reading, shading=shading_for(sys.stdout), width=width))


def align(
    model: Annotated[Path, typer.Argument(help="Model folder, or the run folder around it.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Pairs: .tsv, .jsonl, two line-aligned files, or -.")],
    layer: Annotated[int, typer.Option(help="Which decoder layer, counted from 0; -1 is the last.")] = -1,
    head: Annotated[int | None, typer.Option(help="From 0; else the mean of all heads.")] = None,
    reading: Annotated[Reading, typer.Option(help=READING)] = "while_writing",
) -> None:
    """Word alignment out of attention: a line of links source-target (Pharaoh format, from 0) for each pair."""
    from sightline.api import load
    from sightline.data.readers import read_pairs
    from sightline.evaluate.link_files import pharaoh_line
    from sightline.look.align import alignments

    opened = load(model)
    pairs = read_pairs(files, *opened.languages, bad=_refuse)
    for explanation in opened.explain_pairs((pair.source, pair.target) for pair in pairs):
        print(pharaoh_line(alignments(explanation, explanation.cross(layer), head, reading)))


def _refuse(line: BadLine) -> NoReturn:
    """A line left out would shift all links after it."""
    raise UserError(f"{line}; mend the line: links are told apart by their line alone")
