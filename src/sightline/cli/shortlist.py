"""`sightline shortlist`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.words import say


def shortlist(
    model: Annotated[Path, typer.Argument(help="Model folder, or the run folder around it.")],
    data: Annotated[
        Path | None, typer.Option(help="Folder of an encoded corpus; else what the run around the model was trained on.")
    ] = None,
    per_piece: Annotated[int, typer.Option(min=1, help="Target pieces for each source piece.")] = 100,
    frequent: Annotated[int, typer.Option(min=0, help="And those that any translation may have: the most frequent ones.")] = 100,
) -> None:
    """Learn which pieces a translation may be made of: the native engine then looks at no others, and is faster.

    The list lies in the model's folder and is used from then on; delete the file to be rid of it.
    """
    from sightline.data.encoded import EncodedCorpus
    from sightline.decode.shortlist import coverage, learn_shortlist
    from sightline.models.store import load

    stored = load(model)
    corpus = EncodedCorpus(data if data is not None else stored.folder.parent / "data" / "train")
    sizes = [tokenizer.size for tokenizer in stored.tokenizers]
    made = learn_shortlist(corpus, stored.tokenizers, per_piece, frequent)
    pieces, share = coverage(made, corpus)
    print(made.save(stored.folder))
    say(
        f"a translation is made of {pieces:,.0f} of {sizes[1]:,} pieces; {share:.1%} of what stands in the translations of the "
        "training text is among them; `sightline evaluate` tells what that does to the score"
    )
