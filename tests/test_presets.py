"""Every preset is a whole, valid run; the automatic one goes by corpus size."""

from __future__ import annotations

import pytest

from sightline.config import dump_toml
from sightline.config.read import from_text
from sightline.errors import UserError
from sightline.models.build import build
from sightline.presets import PRESETS, automatic, preset
from sightline.train.config import RunConfig


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_written_out_and_read_back(name: str) -> None:
    assert from_text(RunConfig, dump_toml(preset(name))) == preset(name)


@pytest.mark.parametrize("name", sorted(set(PRESETS) - {"base", "big"}))
def test_a_preset_can_be_built(name: str) -> None:
    run = preset(name)
    assert sum(p.numel() for p in build(run.model, 300, 300).parameters()) > 10_000


def test_the_published_recipe() -> None:
    base, big = preset("base"), preset("big")
    assert (base.model.dim, base.model.dropout, big.model.dim, big.model.dropout) == (512, 0.1, 1024, 0.3)
    assert {stack.norm for run in (base, big) for stack in (run.model.encoder, run.model.decoder)} == {"post"}  # type: ignore[union-attr]
    assert (base.optimiser.warmup, base.optimiser.learning_rate, base.optimiser.schedule) == (4000, None, "inverse_sqrt")
    assert (base.optimiser.beta1, base.optimiser.beta2, base.optimiser.epsilon) == (0.9, 0.98, 1e-9)
    assert (base.train.max_updates, big.train.max_updates, base.train.smoothing) == (100_000, 300_000, 0.1)
    assert base.data.tokenizer.size == big.data.tokenizer.size == 37_000


@pytest.mark.parametrize(
    ("pairs", "name"), [(500, "tiny"), (29_000, "tiny"), (99_999, "tiny"), (100_000, "small"), (5_000_000, "base")]
)
def test_the_size_of_the_corpus_chooses(pairs: int, name: str) -> None:
    assert automatic(pairs) == name


def test_an_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(UserError, match="'tinny'; the nearest is 'tiny'"):
        preset("tinny")
