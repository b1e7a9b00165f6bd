"""A model for another program, and the check that it writes there what it writes here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from sightline.decode.ctranslate2_engine import CTranslate2Engine
from sightline.decode.ctranslate2_export import Quantization, export
from sightline.decode.measure import sentences
from sightline.decode.parity import Difference, Parity, compare
from sightline.decode.torch_engine import TorchEngine
from sightline.models.seq2seq import Seq2Seq
from sightline.models.store import Stored

CHECKED = 200  # sentences


def export_checked(stored: Stored, folder: Path, quantization: Quantization, texts: Sequence[str] = ()) -> Parity:
    """Write the model for CTranslate2, then compare both on the first of these texts; without any, on pieces drawn at random."""
    export(stored, folder, quantization)
    source, target = stored.tokenizers
    longest = stored.config.max_length - 1  # the end mark needs a place
    rows = [ids for ids in source.encode_batch([text.strip() for text in texts if text.strip()]) if len(ids) <= longest]
    engine = CTranslate2Engine(stored, quantization, folder=folder)
    rows = rows[:CHECKED] or sentences(stored, CHECKED)
    return compare(TorchEngine(cast(Seq2Seq, stored.model), target.size), engine, rows, longest)


def told(difference: Difference, stored: Stored) -> str:
    """Where two translations part, in words."""
    own, other = stored.tokenizers[1].pieces(difference.tokens)
    return (
        f"sentence {difference.row + 1}, piece {difference.place + 1}: PyTorch writes {own!r}, CTranslate2 {other!r}; "
        f"PyTorch's log-probabilities of the two differ by {difference.lead:.4f}"
    )
