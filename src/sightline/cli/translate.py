"""`sightline translate`"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from sightline.cli.words import DEVICE, ENGINE, say, split_words
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.api import Model
    from sightline.decode.translate import Translation

CHUNK = 2048  # lines whose sentences are sorted by length together


def translate(
    model: Annotated[Path, typer.Argument(help="Model folder, or the run folder around it.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE…] [KEY=VALUE…]", help="Text, a line each (else standard input), and how to search."),
    ] = None,
    also: Annotated[list[Path] | None, typer.Option("--with", help="A further model that votes on every token.")] = None,
    sample: Annotated[bool, typer.Option(help="Draw at random instead: count=3 temperature=0.8 top_p=0.9 seed=1.")] = False,
    prefixes: Annotated[Path | None, typer.Option(help="A file that says, line by line, how each translation begins.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One object a line: scores and alternatives.")] = False,
    attention: Annotated[
        Path | None, typer.Option(help="Write every layer's and head's weights here, an object for each text.")
    ] = None,
    device: Annotated[str, DEVICE] = "cpu",
    engine: Annotated[str | None, ENGINE] = None,
) -> None:
    """Translate lines; there are as many lines out as in. Searching takes beam=5 n_best=1 length_penalty=1 and the like."""
    from sightline.api import load
    from sightline.config import load as read_options
    from sightline.decode.options import SampleOptions, SearchOptions

    if sample and prefixes is not None:
        raise UserError("--sample draws freely and takes no --prefixes; leave one of the two out")
    if sample and engine is not None:
        raise UserError("--sample draws with the torch engine and takes no --engine; leave it out")
    if attention is not None and also:
        raise UserError("--attention shows one model, and --with makes several vote; leave one of the two out")
    files, changes = split_words(words or [])
    for file in files:
        if file != "-" and not Path(file).exists():
            raise UserError(
                f"{file}: there is no such file; text comes from a file or from standard input, "
                f"such as: echo '{file}' | sightline translate {model}"
            )
    sampling = read_options(SampleOptions, None, changes) if sample else None
    search = SearchOptions() if sample else read_options(SearchOptions, None, changes)
    translator = load(model, *(also or []), device=device, engine=engine)
    if engine == "auto":
        say(f"the fastest here: {translator.engine(search)}")
    starts = iter(_lines([str(prefixes)])) if prefixes is not None else None
    at_once = 1 if not files and sys.stdin is not None and sys.stdin.isatty() else CHUNK
    lines, number = iter(_lines(files or ["-"])), 0
    with ExitStack() as stack:
        maps = stack.enter_context(attention.open("w", encoding="utf-8")) if attention is not None else None
        while texts := list(islice(lines, at_once)):
            if sampling is not None:
                found = translator.sample(texts, sampling, number)
            else:
                found = translator.translate(texts, search, None if starts is None else _as_many(starts, len(texts)))
            number += len(texts)
            _print(found, as_json)
            if maps is not None:
                _write_maps(translator, found, maps)


def _lines(files: Sequence[str]) -> Iterator[str]:
    """Every line; one that cannot be read stays as an empty one, and is told."""
    from sightline.text.lines import display_name, read_lines

    for file in files:
        for line in read_lines(file):
            if line.text is None:
                say(f"{display_name(file)}:{line.number}: {line.problem}; left empty")
            yield line.text or ""


def _as_many(starts: Iterator[str], count: int) -> list[str]:
    """The next prefixes; where there are none left, none."""
    some = list(islice(starts, count))
    return [*some, *[""] * (count - len(some))]


def _print(found: Sequence[Translation], as_json: bool) -> None:
    for translation in found:
        print(_json(translation) if as_json else " ".join(translation.text.splitlines()))
    sys.stdout.flush()


def _json(translation: Translation) -> str:
    candidates = [
        {"text": each.text, "score": each.score, "log_probability": each.log_probability} for each in translation.candidates
    ]
    record = {"source": translation.source, "translation": translation.text, "candidates": candidates}
    return json.dumps(record, ensure_ascii=False)


def _write_maps(model: Model, found: Sequence[Translation], file: TextIO) -> None:
    for explanation in model.explain_translations(found):
        file.write(explanation.to_json() + "\n")
