"""A model in CTranslate2 is the same model: in fp32 it writes the same tokens, whatever it is made of and however it is asked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import ctranslate2  # type: ignore[import-untyped]
import numpy as np
import pytest
import tokenizers
import torch

from sightline.decode import ctranslate2_engine, ctranslate2_export
from sightline.decode.ctranslate2_engine import CTranslate2Engine, why_not
from sightline.decode.ctranslate2_export import export, names
from sightline.decode.options import SearchOptions
from sightline.decode.parity import compare
from sightline.decode.torch_engine import TorchEngine
from sightline.errors import UserError
from sightline.models.build import build
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.models.store import Stored
from sightline.text.learn import learn
from sightline.text.tokenizer import BOS, EOS, Tokenizer

TEXT = ["one two three four five six seven, eight nine ten.", "a b c d e f g h i j k l m n o p q r s t u v w x y z"]
PIECES = learn(TEXT, "bpe", 300, min_frequency=1)
WORDS = learn(TEXT, "words", 300, min_frequency=1)
SMALL = ModelConfig(
    TransformerConfig(layers=2, heads=2, hidden=24, norm="pre"),
    TransformerConfig(layers=1, heads=4, hidden=32, norm="pre"),
    dim=16,
    max_length=24,
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "sightline" / "ctranslate2"


def stored(config: ModelConfig = SMALL, tokenizer: tuple[Tokenizer, Tokenizer] = (PIECES, PIECES), seed: int = 3) -> Stored:
    """Weights so large that one piece is much likelier than the next: rounding decides nothing."""
    model = build(config, tokenizer[0].size, tokenizer[1].size, seed).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator)
    return Stored(model, config, tokenizer, ("fr", "en"), Path("m"))


def on_torch(own: Stored) -> TorchEngine:
    assert isinstance(own.model, Seq2Seq)
    return TorchEngine(own.model, own.tokenizers[1].size)


def rows(own: Stored, count: int = 40) -> list[list[int]]:
    drawn = np.random.default_rng(5)
    sizes = drawn.integers(1, own.config.max_length, count)
    return [drawn.integers(3, own.tokenizers[0].size, size).tolist() for size in sizes]


def with_stacks(**changes: Any) -> ModelConfig:
    assert isinstance(SMALL.encoder, TransformerConfig)
    assert isinstance(SMALL.decoder, TransformerConfig)
    return replace(SMALL, encoder=replace(SMALL.encoder, **changes), decoder=replace(SMALL.decoder, **changes))


@pytest.mark.parametrize(
    "config",
    [
        SMALL,
        with_stacks(norm="post"),
        with_stacks(position="learned"),
        with_stacks(position="none"),
        *(with_stacks(activation=name) for name in ("gelu", "gelu_tanh", "swish")),
        replace(SMALL, tie="target"),
        replace(SMALL, tie="none"),
    ],
    ids=lambda config: f"{config.encoder.norm}-{config.encoder.position}-{config.encoder.activation}-{config.tie}",
)
def test_in_fp32_it_writes_token_for_token_what_torch_writes(config: ModelConfig) -> None:
    own = stored(config)
    parity = compare(on_torch(own), CTranslate2Engine(own, "float32", 1), rows(own), config.max_length - 1)
    assert parity.sentences == 40
    assert not parity.faults


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "swish"])
def test_it_is_as_sure_of_given_translations(activation: str, tmp_path: Path) -> None:
    """Close enough to tell one GELU from the other."""
    own = stored(with_stacks(activation=activation))
    export(own, tmp_path / "out", "float32")
    named, sources, targets = names(PIECES), rows(own, 10), rows(own, 20)[10:]
    theirs = ctranslate2.Translator(str(tmp_path / "out"), intra_threads=1).score_batch(
        [[*(named[i] for i in source), named[EOS]] for source in sources],
        [[named[i] for i in target] for target in targets],
        max_input_length=0,
    )
    for source, target, found in zip(sources, targets, theirs, strict=True):
        start = on_torch(own).model.begin(torch.tensor([[*source, EOS]]))
        log_probs, _ = on_torch(own).model(torch.tensor([[BOS, *target]]), start)
        expected = log_probs[0].gather(1, torch.tensor([*target, EOS])[:, None]).squeeze(1)
        torch.testing.assert_close(torch.tensor(found.log_probs), expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("weight", [10.0, -10.0])
def test_an_end_at_once_and_none_at_all(weight: float) -> None:
    own = stored(replace(SMALL, tie="none"))
    with torch.no_grad():
        own.model.get_parameter("decoder.norm.bias").fill_(2.0)
        own.model.get_parameter("head.project.weight")[EOS] = weight
    options = SearchOptions(beam=1, max_ratio=0.0, max_extra=5)
    expected = on_torch(own).search(rows(own), options, None, 23)
    found = CTranslate2Engine(own, "float32", 1).search(rows(own), options, None, 23)
    assert {len(best.tokens) for best, *_ in found} == {0 if weight > 0 else 5}
    for (wanted,), (hypothesis,) in zip(expected, found, strict=True):
        assert hypothesis.tokens == wanted.tokens
        assert hypothesis.log_probability == pytest.approx(wanted.log_probability, abs=1e-3)


def test_two_vocabularies() -> None:
    own = stored(replace(SMALL, tie="target"), (PIECES, WORDS))
    parity = compare(on_torch(own), CTranslate2Engine(own, "float32", 1), rows(own), 23)
    assert not parity.faults


@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(beam=4),
        SearchOptions(beam=3, length_penalty=0.0),
        SearchOptions(beam=3, n_best=2, max_ratio=0.5, max_extra=2),
        SearchOptions(beam=1, max_ratio=0.0, max_extra=0),
        SearchOptions(beam=2, max_ratio=0.0, max_extra=1),
    ],
)
@pytest.mark.parametrize("prefixed", [False, True])
def test_searches_find_what_torch_finds(options: SearchOptions, prefixed: bool) -> None:
    """Limits, prefixes and scores included; a score may leave out what padding and the begin mark would have had."""
    own = stored()
    sources = rows(own)
    prefixes = [[7] * (row % 4) for row in range(len(sources))] if prefixed else None
    expected = on_torch(own).search(sources, options, prefixes, 23)
    found = CTranslate2Engine(own, "float32", 2).search(sources, options, prefixes, 23)
    same = sum(a[0].tokens == b[0].tokens for a, b in zip(expected, found, strict=True))
    assert same >= 0.95 * len(sources)
    for row, (wanted, hypotheses) in enumerate(zip(expected, found, strict=True)):
        longest = max(options.limit(len(sources[row]), 23), row % 4 if prefixed else 0)
        assert 1 <= len(hypotheses) <= options.n_best
        assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)
        assert all(len(h.tokens) <= longest for h in hypotheses)
        if wanted[0].tokens == hypotheses[0].tokens:
            exact = prefixed and row % 4  # then the score is computed anew
            near = 1e-3 if exact else 0.05 * (longest + 1)
            assert hypotheses[0].log_probability == pytest.approx(wanted[0].log_probability, abs=near)
            assert hypotheses[0].score == pytest.approx(wanted[0].score, abs=near)


def test_int8_is_nearly_the_same_and_smaller(tmp_path: Path) -> None:
    own = stored()
    engine = CTranslate2Engine(own)
    assert engine.recipe.startswith("ctranslate2 int8, ")
    parity = compare(on_torch(own), engine, rows(own), 23)
    assert parity.equal > parity.sentences / 2
    export(own, tmp_path / "whole", "float32")
    export(own, tmp_path / "small", "int8")
    assert (tmp_path / "small" / "model.bin").stat().st_size < 0.5 * (tmp_path / "whole" / "model.bin").stat().st_size


def test_writing_a_model_leaves_it_as_it_was(tmp_path: Path) -> None:
    own = stored()
    before = [parameter.clone() for parameter in own.model.parameters()]
    export(own, tmp_path / "out", "int8")
    assert all(torch.equal(a, b) for a, b in zip(before, own.model.parameters(), strict=True))


def test_a_planted_fault_is_no_tie(tmp_path: Path) -> None:
    """The check sees a model that is a little another one, and says where."""
    own, other = stored(), stored()
    with torch.no_grad():
        other.model.get_parameter("decoder.layers.0.add_fed.norm.bias").add_(2.0 * torch.arange(16) % 5)
    export(other, tmp_path / "out", "float32")
    parity = compare(on_torch(own), CTranslate2Engine(own, "float32", 1, tmp_path / "out"), rows(own), 23)
    assert parity.faults
    assert parity.faults[0].lead > 1e-3
    assert parity.equal == parity.sentences - len(parity.differences)
    first = parity.differences[0]
    (hypothesis,) = on_torch(own).search([rows(own)[first.row]], SearchOptions(beam=1), None, 23)[0]
    assert (*hypothesis.tokens, EOS)[first.place] == first.tokens[0]


def test_it_is_written_once_for_the_same_weights(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []

    def counted(own: Stored, folder: Path, numbers: Any) -> None:
        written.append(folder)
        export(own, folder, numbers)

    monkeypatch.setattr(ctranslate2_engine, "export", counted)
    for seed in (3, 3, 4):
        CTranslate2Engine(stored(seed=seed), "float32", 1)
    CTranslate2Engine(stored(), "int8", 1)
    assert len(set(written)) == len(written) == 3
    assert set(cache.iterdir()) == set(written)


def test_the_cache_keeps_a_few(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctranslate2_engine, "KEPT", 2)
    for seed in range(4):
        CTranslate2Engine(stored(seed=seed), "float32", 1)
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("joint", [True, False])
def test_the_folder_needs_no_sightline(tmp_path: Path, joint: bool) -> None:
    """What its README says works: CTranslate2 and `tokenizers` alone."""
    own = stored(SMALL if joint else replace(SMALL, tie="target"), (PIECES, PIECES if joint else WORDS))
    export(own, tmp_path / "out", "float32")
    text = (tmp_path / "out" / "README.md").read_text("utf-8")
    program = text.split("```python\n")[1].split("```")[0].replace('Translator("."', f"Translator({str(tmp_path / 'out')!r}")
    program = program.replace("beam_size=5", "beam_size=1")  # greedily, for CTranslate2 ranks otherwise than we do
    program = program.replace('from_file("', f'from_file("{tmp_path}/out/').replace("from_file('", f"from_file('{tmp_path}/out/")
    known: dict[str, Any] = {"ctranslate2": ctranslate2, "tokenizers": tokenizers}
    exec(program, known)
    texts = ["one two", "seven, eight", "x y z"]
    found = on_torch(own).search(
        own.tokenizers[0].encode_batch(texts), SearchOptions(beam=1, max_ratio=0.0, max_extra=99), None, 23
    )
    assert known["translate"](texts) == [own.tokenizers[1].decode(best.tokens) for best, *_ in found]
    assert json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))["decoder_start_token"] == " bos"


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (with_stacks(position="rotary"), "its encoder has positions of the kind rotary"),
        (ModelConfig(RecurrentEncoderConfig(), RecurrentDecoderConfig(), dim=8), "its encoder is not a Transformer"),
        (replace(SMALL, encoder=None, tie="target"), "a language model has no source"),
    ],
)
def test_what_cannot_be_handed_over_is_refused(config: ModelConfig, reason: str, tmp_path: Path) -> None:
    own = stored(config)
    assert reason in why_not(own)
    with pytest.raises(UserError, match=reason):
        export(own, tmp_path / "out")
    assert not list(tmp_path.glob("**/out*"))


def test_a_folder_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(UserError, match="is there already"):
        export(stored(), tmp_path / "out")


def test_an_export_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ctranslate2_export, "write_whole", full)
    with pytest.raises(UserError, match=r"could not be written \(No space left on device\)"):
        export(stored(), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_without_the_package_the_fix_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ctranslate2", None)
    with pytest.raises(UserError, match=r"install it with: pip install 'sightline\[ctranslate2\]'"):
        CTranslate2Engine(stored())


def test_searches_it_leaves_to_torch() -> None:
    engine = CTranslate2Engine(stored(), "float32", 1)
    assert "coverage_penalty" in engine.can(SearchOptions(coverage_penalty=0.1))
    assert "beam=200" in engine.can(SearchOptions(beam=200))
    assert engine.can(SearchOptions(beam=100)) == ""
    assert engine.search([], SearchOptions(), None, 23) == []
