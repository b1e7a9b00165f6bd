"""`sightline corpus`"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from sightline.data.grammar import Example

Form = Literal["tsv", "jsonl", "pharaoh", "conllu"]


def corpus(
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Sentence pairs.")] = 10,
    part: Annotated[Literal["train", "dev", "test"], typer.Option(help="Which part of the corpus.")] = "train",
    seed: Annotated[int, typer.Option(help="Another seed gives other sentences.")] = 1,
    start: Annotated[int, typer.Option(min=0, help="Number of the first sentence, from 0.")] = 0,
    form: Annotated[
        Form,
        typer.Option("--as", help="tsv; jsonl: all that is known; pharaoh: gold links; conllu: French trees."),
    ] = "tsv",
) -> None:
    """Sentences of the built-in French–English grammar, with gold alignments, dependencies and antecedents."""
    from sightline.data.grammar import examples

    for example in examples(seed, part, count, start):
        print(_written(example, form), end="")


def _written(example: Example, form: Form) -> str:
    match form:
        case "tsv":
            return f"{' '.join(example.source)}\t{' '.join(example.target)}\n"
        case "conllu":
            return example.conllu()
        case "pharaoh":
            links = [(*link, "-") for link in example.sure] + [(*link, "p") for link in example.possible]
            return " ".join(f"{source}{mark}{target}" for source, target, mark in sorted(links)) + "\n"
        case "jsonl":
            record = {
                "source": " ".join(example.source),
                "target": " ".join(example.target),
                "sure": sorted(example.sure),
                "possible": sorted(example.possible),
                "antecedents": example.antecedents,
                "heads": example.heads,
                "relations": example.relations,
                "lemmas": example.lemmas,
                "tags": example.tags,
            }
            return json.dumps(record, ensure_ascii=False) + "\n"
