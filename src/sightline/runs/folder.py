"""The run folder: what lies where, who works in it, and whether a command goes on with the run that began there.

config.toml      the whole configuration, every key written out
data/            what was prepared from the user's files, with the audit of what was dropped
checkpoints/     what a run resumes from
snapshots/       weights of the last validations, for averaging
metrics.jsonl    what happened
model/           the best model so far: what one ships
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from sightline.config import dump_toml, load, to_dict
from sightline.data.records import first_difference
from sightline.errors import UserError
from sightline.text.files import write_whole
from sightline.train.config import RunConfig

MARK = ".sightline"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Names under one root."""

    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def model(self) -> Path:
        return self.root / "model"

    @property
    def metrics(self) -> Path:
        return self.root / "metrics.jsonl"

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    def remember(self, config: RunConfig) -> None:
        """Keep the configuration, or refuse one under which the run that began here would not have begun."""
        if self.config.exists():
            began = load(RunConfig, self.config)
            if difference := first_difference(to_dict(_binding(began)), to_dict(_binding(config))):
                raise UserError(
                    f"{self.root}: the run in this folder began otherwise: {difference}; "
                    "say it as it was to go on; to begin anew choose another folder, or remove this one"
                )
        write_whole(self.config, dump_toml(config))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else trains here meanwhile. The system lets go of the lock however this process ends."""
        mark = self._mark()
        with mark.open("w") as file:
            if os.name == "posix":
                _lock(file, self.root)
            yield

    def _mark(self) -> Path:
        """The file that says that this folder is a run's: in another one nothing is touched."""
        mark = self.root / MARK
        self.root.mkdir(parents=True, exist_ok=True)
        if not mark.exists() and any(self.root.iterdir()):
            raise UserError(f"{self.root}: is not empty and holds no run; choose a new folder, such as {self.root / 'my-model'}")
        return mark


def _lock(file: TextIO, root: Path) -> None:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UserError(f"{root}: another training is at work in this folder; wait for it, or stop it") from None


def _binding(config: RunConfig) -> RunConfig:
    """The configuration without what may change between two starts: limits, reports, and how fast it is computed."""
    usual = type(config.train)()
    free = ["max_epochs", "max_minutes", "patience", "checkpoint_minutes", "log_every", "tensorboard", "precision", "device"]
    if config.optimiser.schedule != "cosine":  # which ends at the last update, so that another last one is another schedule
        free.append("max_updates")
    if config.train.judge == "loss":  # else figures of before and after could not be compared
        free.append("validate_sentences")
    train = replace(config.train, **{name: getattr(usual, name) for name in free})
    return replace(config, train=train, data=replace(config.data, workers=0))
