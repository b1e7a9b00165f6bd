"""Checkpoints that are whole or not there. No pickle: tensors as safetensors, the rest as JSON.

A checkpoint is a new directory, written and flushed under a temporary name, then renamed; only then does `latest` move to it
and do older ones go. Killed at any instant, a run finds its newest whole checkpoint again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from sightline.models.store import load_weights, weights

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands, besides its tensors."""

    update: int = 0
    epoch: int = 0
    index: int = 0  # of the next batch in its epoch
    seconds: float = 0.0
    best: float | None = None  # the judge's figure, larger is better
    best_update: int = 0
    since_best: int = 0  # validations
    snapshots: tuple[int, ...] = ()  # updates whose weights are kept for averaging
    skipped: int = 0  # updates in a row that were not finite
    finished: str = ""  # why, once it is

    def stepped(self, batches: int) -> Progress:
        """After one more update in an epoch of so many batches."""
        over = self.index + 1 >= batches
        return replace(
            self,
            update=self.update + 1,
            epoch=self.epoch + over,
            index=0 if over else self.index + 1,
        )


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The checkpoints of one run, in one folder."""

    folder: Path
    damaged: list[str] = field(default_factory=list)

    def save(self, progress: Progress, tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
        """`tensors`: file stem -> named tensors."""
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{progress.update:09d}"
        making = self.folder / f".making-{name}"
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir()
        for stem, named in tensors.items():
            save_file({key: value.detach().contiguous() for key, value in named.items()}, making / f"{stem}.safetensors")
        (making / "progress.json").write_text(json.dumps(asdict(progress)), encoding="utf-8")
        hashes = {path.name: _sha256(path) for path in sorted(making.iterdir())}
        (making / MANIFEST).write_text(json.dumps(hashes), encoding="utf-8")
        for path in making.iterdir():
            _flush(path)
        _flush(making)
        self._name(making, name)

    def _name(self, making: Path, name: str) -> None:
        final = self.folder / name
        if final.exists():  # the same update again, after a resume: it holds the same numbers
            shutil.rmtree(final)
        os.rename(making, final)
        _flush(self.folder)
        pointer = self.folder / ".latest-making"
        pointer.write_text(name, encoding="utf-8")
        _flush(pointer)
        os.replace(pointer, self.folder / "latest")
        _flush(self.folder)
        for old in self._names():
            if old != name:
                shutil.rmtree(self.folder / old)

    def latest(self) -> Path | None:
        """The newest whole checkpoint; damaged ones are passed over and remembered in `damaged`."""
        for name in reversed(self._names()):
            if _whole(self.folder / name):
                return self.folder / name
            self.damaged.append(name)
        return None

    def _names(self) -> list[str]:
        if not self.folder.is_dir():
            return []
        return sorted(path.name for path in self.folder.iterdir() if path.is_dir() and path.name.isdigit())


def read_progress(checkpoint: Path) -> Progress:
    """Where the run stood."""
    record = json.loads((checkpoint / "progress.json").read_text(encoding="utf-8"))
    record["snapshots"] = tuple(record["snapshots"])
    return Progress(**record)


def restore(checkpoint: Path, model: nn.Module, optimiser: torch.optim.Optimizer, ema: nn.Module | None) -> Progress:
    """Put everything back as it was."""
    load_weights(model, checkpoint / "model.safetensors")
    if ema is not None:
        load_weights(ema, checkpoint / "ema.safetensors")
    names = dict(model.named_parameters())
    for key, tensor in load_file(checkpoint / "optimiser.safetensors").items():
        name, slot = key.rsplit("/", 1)
        optimiser.state[names[name]][slot] = tensor.to(names[name].device)
    return read_progress(checkpoint)


def everything(model: nn.Module, optimiser: torch.optim.Optimizer, ema: nn.Module | None) -> dict[str, dict[str, Tensor]]:
    """All tensors that a run resumes from."""
    names = {parameter: name for name, parameter in model.named_parameters()}
    slots = {
        f"{names[parameter]}/{slot}": value
        for parameter, state in optimiser.state.items()
        for slot, value in state.items()
        if isinstance(value, Tensor)
    }
    tensors = {"model": weights(model), "optimiser": slots}
    return tensors if ema is None else tensors | {"ema": weights(ema)}


def _whole(checkpoint: Path) -> bool:
    try:
        hashes = json.loads((checkpoint / MANIFEST).read_text(encoding="utf-8"))
        return all(_sha256(checkpoint / name) == expected for name, expected in hashes.items())
    except (OSError, ValueError):
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
