"""A block's raw lines into pairs and bad lines: every line of it becomes one of the two.

A blank line is a pair of two empty texts, so that whoever writes one line for each pair read keeps step.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sightline.data.blocks import Block
from sightline.data.inputs import BUILTIN_LANGUAGES
from sightline.data.pairs import BadLine


@dataclass(frozen=True, slots=True)
class Parsed:
    """The pairs of a block, side by side, and what was no pair."""

    block: Block
    lines: list[int] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    bad: list[BadLine] = field(default_factory=list)

    @property
    def read(self) -> int:
        return len(self.lines) + len(self.bad)

    def add(self, line: int, source: str, target: str) -> None:
        self.lines.append(line)
        self.sources.append(source)
        self.targets.append(target)

    def refuse(self, line: int, reason: str, text: str = "", file: str | None = None) -> None:
        self.bad.append(BadLine(file or self.block.input.name, line, reason, text))


def parse(block: Block, seed: int) -> Parsed:
    """Take a block apart; only generated text asks for the seed."""
    parsed = Parsed(block)
    if block.input.form == "builtin":
        _generate(parsed, seed)
    elif block.input.form == "lines":
        _parse_lines(parsed)
    elif block.input.form == "jsonl":
        _parse_jsonl(parsed)
    else:
        _parse_tsv(parsed)
    return parsed


def _generate(parsed: Parsed, seed: int) -> None:
    from sightline.data.grammar import texts  # its dictionaries take a while to load, and few need them

    block = parsed.block
    parsed.lines.extend(range(block.first, block.first + block.size))
    french, english = parsed.sources, parsed.targets
    if block.input.languages != BUILTIN_LANGUAGES:
        french, english = english, french
    for source, target in texts(seed, block.input.part, block.size, block.first - 1):
        french.append(source)
        english.append(target)


def _parse_tsv(parsed: Parsed) -> None:
    (side,), (source, target) = parsed.block.sides, parsed.block.columns
    enough = max(source, target) + 1
    for line, text in enumerate(side.texts, parsed.block.first):
        if text is None:
            parsed.refuse(line, side.problems[line - parsed.block.first])
        elif len(cells := text.split("\t")) >= enough:
            parsed.add(line, cells[source], cells[target])
        elif text.strip():
            parsed.refuse(line, "no tab" if enough == 2 else f"{len(cells)} columns where {enough} are needed", text)
        else:
            parsed.add(line, "", "")


def _parse_lines(parsed: Parsed) -> None:
    (left, right), files = parsed.block.sides, parsed.block.input.paths
    for line, (source, target) in enumerate(zip(left.texts, right.texts, strict=True), parsed.block.first):
        if source is not None and target is not None:
            parsed.add(line, source, target)
        else:
            side, file, other = (left, files[0], target) if source is None else (right, files[1], source)
            parsed.refuse(line, side.problems[line - parsed.block.first], other or "", file)


def _parse_jsonl(parsed: Parsed) -> None:
    (side,), languages = parsed.block.sides, parsed.block.input.languages
    for line, text in enumerate(side.texts, parsed.block.first):
        if text is None:
            parsed.refuse(line, side.problems[line - parsed.block.first])
        elif not text.strip():
            parsed.add(line, "", "")
        else:
            try:
                parsed.add(line, *_texts_of(json.loads(text), languages))
            except RecursionError:
                parsed.refuse(line, "not a plain JSON object", text)
            except ValueError as error:
                parsed.refuse(line, f"not valid JSON ({error})" if isinstance(error, json.JSONDecodeError) else str(error), text)


def _texts_of(value: Any, languages: tuple[str, str]) -> tuple[str, str]:
    """Source and target of one object; what is missing is said."""
    if isinstance(value, dict) and isinstance(value.get("translation"), dict):
        value = value["translation"]
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    spellings = [names for names in (languages, ("source", "target")) if all(names)]
    names = max(spellings, key=lambda names: sum(name in value for name in names))
    texts = [value.get(name) for name in names]
    for name, text in zip(names, texts, strict=True):
        if name not in value:
            raise ValueError(f"no key {name!r}")
        if not isinstance(text, str):
            raise ValueError(f"{name!r} is not text")
        if not _is_unicode(text):
            raise ValueError(f"{name!r} holds half a surrogate pair")
    return str(texts[0]), str(texts[1])


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
