"""Checkpoints that are whole or not there. No pickle: tensors as safetensors, the rest as JSON.

A checkpoint is a new directory, written and flushed under a temporary name, then renamed; only then does `latest` move to it
and do older ones go. Killed at any instant, a run finds its newest whole checkpoint again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from sightline.errors import UserError
from sightline.models.store import load_weights, weights, write_tensors
from sightline.text.files import sync_folder, write_whole, writing
from sightline.train.ranks import Ranks

MANIFEST, PROGRESS = "manifest.json", "progress.json"
MAKE_ROOM = "make room, then start the same command again: it goes on from the last checkpoint"
Tensors: TypeAlias = Mapping[str, Mapping[str, Tensor]]  # file stem -> named tensors


@dataclass(frozen=True, slots=True)
class Meter:
    """Sums since the last report."""

    loss: float = 0.0
    gradient: float = 0.0
    updates: int = 0  # finite ones
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands, besides its tensors."""

    update: int = 0
    epoch: int = 0
    index: int = 0  # of the next batch in its epoch
    seconds: float = 0.0
    best: float | None = None  # the judge's figure, larger is better
    since_best: int = 0  # validations
    snapshots: tuple[int, ...] = ()  # updates whose weights are kept for averaging
    skipped: int = 0  # updates in a row that were not finite
    finished: str = ""  # why, once it is
    precision: str = ""  # what "auto" came to: a machine probed again might say otherwise
    data: str = ""  # the task's fingerprint
    events: int = 0  # told so far
    meter: Meter = Meter()

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
class Saved:
    """All that a run resumes from."""

    progress: Progress
    tensors: Tensors


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The checkpoints of one run, in one folder, each named by its update and how often that one was saved before."""

    folder: Path
    damaged: list[str] = field(default_factory=list)

    def save(self, progress: Progress, tensors: Tensors) -> None:
        """Write one whole, then let the older ones go."""
        with writing(f"{self.folder}: no checkpoint could be written", MAKE_ROOM):
            self._save(progress, tensors)

    def _save(self, progress: Progress, tensors: Tensors) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._sweep()
        same = [again for update, again in self._numbers() if update == progress.update]
        name = f"{progress.update:09d}-{max(same, default=-1) + 1}"
        making = self.folder / f".making-{name}"
        making.mkdir()
        for stem, named in tensors.items():
            write_tensors(making / f"{stem}.safetensors", named)
        write_whole(making / PROGRESS, json.dumps(asdict(progress)))
        hashes = {path.name: _sha256(path) for path in sorted(making.iterdir())}
        write_whole(making / MANIFEST, json.dumps(hashes))
        sync_folder(making)
        os.rename(making, self.folder / name)
        sync_folder(self.folder)
        write_whole(self.folder / "latest", name)
        for old in self._names():
            if old != name:
                shutil.rmtree(self.folder / old, ignore_errors=True)

    def _sweep(self) -> None:
        """What an earlier process was making when it was killed."""
        for left in self.folder.glob(".*"):
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()

    def latest(self) -> Path | None:
        """The newest whole checkpoint; damaged ones are passed over and remembered in `damaged`.

        None where there is none at all. With nothing but damage, to begin anew would cost the model that came of it.
        """
        for name in reversed(self._names()):
            if _whole(self.folder / name):
                return self.folder / name
            self.damaged.append(name)
        if self.damaged:
            raise UserError(
                f"{self.folder}: all that is here is damaged: {', '.join(self.damaged)}; take the folder from a backup, "
                "or remove it to begin anew, which replaces the model of this run"
            )
        return None

    def _names(self) -> list[str]:
        """From the oldest to the newest."""
        return [f"{update:09d}-{again}" for update, again in self._numbers()]

    def _numbers(self) -> list[tuple[int, int]]:
        if not self.folder.is_dir():
            return []
        found = (re.fullmatch(r"(\d{9,})-(\d+)", path.name) for path in self.folder.iterdir())
        return sorted((int(match[1]), int(match[2])) for match in found if match)


def read(checkpoint: Path) -> Saved:
    """A checkpoint, from disk."""
    record = json.loads((checkpoint / PROGRESS).read_text(encoding="utf-8"))
    try:
        progress = _progress(record)
    except (KeyError, TypeError) as error:
        raise UserError(f"{checkpoint}: written by another version ({error}); go on with that one, or start afresh") from error
    return Saved(progress, {path.stem: load_file(path) for path in sorted(checkpoint.glob("*.safetensors"))})


def _progress(record: Mapping[str, Any]) -> Progress:
    """From what `asdict` made of it, once JSON has carried it."""
    return Progress(**{**record, "snapshots": tuple(record["snapshots"]), "meter": Meter(**record["meter"])})


def from_leader(saved: Saved | None, ranks: Ranks) -> Saved | None:
    """What the leading process has read, for all processes: the others need not see its disk."""
    stems = ranks.from_leader(None if saved is None else sorted(saved.tensors))
    if stems is None:
        return None
    record = ranks.from_leader({} if saved is None else asdict(saved.progress))
    tensors = {stem: ranks.tensors_from_leader({} if saved is None else saved.tensors[stem]) for stem in stems}
    return Saved(_progress(record), tensors)


def restore(saved: Saved, model: nn.Module, optimiser: torch.optim.Optimizer, ema: nn.Module | None) -> None:
    """Put everything back as it was."""
    if ("ema" in saved.tensors) != (ema is not None):
        raise UserError("train.ema was switched on or off since this run began; set it as it was, or start afresh elsewhere")
    load_weights(model, saved.tensors["model"])
    if ema is not None:
        load_weights(ema, saved.tensors["ema"])
    slots = {"momentum_buffer"} if isinstance(optimiser, torch.optim.SGD) else {"step", "exp_avg", "exp_avg_sq"}
    names = dict(model.named_parameters())
    for key, tensor in saved.tensors["optimiser"].items():
        name, slot = key.rsplit("/", 1)
        if slot not in slots:
            raise UserError("optimiser.kind was changed since this run began; set it as it was, or start afresh elsewhere")
        optimiser.state[names[name]][slot] = tensor.to(names[name].device)


def everything(model: nn.Module, optimiser: torch.optim.Optimizer, ema: nn.Module | None) -> Tensors:
    """All tensors that a run resumes from."""
    slots = {
        f"{name}/{slot}": value
        for name, parameter in model.named_parameters()
        for slot, value in optimiser.state.get(parameter, {}).items()
        if isinstance(value, Tensor)
    }
    tensors = {"model": weights(model), "optimiser": slots}
    return tensors if ema is None else tensors | {"ema": weights(ema)}


def _whole(checkpoint: Path) -> bool:
    try:
        hashes = json.loads((checkpoint / MANIFEST).read_text(encoding="utf-8"))
        wanted = {PROGRESS, "model.safetensors", "optimiser.safetensors"}
        return wanted <= hashes.keys() and all(_sha256(checkpoint / name) == told for name, told in hashes.items())
    except (OSError, ValueError, AttributeError):
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
