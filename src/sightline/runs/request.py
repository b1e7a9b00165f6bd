"""What a user asked for, as one configuration: a preset, a TOML file over it, `key=value` over that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sightline.config import load
from sightline.errors import UserError
from sightline.presets import AUTOMATIC, automatic, preset, tiny
from sightline.train.config import RunConfig


@dataclass(frozen=True, slots=True)
class Request:
    """The words of a `train` command. `preset="auto"` is settled by the number of training pairs."""

    preset: str = AUTOMATIC
    file: Path | None = None
    changes: tuple[str, ...] = ()

    def config(self) -> RunConfig:
        """Checked before any data is read. Under "auto" only `data`, languages and seed are what they will be."""
        config = self._over(tiny() if self.preset == AUTOMATIC else preset(self.preset))
        _check(config)
        return config

    def config_for(self, pairs: int) -> RunConfig:
        """The whole configuration, once it is known how many pairs there are to train on."""
        first = self.config()
        if self.preset != AUTOMATIC:
            return first
        config = replace(self._over(preset(automatic(pairs))), data=first.data)
        _check(config)
        return config

    def name_for(self, pairs: int) -> str:
        """The preset that was taken."""
        return automatic(pairs) if self.preset == AUTOMATIC else self.preset

    def _over(self, base: RunConfig) -> RunConfig:
        return load(RunConfig, self.file, self.changes, base)


def _check(config: RunConfig) -> None:
    """What no single table can see: settings that contradict one another."""
    if not config.source or not config.target:
        raise UserError("which languages? say --from and --to, such as --from fr --to en (or source=fr target=en)")
    model, data = config.model, config.data
    if model.encoder is None:
        raise UserError("a translation model needs an encoder; leave model.encoder out or give it a kind")
    if model.tie == "all" and not data.tokenizer.joint:
        raise UserError('model.tie="all" shares one table for both languages; set data.tokenizer.joint=true or model.tie=target')
    if config.train.bpe_dropout and data.tokenizer.kind != "bpe":
        raise UserError(f"train.bpe_dropout needs data.tokenizer.kind=bpe, not {data.tokenizer.kind}; set one of the two")
    longest = data.clean.max_pieces + 1  # the end mark
    for name, room in (("model.max_length", model.max_length), ("train.tokens", config.train.tokens)):
        if longest > room:
            raise UserError(
                f"{name}={room} cannot hold data.clean.max_pieces={data.clean.max_pieces} and the end mark; "
                f"set {name} to at least {longest}, or a smaller data.clean.max_pieces"
            )
