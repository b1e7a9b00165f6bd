"""Which engine runs a search: the named one or none, the first that can, the fastest that was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sightline.decode import choose as module
from sightline.decode import measure
from sightline.decode.choose import choose
from sightline.decode.engine import Engine, engine_name
from sightline.decode.measure import rates
from sightline.decode.options import Hypothesis, SearchOptions
from sightline.decode.search import Prefixes
from sightline.decode.torch_engine import TorchEngine
from sightline.errors import UserError
from sightline.models.build import build
from sightline.models.combine import Ensemble
from sightline.models.config import ModelConfig, TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.models.store import Stored
from sightline.text.learn import learn

WORDS = learn(["a b c d e f g"], "words", 50, min_frequency=1)
STACK = TransformerConfig(layers=1, heads=2, hidden=16)
CONFIG = ModelConfig(STACK, STACK, dim=8, max_length=16)
PLAIN = SearchOptions(beam=2)
COVERED = SearchOptions(beam=2, coverage_penalty=0.1)


class Clock:
    """Time passes when somebody works, and otherwise not."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()


@dataclass
class Fake:
    """Takes the same time for every sentence."""

    recipe: str
    seconds: float = 0.1
    asked: list[int] = field(default_factory=list)

    def can(self, options: SearchOptions) -> str:
        return "it counts nothing but sheep" if options.coverage_penalty else ""

    def search(
        self, sources: Sequence[Sequence[int]], options: SearchOptions, prefixes: Prefixes | None, longest: int
    ) -> list[list[Hypothesis]]:
        assert all(0 < len(source) <= longest for source in sources)
        self.asked.append(len(sources))
        CLOCK.now += self.seconds * len(sources)
        return [[] for _ in sources]


class Slow(TorchEngine):
    """Takes a second for every sentence."""

    def search(
        self, sources: Sequence[Sequence[int]], options: SearchOptions, prefixes: Prefixes | None, longest: int
    ) -> list[list[Hypothesis]]:
        CLOCK.now += len(sources)
        return super().search(sources, options, prefixes, longest)


def stored(seed: int = 0) -> Stored:
    model = build(CONFIG, WORDS.size, WORDS.size, seed)
    return Stored(model.eval(), CONFIG, (WORDS, WORDS), ("fr", "en"), Path("m"))


