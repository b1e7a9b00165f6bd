"""`sightline doctor`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def doctor(
    folder: Annotated[Path, typer.Option(help="Where you would keep your runs.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """What this machine can do, what will be slow on it, and what is missing."""
    from sightline.runs.machine import diagnose

    found = diagnose(folder)
    print(json.dumps({**found.facts, "advice": found.advice}, ensure_ascii=False, indent=1) if as_json else found.text())
