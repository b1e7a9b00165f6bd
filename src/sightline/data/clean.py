"""Which pairs are fit to train on, and the audit of those that are not."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sightline.data.config import CleanConfig
from sightline.data.pairs import BadLine

Rule: TypeAlias = Literal["unreadable", "empty", "control", "length", "ratio", "copy", "duplicate", "held_out", "pieces"]

# All that Unicode calls control characters but the tab, which is white space in any text, and the replacement character.
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\ufffd]")
_SLACK = 10  # characters


def broken_rule(source: str, target: str, config: CleanConfig) -> tuple[Rule, str] | None:
    """The first rule that a pair breaks, looked at by itself, and how."""
    if not source or not target:
        return "empty", "source" if target else "target" if source else "both sides"
    if config.control and (found := _control(source) or _control(target)):
        return "control", f"U+{ord(found):04X}"
    short, long = len(source), len(target)
    if short > long:
        short, long = long, short
    if long >= 2 * config.max_length:  # there cannot be too many words in less
        words = max(len(source.split()), len(target.split()))
        if words > config.max_length:
            return "length", f"{words} words"
    if long + _SLACK > config.max_ratio * (short + _SLACK):
        return "ratio", f"{len(source)} to {len(target)} characters"
    if config.copies and source == target:
        return "copy", "source and target are the same"
    return None


def _control(text: str) -> str | None:
    """The first forbidden character; nearly every text is found to have none without looking at it one by one."""
    if text.isprintable() and "\ufffd" not in text:
        return None
    found = _CONTROL.search(text)
    return found and found[0]


@dataclass(slots=True)
class Audit:
    """What was dropped: counts by rule, and one JSON object a line about each, ready to be written."""

    counts: Counter[str] = field(default_factory=Counter)
    _lines: list[str] = field(default_factory=list)

    def drop(self, rule: Rule, why: str, file: str, line: int, source: str, target: str) -> None:
        self.counts[rule] += 1
        self._write({"rule": rule, "why": why, "at": f"{file}:{line}", "source": source, "target": target})

    def bad(self, bad: BadLine) -> None:
        """A line that was no pair: it is counted by itself."""
        self._write({"rule": "unreadable", "why": bad.reason, "at": f"{bad.file}:{bad.line}", "text": bad.text})

    def text(self) -> str:
        return "".join(self._lines)

    def _write(self, entry: dict[str, str]) -> None:
        self._lines.append(json.dumps(entry, ensure_ascii=False) + "\n")