def on_torch(parts: Sequence[Stored]) -> TorchEngine:
    models = [part.model for part in parts if isinstance(part.model, Seq2Seq)]
    return Slow(models[0] if len(models) == 1 else Ensemble(models), WORDS.size)


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Fake]:
    """Native and CTranslate2 as they are not; `native` fits every model but the one with the seed 13."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(measure, "time", SimpleNamespace(perf_counter=CLOCK))
    made = {"native": Fake("native int8"), "ctranslate2": Fake("ctranslate2 int8")}
    makers: dict[str, Callable[[Stored], Engine]] = {name: lambda _, name=name: made[name] for name in made}  # type: ignore[misc]
    monkeypatch.setattr(module, "_MAKE", makers)
    monkeypatch.setattr(module, "_WHY_NOT", dict.fromkeys(made, lambda part: "unlucky" if part.languages[0] == "xx" else ""))
    return made


UNFIT = Stored(build(CONFIG, WORDS.size, WORDS.size), CONFIG, (WORDS, WORDS), ("xx", "en"), Path("m"))


def test_without_a_name_the_native_engine_where_it_can(engines: dict[str, Fake]) -> None:
    own = stored()
    choice = choose(None, [own], on_torch([own]))
    assert choice(PLAIN) is engines["native"]
    assert choice(COVERED).recipe == "torch fp32"
    assert choose(None, [UNFIT], on_torch([UNFIT]))(PLAIN).recipe == "torch fp32"
    assert choose(None, [own, own], on_torch([own, own]))(PLAIN).recipe == "torch fp32"
    assert not engines["native"].asked  # nothing is measured


@pytest.mark.parametrize("name", ["native", "ctranslate2"])
def test_a_named_engine_or_none(engines: dict[str, Fake], name: str) -> None:
    own = stored()
    choice = choose(engine_name(name), [own], on_torch([own]))
    assert choice(PLAIN) is engines[name]
    with pytest.raises(UserError, match=f"the {name} engine cannot run this: it counts nothing but sheep; take the torch engine"):
        choice(COVERED)
    with pytest.raises(UserError, match="cannot run this: unlucky"):
        choose(engine_name(name), [UNFIT], on_torch([UNFIT]))
    with pytest.raises(UserError, match="several models that vote need the torch engine"):
        choose(engine_name(name), [own, own], on_torch([own, own]))


def test_torch_runs_everything(engines: dict[str, Fake]) -> None:
    own = stored()
    for options in (PLAIN, COVERED):
        assert choose("torch", [own], on_torch([own]))(options).recipe == "torch fp32"


@pytest.mark.parametrize("faster", ["native", "ctranslate2"])
def test_auto_takes_the_fastest_and_measures_once(engines: dict[str, Fake], faster: str) -> None:
    own = stored()
    for name, engine in engines.items():
        engine.seconds = 1e-5 if name == faster else 1e-3 if name == "native" else 1e-4
    assert choose("auto", [own], on_torch([own]))(PLAIN) is engines[faster]
    asked = {name: len(engine.asked) for name, engine in engines.items()}
    assert all(asked.values())
    again = choose("auto", [stored()], on_torch([own]))
    assert again(PLAIN) is engines[faster]
    assert again(COVERED).recipe == "torch fp32"
    assert {name: len(engine.asked) for name, engine in engines.items()} == asked  # remembered for beam=2 …
    again(SearchOptions(beam=3))
    assert all(len(engine.asked) > asked[name] for name, engine in engines.items())  # … and for no other


def test_auto_takes_torch_where_it_is_the_fastest(engines: dict[str, Fake]) -> None:
    for engine in engines.values():
        engine.seconds = 2.0
    assert choose("auto", [own := stored()], on_torch([own]))(PLAIN).recipe == "torch fp32"


def test_auto_for_what_only_torch_can(engines: dict[str, Fake]) -> None:
    assert choose("auto", [UNFIT], on_torch([UNFIT]))(PLAIN).recipe == "torch fp32"
    assert not any(engine.asked for engine in engines.values())


def test_a_measurement_is_of_one_model_and_survives_damage(engines: dict[str, Fake], tmp_path: Path) -> None:
    fake = Fake("fake")
    first = rates(stored(), {"fake": lambda: fake}, 2)
    before = len(fake.asked)
    assert rates(stored(), {"fake": lambda: fake}, 2) == first
    assert len(fake.asked) == before
    rates(stored(seed=1), {"fake": lambda: fake}, 2)
    assert len(fake.asked) > before
    for file in (tmp_path / "sightline" / "engines").iterdir():
        file.write_text('{"fake": "fast"}', encoding="utf-8")
    before = len(fake.asked)
    assert rates(stored(), {"fake": lambda: fake}, 2)["fake"] > 0
    assert len(fake.asked) > before


def test_a_model_with_a_shortlist_is_measured_anew(engines: dict[str, Fake], tmp_path: Path) -> None:
    fake, own = Fake("fake"), replace(stored(), folder=tmp_path)
    rates(own, {"fake": lambda: fake}, 2)
    before = len(fake.asked)
    (tmp_path / "shortlist.safetensors").touch()
    rates(own, {"fake": lambda: fake}, 2)
    assert len(fake.asked) > before


def test_a_rate_is_sentences_a_second(engines: dict[str, Fake]) -> None:
    fake = Fake("fake", seconds=1e-3)
    assert rates(stored(), {"fake": lambda: fake}, 1)["fake"] == pytest.approx(1000)
    assert fake.asked[-1] * fake.seconds >= measure.SECONDS  # long enough to be believed


def test_names() -> None:
    assert engine_name(None) is None
    assert engine_name("auto") == "auto"
    with pytest.raises(UserError, match="there is no engine 'gpu'; say torch, native, ctranslate2 or auto"):
        engine_name("gpu")
