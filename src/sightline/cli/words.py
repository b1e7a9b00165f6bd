"""What the words after a command are: `key=value`, or a file."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

DEVICE = typer.Option(help="cpu or cuda.")
ENGINE = typer.Option(
    help="What searches: torch, native, ctranslate2, or auto for the fastest by measurement; else native where it can, or torch."
)
_CHANGE = re.compile(r"[A-Za-z_][\w.]*=")


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Files and changes, each in their order; a file that exists is a file, whatever its name looks like."""
    changes = [word for word in words if _CHANGE.match(word) and not Path(word).exists()]
    return [word for word in words if word not in changes], changes


def setting(key: str, value: str | Sequence[str]) -> str:
    """A `key=value` that means exactly this text, or this list of texts."""
    return f"{key}={json.dumps(value if isinstance(value, str) else list(value), ensure_ascii=False)}"


def say(message: str) -> None:
    """To the user, beside the results."""
    print(message, file=sys.stderr, flush=True)
