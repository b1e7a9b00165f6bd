"""`sightline export`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.words import say
from sightline.errors import UserError


def export(
    model: Annotated[Path, typer.Argument(help="Model folder, or the run folder around it.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write; it must not be there yet.")],
    to: Annotated[str, typer.Option(help="For whom: ctranslate2.")] = "ctranslate2",
    weights: Annotated[str, typer.Option(help="Numbers to keep the weights in: int8, int16 or float32.")] = "int8",
    check: Annotated[
        list[str] | None, typer.Option(help="Pairs whose sources are translated by both; else those that training kept apart.")
    ] = None,
) -> None:
    """Write a Transformer for another program, and compare what both write, greedily and token for token."""
    from sightline.cli.evaluate import kept, test_pairs
    from sightline.decode.ctranslate2_export import QUANTIZATIONS
    from sightline.models.store import load
    from sightline.runs.export import export_checked, told

    if to != "ctranslate2":
        raise UserError(f"--to {to}: models are written for ctranslate2 only")
    chosen = next((name for name in QUANTIZATIONS if name == weights), None)
    if chosen is None:
        raise UserError(f"--weights {weights}: say {', '.join(QUANTIZATIONS)}")
    stored = load(model)
    texts, where = list[str](), "drawn at random"
    if check or kept(stored.folder).exists():
        pairs, where = test_pairs(check, stored.folder, stored.languages)
        texts = [source for source, _ in pairs]
    parity = export_checked(stored, out, chosen, texts)
    size = sum(path.stat().st_size for path in out.iterdir()) / 1e6
    print(f"{out}: {size:,.1f} MB in {chosen}")
    print(f"greedy, token for token as PyTorch writes them: {parity.equal} of {parity.sentences} sentences ({where})")
    if parity.differences:
        say(f"first difference in {told(parity.differences[0], stored)}")
    if chosen == "float32" and parity.faults:
        raise UserError(
            f"{out}: {len(parity.faults)} sentences differ by more than rounding explains, the clearest in "
            f"{told(parity.faults[0], stored)}; do not use this export, and please report it"
        )
