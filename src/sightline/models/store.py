"""The model folder: what one ships. No pickle on any path; a tokenizer that does not belong to the weights is refused.

config.json         format, languages, the model's config, fingerprints of the tokenizers
model.safetensors   the weights
tokenizer.json      one tokenizer for both sides, or tokenizer.source.json and tokenizer.target.json
README.md           the model card
history.jsonl       what happened in training
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from sightline.config import from_dict, to_dict
from sightline.errors import UserError
from sightline.models.build import build
from sightline.models.config import ModelConfig
from sightline.models.seq2seq import LanguageModel, Seq2Seq
from sightline.text.files import open_to_others, sync_folder, write_whole, writing
from sightline.text.tokenizer import Tokenizer

FORMAT = 1
JOINT, SOURCE, TARGET = "tokenizer.json", "tokenizer.source.json", "tokenizer.target.json"
Tokenizers: TypeAlias = tuple[Tokenizer, Tokenizer]


@dataclass(frozen=True, slots=True)
class Stored:
    """A model as it lies in its folder."""

    model: Seq2Seq | LanguageModel
    config: ModelConfig
    tokenizers: Tokenizers
    languages: tuple[str, str]
    folder: Path


def weights(model: nn.Module) -> dict[str, Tensor]:
    """All that is learnt, by name; a shared tensor has one name."""
    return dict(model.named_parameters())


def load_weights(model: nn.Module, source: Path | Mapping[str, Tensor]) -> None:
    """Put weights into a model of the same shape; any difference in names or sizes is an error."""
    tensors = _read_tensors(source) if isinstance(source, Path) else source
    where = source if isinstance(source, Path) else "the weights"
    own = weights(model)
    wrong = sorted(own.keys() ^ tensors.keys()) or [n for n in own if own[n].shape != tensors[n].shape]
    if wrong:
        raise UserError(f"{where}: these weights belong to another model (they differ in {', '.join(wrong[:3])})")
    for name, parameter in own.items():
        parameter.data.copy_(tensors[name])


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise UserError(f"{path}: cannot be read as weights ({error}); take the file from a backup") from error


def write_tensors(path: Path, named: Mapping[str, Tensor]) -> None:
    """A safetensors file, on disk for sure. An OSError where there is no room or no permission."""
    try:
        save_file({name: tensor.detach().contiguous() for name, tensor in named.items()}, path)
    except SafetensorError as error:
        raise OSError(str(error)) from error
    open_to_others(path)
    with path.open("rb") as file:
        os.fsync(file.fileno())


def save(
    folder: Path,
    model: nn.Module,
    config: ModelConfig,
    tokenizers: Tokenizers,
    languages: tuple[str, str],
    card: str,
    history: str = "",
) -> None:
    """Write a model folder whole, then put it in the place of the one before."""
    making = _beside(folder, "new")
    try:
        with writing(f"{folder}: the model could not be written", "make room; the one before it is still there"):
            shutil.rmtree(making, ignore_errors=True)  # what was being made when an earlier process was killed
            making.mkdir(parents=True)
            write_tensors(making / "model.safetensors", weights(model))
            for name, tokenizer in _named(tokenizers).items():
                tokenizer.save(making / name)
            write_whole(making / "config.json", _config_text(config, tokenizers, languages))
            write_whole(making / "README.md", card)
            write_whole(making / "history.jsonl", history)
            _replace(making, folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _named(tokenizers: Tokenizers) -> dict[str, Tokenizer]:
    source, target = tokenizers
    if source.fingerprint == target.fingerprint:
        return {JOINT: source}
    return {SOURCE: source, TARGET: target}


def _config_text(config: ModelConfig, tokenizers: Tokenizers, languages: tuple[str, str]) -> str:
    record = {
        "format": FORMAT,
        "languages": list(languages),
        "vocabularies": [tokenizer.size for tokenizer in tokenizers],
        "tokenizers": {name: tokenizer.fingerprint for name, tokenizer in _named(tokenizers).items()},
        "model": to_dict(config),
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _replace(made: Path, folder: Path) -> None:
    """A directory cannot be swapped in one step: the old one steps aside, and `find` looks for it there.

    Killed between the two renames, the old one aside is all there is; it goes only once the new one has its name.
    """
    aside = _beside(folder, "old")
    if folder.exists():
        shutil.rmtree(aside, ignore_errors=True)
        os.rename(folder, aside)
    os.rename(made, folder)
    sync_folder(folder.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _beside(folder: Path, which: Literal["new", "old"]) -> Path:
    """Where the next folder is made, and where the one before waits while that one takes its name."""
    whole = folder.absolute()
    return whole.parent / f".{whole.name}-{which}"


def find(path: str | Path) -> Path:
    """The model folder that a user means: itself, or the one inside a run folder."""
    for candidate in (Path(path), Path(path) / "model"):
        for place in (candidate, _beside(candidate, "old")):
            if (place / "config.json").is_file():
                return place
    if not Path(path).exists():
        raise UserError(f"{path}: there is no such model folder; `sightline train … -o {path}` makes one")
    raise UserError(f"{path}: no config.json here, so this is not a model folder (or its training has not validated yet)")


def load(path: str | Path) -> Stored:
    """Read a model folder, checked."""
    folder = find(path)
    record = _read_config(folder / "config.json")
    config = from_dict(ModelConfig, record["model"], origin=str(folder / "config.json"))
    tokenizers = _read_tokenizers(folder, record["tokenizers"])
    if (sizes := [tokenizer.size for tokenizer in tokenizers]) != record["vocabularies"]:
        raise UserError(
            f"{folder / 'config.json'}: vocabularies is {record['vocabularies']}, but the tokenizers beside it have {sizes}; "
            "take the folder from a backup"
        )
    source, target = record["languages"]
    model = build(config, tokenizers[0].size, tokenizers[1].size)
    load_weights(model, folder / "model.safetensors")
    return Stored(model.eval(), config, tokenizers, (source, target), folder)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error}); take the file from a backup") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise UserError(f"{path}: format {FORMAT} expected; this folder is from another program or another version")
    whole: dict[str, Callable[[Any], bool]] = {
        "languages": lambda value: _is_list_of(value, str),
        "vocabularies": lambda value: _is_list_of(value, int),
        "tokenizers": lambda value: isinstance(value, dict) and value.keys() in ({JOINT}, {SOURCE, TARGET}),
        "model": lambda value: isinstance(value, dict),
    }
    wrong = [name for name, is_whole in whole.items() if name not in record or not is_whole(record[name])]
    if wrong:
        raise UserError(f"{path}: {', '.join(wrong)} missing or damaged; take the file from a backup")
    return record


def _is_list_of(value: object, kind: type) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(each, kind) for each in value)


def _read_tokenizers(folder: Path, fingerprints: Mapping[str, str]) -> Tokenizers:
    found = []
    for name in (JOINT,) if JOINT in fingerprints else (SOURCE, TARGET):
        tokenizer = Tokenizer.load(folder / name)
        if tokenizer.fingerprint != fingerprints[name]:
            raise UserError(f"{folder / name}: this tokenizer does not belong to the weights beside it; put the original back")
        found.append(tokenizer)
    return found[0], found[-1]
