"""`sightline evaluate`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sightline.cli.words import DEVICE, ENGINE, say, split_words
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.runs.evaluate import Pairs


def evaluate(
    model: Annotated[Path, typer.Argument(help="Model folder, or the run folder around it.")],
    changes: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE…]", help="How to search, such as beam=1.")] = None,
    test: Annotated[list[str] | None, typer.Option(help="Pairs to score on; else those that training kept apart.")] = None,
    against: Annotated[list[Path] | None, typer.Option(help="A model to compare with: paired significance.")] = None,
    lowercase: Annotated[bool, typer.Option(help="Ignore case in BLEU and chrF.")] = False,
    tokenize: Annotated[str, typer.Option(help="BLEU's tokens: 13a, intl, zh, char, none.")] = "13a",
    moses: Annotated[bool, typer.Option(help="Also BLEU of lower-cased Moses tokens, as many papers print it.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Leave report.html and report.json in this folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
    device: Annotated[str, DEVICE] = "cpu",
    engine: Annotated[str | None, ENGINE] = None,
) -> None:
    """BLEU, chrF and TER with intervals and signatures, by sentence length, and significance against other models."""
    from sightline.config import load as read_options
    from sightline.decode.engine import engine_name
    from sightline.decode.load import load_translator
    from sightline.decode.options import SearchOptions
    from sightline.evaluate.report_html import write_report
    from sightline.evaluate.report_text import to_json, to_text
    from sightline.runs.evaluate import Contestant, Measure, make_report, recipe_of, translations

    words, settings = split_words(changes or [])
    if words:
        raise UserError(f"{words[0]}: not understood here; test pairs are named with --test {words[0]}")
    options = read_options(SearchOptions, None, settings)
    named = engine_name(engine)
    translator, (stored,) = load_translator([model], device, named)
    measure = Measure(lowercase, tokenize, stored.languages[1] if moses else "")
    pairs, name = test_pairs(test, stored.folder, stored.languages)
    folders, contestants = [stored.folder], [Contestant(str(model), translations(translator, pairs, options))]
    engines = [translator.engine(options).recipe]
    for path in against or []:
        other, (found,) = load_translator([path], device, named)
        folders.append(found.folder)
        engines.append(other.engine(options).recipe)
        contestants.append(Contestant(str(path), translations(other, pairs, options)))
    # The others are the baselines: differences are read as this model's lead.
    order = [*contestants[1:], contestants[0]]
    report = make_report(f"Evaluation of {model}", name, pairs, order, measure, recipe_of(folders, options, engines))
    sys.stdout.write(to_json(report) if as_json else to_text(report))
    if out is not None:
        write_report(report, out)
        say(f"the report is in {out / 'report.html'}")


def kept(folder: Path) -> Path:
    """Where a training leaves its test pairs, seen from its model."""
    return folder.parent / "data" / "test.jsonl"


def test_pairs(test: list[str] | None, folder: Path, languages: tuple[str, str]) -> tuple[Pairs, str]:
    """The test pairs, and what to call them."""
    from sightline.data.readers import read_pairs

    own = kept(folder)
    if not test and not own.exists():
        raise UserError(f"{folder}: no test pairs were kept with this model; name some with --test FILE")
    pairs = read_pairs(test or [str(own)], "source" if not test else languages[0], "target" if not test else languages[1],
                       bad=lambda line: say(f"skipped {line}"))  # fmt: skip
    found = [(pair.source, pair.target) for pair in pairs]
    if not found:
        raise UserError(f"{' '.join(test or [str(own)])}: no pair to score on")
    return found, " ".join(test) if test else str(own)
