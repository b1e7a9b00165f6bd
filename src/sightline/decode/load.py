"""From model folders to a translator: one model, or several that vote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from sightline.decode.choose import choose
from sightline.decode.engine import EngineName
from sightline.decode.torch_engine import TorchEngine
from sightline.decode.translate import Translator
from sightline.errors import UserError
from sightline.models.combine import Ensemble
from sightline.models.interface import Translates
from sightline.models.seq2seq import LanguageModel, Seq2Seq
from sightline.models.store import Stored, load


def load_translator(
    paths: Sequence[str | Path], device: str = "cpu", engine: EngineName | None = None
) -> tuple[Translator, list[Stored]]:
    """A translator, and the models that it is made of. Several must have been made with the same tokenizers.

    `engine`: what is to search; unset, the fastest that needs nothing installed and nothing measured.
    """
    found = [load(path) for path in paths]
    if not found:
        raise UserError("no model folder is named")
    models = [_translation_model(stored).to(_device(device)) for stored in found]
    first = found[0]
    for other in found[1:]:
        if [t.fingerprint for t in other.tokenizers] != [t.fingerprint for t in first.tokenizers]:
            raise UserError(
                f"{other.folder} and {first.folder} cut text into different pieces, so they cannot vote on the next one; "
                "train both from the same files with the same data settings; only their seeds and models may differ"
            )
    model: Translates = models[0] if len(models) == 1 else Ensemble(models)
    choice = choose(engine, found, TorchEngine(model, first.tokenizers[1].size))
    return Translator(model, first.tokenizers, min(stored.config.max_length for stored in found), choice), found


def _translation_model(stored: Stored) -> Seq2Seq:
    if isinstance(stored.model, LanguageModel):
        raise UserError(f"{stored.folder}: this is a language model, which has no source to translate")
    return stored.model


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UserError(f"there is no device {name!r}; say cpu or cuda") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UserError("PyTorch finds no CUDA card here; say cpu")
    return device
