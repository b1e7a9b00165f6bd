"""What the user typed as training data, understood.

    corpus.tsv                source TAB target; further columns are ignored; a first row of language codes names the columns
    corpus.jsonl              one object a line, keys named after the languages, or "source" and "target"
    train.de train.en         two files, line by line; ordered by their endings where these are the language codes
    -                         TSV on standard input
    builtin:200000            generated French-English pairs; builtin:test:2000 for another part than "train"

Files may be packed (.gz, .xz, .zst).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from sightline.errors import UserError
from sightline.text.lines import COMPRESSED_SUFFIXES, STANDARD_INPUT, display_name

if TYPE_CHECKING:  # the grammar takes a while to load, and few need it
    from sightline.data.grammar import Part

Form: TypeAlias = Literal["tsv", "jsonl", "lines", "builtin"]

BUILTIN = "builtin"
BUILTIN_PARTS: tuple[Part, ...] = ("train", "dev", "test")
BUILTIN_LANGUAGES = ("fr", "en")
_SUFFIXES: dict[str, Form] = {".tsv": "tsv", ".jsonl": "jsonl"}
_FOREIGN = (".csv", ".tmx", ".xliff", ".xlf", ".xlsx")  # what people have and would take for read


@dataclass(frozen=True, slots=True)
class Input:
    """One corpus to read."""

    form: Form
    name: str  # what provenance calls it
    paths: tuple[str, ...] = ()  # two when the sides lie in two files, source first; none when generated
    languages: tuple[str, str] = ("", "")
    part: Part = "train"  # of the built-in corpus
    count: int = 0  # pairs to generate
    again: bool = True  # whether it can be read a second time; standard input cannot


def parse_inputs(words: Sequence[str], source: str, target: str) -> tuple[Input, ...]:
    """The corpora that the words name, in their order."""
    inputs: list[Input] = []
    waiting: str | None = None  # the first of two line-aligned files
    for word in words:
        form: Form = "tsv" if word == STANDARD_INPUT else _form(word)
        if form == "lines" and waiting is None:
            waiting = word
        elif form == "lines" and waiting is not None:
            inputs.append(_two_files(waiting, word, source, target))
            waiting = None
        elif waiting is not None:
            raise UserError(_alone(waiting))
        elif form == "builtin":
            inputs.append(_builtin(word, source, target))
        else:
            again = word != STANDARD_INPUT
            inputs.append(Input(form, display_name(word), (word,), (source, target), again=again))
    if waiting is not None:
        raise UserError(_alone(waiting))
    if sum(not one.again for one in inputs) > 1:
        raise UserError('"-" is given more than once; standard input can be read only once')
    return tuple(inputs)


def _form(word: str) -> Form:
    if word == BUILTIN or word.startswith(f"{BUILTIN}:"):
        return "builtin"
    suffix = _unpacked(word).suffix.lower()
    if suffix in _FOREIGN:
        raise UserError(f"{word}: {suffix} is not read; save it as .tsv (source TAB target) or .jsonl first")
    return _SUFFIXES.get(suffix, "lines")


def _unpacked(word: str) -> Path:
    """The path as it would be named when not packed."""
    path = Path(word)
    return path.with_suffix("") if path.suffix in COMPRESSED_SUFFIXES else path


def _two_files(first: str, second: str, source: str, target: str) -> Input:
    endings = [_unpacked(path).suffix.removeprefix(".") for path in (first, second)]
    if endings[0] == endings[1] and endings[0] in (source, target) and source != target:
        raise UserError(
            f"{first} and {second} are both in {endings[0]!r}; name the two sides of each corpus one after the other, "
            f"such as train.{source} train.{target}"
        )
    if endings == [target, source]:
        first, second = second, first
    return Input("lines", first, (first, second), (source, target))


def _alone(word: str) -> str:
    return (
        f"{word}: a file of one language needs its other half next to it; give two line-aligned files, "
        "or a file named .tsv (source TAB target) or .jsonl"
    )


def _builtin(word: str, source: str, target: str) -> Input:
    parts = word.split(":")
    named = parts[1] if len(parts) == 3 else "train"
    part = next((known for known in BUILTIN_PARTS if known == named), None)
    digits = parts[-1].replace("_", "")
    if len(parts) not in (2, 3) or part is None or not (digits.isascii() and digits.isdigit()) or int(digits) < 1:
        raise UserError(
            f"{word}: expected {BUILTIN}:COUNT or {BUILTIN}:PART:COUNT, PART one of {', '.join(BUILTIN_PARTS)}, "
            f"such as {BUILTIN}:200000"
        )
    if {source, target} != set(BUILTIN_LANGUAGES):
        raise UserError(
            f"{word}: the built-in corpus is French and English, not {source or '?'} and {target or '?'}; "
            "set the languages to fr and en"
        )
    return Input("builtin", word, languages=(source, target), part=part, count=int(digits))
