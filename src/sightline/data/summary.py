"""What preparing did: kept beside the corpora as summary.json, whose presence says that they are complete."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sightline.data.records import FileRecord
from sightline.errors import UserError
from sightline.text.files import write_whole

VERSION = 1
NAME = "summary.json"


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of pairs: read = bad + all that was dropped + train + dev + test."""

    read: int
    bad: int
    dropped: dict[str, int]  # by rule
    train: int
    dev: int
    test: int
    vocabulary: tuple[int, int]  # of the source and of the target tokenizer
    tokens: tuple[int, int]  # of the training pairs
    files: tuple[FileRecord, ...]
    settings: Mapping[str, Any]  # languages and configuration
    seconds: float

    def text(self) -> str:
        """For the screen."""
        share = f" ({self.train / self.read:.1%})" if self.read else ""
        lines = [f"{self.read:,} pairs read, {self.train:,} to train on{share}, {self.dev:,} dev, {self.test:,} test"]
        if self.bad:
            lines.append(f"  {self.bad:,} lines could not be read")
        lines.extend(f"  {count:,} dropped: {_MEANING[rule]}" for rule, count in self.dropped.items())
        for side, tokens, size in zip(("source", "target"), self.tokens, self.vocabulary, strict=True):
            lines.append(f"  {side}: {tokens:,} tokens, vocabulary of {size:,}")
        return "\n".join(lines)

    def write(self, folder: Path) -> None:
        write_whole(folder / NAME, json.dumps({"version": VERSION, **asdict(self)}, indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def read_from(cls, folder: Path) -> Summary | None:
        """The summary of a finished preparation; None where there is none."""
        path = folder / NAME
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            if told.pop("version") != VERSION:
                raise UserError(f"{path}: written by another version of sightline; choose another output folder")
            for name in ("vocabulary", "tokens"):
                told[name] = tuple(told[name])
            return cls(**{**told, "files": tuple(FileRecord(**file) for file in told["files"])})
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: damaged ({error}); remove {folder} to prepare the data anew") from None


_MEANING = {
    "empty": "a side is empty (empty)",
    "control": "control or lost characters (control)",
    "length": "too many words (length)",
    "ratio": "sides of too unlike a length (ratio)",
    "copy": "source and target are the same (copy)",
    "duplicate": "the same pair came before (duplicate)",
    "held_out": "nearly the same as a held-out pair (held_out)",
    "pieces": "too many pieces once encoded (pieces)",
}
