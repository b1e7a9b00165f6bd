"""The mean of a run's last validated weights: often better than any of them."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from sightline.models.store import load_weights, weights, write_tensors
from sightline.text.files import sync_folder, writing
from sightline.train.checkpoint import MAKE_ROOM


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The weights of the last `count` validations, on disk; a count below 2 keeps none."""

    folder: Path
    count: int

    def keep(self, model: nn.Module, update: int) -> None:
        """Write this one; the same update written twice holds the same numbers."""
        if self.count < 2:
            return
        with writing(f"{self.folder}: the weights of update {update} could not be written", MAKE_ROOM):
            self.folder.mkdir(parents=True, exist_ok=True)
            making = self.folder / ".making"
            write_tensors(making, weights(model))
            os.replace(making, self._path(update))
            sync_folder(self.folder)

    def after(self, kept: tuple[int, ...], update: int) -> tuple[int, ...]:
        """Which ones count once there is one of this update."""
        return () if self.count < 2 else (*(u for u in kept if u != update), update)[-self.count :]

    def drop_all_but(self, *kept: int) -> None:
        """Delete the others. A checkpoint may still ask for those it names, so keep them until the next one is written."""
        wanted = {self._path(update) for update in kept}
        for path in self.folder.glob("*.safetensors"):
            if path not in wanted:
                path.unlink()

    def mean(self, model: nn.Module, kept: tuple[int, ...]) -> nn.Module:
        """A copy of the model with the mean of the weights of these updates."""
        averaged = copy.deepcopy(model)
        total = {name: torch.zeros_like(tensor, dtype=torch.float64) for name, tensor in weights(model).items()}
        for update in kept:
            load_weights(averaged, self._path(update))
            for name, tensor in weights(averaged).items():
                total[name] += tensor.detach()
        load_weights(averaged, {name: tensor / len(kept) for name, tensor in total.items()})
        return averaged

    def _path(self, update: int) -> Path:
        return self.folder / f"{update:09d}.safetensors"
