"""On which line each key of a TOML text stands: `tomllib` says what a text means, but not where."""

from __future__ import annotations

import re
import tomllib

Key = tuple[str | int, ...]
"""The way to a value: names of keys, and places in arrays."""

_TOKEN = re.compile(
    r'''
    (?P<skipped> [ \t\r]+ | \#[^\n]* )
  | (?P<string> """(?:\\.|[^\\])*?""" "{0,2} | \'\'\'.*?\'\'\' '{0,2} | "(?:\\.|[^"\\])*" | '[^']*' )
  | (?P<bare> [A-Za-z0-9_-]+ )
  | (?P<mark> . )
    ''',
    re.VERBOSE | re.DOTALL,
)


def key_lines(text: str) -> dict[Key, int]:
    """The line, counted from 1, on which each key of a valid TOML text first stands."""
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


class _Scanner:
    """Walks the tokens of a text that `tomllib` has accepted already, so it need not look for mistakes."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Key, int] = {}
        self.tokens: list[tuple[str, int]] = []
        self.at = 0
        line = 1
        for match in _TOKEN.finditer(text):
            if match.lastgroup != "skipped":
                self.tokens.append((match.group(), line))
            line += match.group().count("\n")

    def document(self) -> None:
        table: Key = ()
        last: dict[Key, int] = {}  # the place of the newest element of each array of tables
        while self.at < len(self.tokens):
            if self._take("["):
                table = self._header(last)
            elif not self._take("\n"):
                self._pair(table)

    def _header(self, last: dict[Key, int]) -> Key:
        in_array = self._take("[")
        parts = self._key("]")
        path: Key = ()
        for position, (part, line) in enumerate(parts, start=1):
            path = self._note((*path, part), line)
            if in_array and position == len(parts):
                last[path] = last.get(path, -1) + 1
            if path in last:
                path = self._note((*path, last[path]), line)
        while self._take("]"):
            pass
        return path

    def _pair(self, table: Key) -> None:
        path = table
        for part, line in self._key("="):
            path = self._note((*path, part), line)
        self._take("=")
        self._value(path)

    def _key(self, end: str) -> list[tuple[str, int]]:
        parts = []
        while self.at < len(self.tokens) and self.tokens[self.at][0] != end:
            token, line = self.tokens[self.at]
            if token != ".":
                parts.append((tomllib.loads(f"key = {token}")["key"] if token[0] in "\"'" else token, line))
            self.at += 1
        return parts

    def _value(self, path: Key) -> None:
        if self._take("{"):
            while not self._take("}"):
                if not self._take(",") and not self._take("\n"):
                    self._pair(path)
        elif self._take("["):
            index = 0
            while not self._take("]"):
                if not self._take(",") and not self._take("\n"):
                    self._value(self._note((*path, index), self.tokens[self.at][1]))
                    index += 1
        else:
            while self.at < len(self.tokens) and self.tokens[self.at][0] not in {",", "]", "}", "\n"}:
                self.at += 1

    def _take(self, mark: str) -> bool:
        found = self.at < len(self.tokens) and self.tokens[self.at][0] == mark
        self.at += found
        return found

    def _note(self, path: Key, line: int) -> Key:
        self.lines.setdefault(path, line)
        return path
