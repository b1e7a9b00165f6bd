"""What a user asked for becomes one configuration, refused where it contradicts itself, before any data is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.errors import UserError
from sightline.models.config import TransformerConfig
from sightline.runs.request import Request

LANGUAGES = ("source=fr", "target=en")


def test_changes_lie_over_the_file_and_the_file_over_the_preset(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('source = "fr"\ntarget = "en"\nseed = 7\n[train]\ntokens = 3000\n')
    config = Request("small", file, ("seed=8",)).config()
    assert (config.seed, config.train.tokens, config.model.dim) == (8, 3000, 256)


def test_the_number_of_pairs_settles_auto_and_leaves_the_data_alone() -> None:
    request = Request("auto", None, (*LANGUAGES, "model.dropout=0.25"))
    few, many, most = (request.config_for(pairs) for pairs in (1000, 500_000, 5_000_000))
    assert (few.model.dim, many.model.dim, most.model.dim) == (128, 256, 512)
    assert {each.model.dropout for each in (few, many, most)} == {0.25}
    assert few.data == many.data == most.data == request.config().data
    assert (request.name_for(1000), request.name_for(500_000)) == ("tiny", "small")


def test_a_named_preset_does_not_look_at_the_data() -> None:
    request = Request("recurrent", None, LANGUAGES)
    assert request.config_for(10) == request.config_for(10**7) == request.config()
    assert not isinstance(request.config().model.decoder, TransformerConfig)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ((), "which languages"),
        ((*LANGUAGES, "data.tokenizer.joint=false"), "data.tokenizer.joint=true or model.tie=target"),
        ((*LANGUAGES, "train.bpe_dropout=0.1", "data.tokenizer.kind=words"), "needs data.tokenizer.kind=bpe"),
        ((*LANGUAGES, "train.tokens=100"), "set train.tokens to at least 251"),
        ((*LANGUAGES, "model.max_length=100"), "set model.max_length to at least 251"),
        ((*LANGUAGES, "model.encoder=none"), "needs an encoder"),
        ((*LANGUAGES, "model.encoder.layer=3"), "nearest is 'model.encoder.layers'"),
    ],
)
def test_contradictions_name_the_keys(changes: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Request("auto", None, changes).config()
