"""The mean of a run's last validated weights: often better than any of them."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from sightline.models.store import load_weights, weights


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The weights of the last `count` validations, on disk."""

    folder: Path
    count: int

    def keep(self, model: nn.Module, update: int) -> None:
        """Write this one; the same update written twice holds the same numbers."""
        if self.count < 2:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        making = self.folder / ".making"
        save_file({name: tensor.detach().contiguous() for name, tensor in weights(model).items()}, making)
        os.replace(making, self._path(update))

    def after(self, kept: tuple[int, ...], update: int) -> tuple[int, ...]:
        """Which ones there are now; older ones go once no checkpoint asks for them."""
        now = (*(u for u in kept if u != update), update)[-max(self.count, 1) :]
        if self.folder.is_dir():
            wanted = {self._path(u) for u in (*kept[-self.count :], *now)}
            for path in self.folder.glob("*.safetensors"):
                if path not in wanted:
                    path.unlink(missing_ok=True)
        return now

    def mean(self, model: nn.Module, kept: tuple[int, ...]) -> nn.Module:
        """A copy of the model with the mean of the weights of these updates."""
        total = {name: torch.zeros_like(tensor, dtype=torch.float64) for name, tensor in weights(model).items()}
        for update in kept:
            for name, tensor in load_file(self._path(update)).items():
                total[name] += tensor
        averaged = copy.deepcopy(model)
        load_weights(averaged, {name: tensor / len(kept) for name, tensor in total.items()})
        return averaged

    def _path(self, update: int) -> Path:
        return self.folder / f"{update:09d}.safetensors"
