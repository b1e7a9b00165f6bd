"""Known runs, one function each. A TOML file or `key=value` changes fields; nothing is hidden elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType

from sightline.data.config import DataConfig, TokenizerConfig
from sightline.errors import UserError
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.nn.layers import NormOrder
from sightline.nn.scores import ScoreName
from sightline.train.config import OptimiserConfig, RunConfig, TrainConfig

AUTOMATIC = "auto"
SMALL_FROM, BASE_FROM = 100_000, 2_000_000  # training pairs


def transformer(dim: int, layers: int, heads: int, hidden: int, dropout: float, norm: NormOrder = "pre") -> ModelConfig:
    """Encoder and decoder alike. Norms on the way in learn several times faster at the start than those published."""
    stack = TransformerConfig(layers=layers, heads=heads, hidden=hidden, norm=norm)
    return ModelConfig(stack, stack, dim=dim, dropout=dropout)


def tiny() -> RunConfig:
    """For tens of thousands of pairs: a larger model learns them by heart and translates worse."""
    return RunConfig(
        model=transformer(dim=128, layers=4, heads=4, hidden=256, dropout=0.3),
        optimiser=OptimiserConfig(learning_rate=0.004, warmup=400, schedule="cosine"),
        train=TrainConfig(tokens=2048, max_updates=12_000, validate_every=400, judge="bleu", average=10, patience=20),
    )


def small() -> RunConfig:
    """For hundreds of thousands of pairs."""
    return RunConfig(
        model=transformer(dim=256, layers=4, heads=4, hidden=1024, dropout=0.1),
        optimiser=OptimiserConfig(learning_rate=0.002, warmup=2000),
        train=TrainConfig(max_updates=60_000, average=10),
    )


def base() -> RunConfig:
    """The base Transformer of Vaswani et al. (2017), its optimiser and its schedule; one vocabulary of 37,000."""
    return RunConfig(
        data=DataConfig(tokenizer=TokenizerConfig(size=37_000)),
        model=transformer(dim=512, layers=6, heads=8, hidden=2048, dropout=0.1, norm="post"),
        optimiser=OptimiserConfig(clip=0.0),
        train=TrainConfig(tokens=25_000, accumulate=4),
    )


def big() -> RunConfig:
    """The big Transformer of the same paper."""
    run = base()
    return replace(
        run,
        model=transformer(dim=1024, layers=6, heads=16, hidden=4096, dropout=0.3, norm="post"),
        train=replace(run.train, max_updates=300_000, average=20),
    )


def recurrent() -> RunConfig:
    """A bidirectional LSTM and an LSTM that looks at it (Bahdanau et al. 2015, Luong et al. 2015), for small corpora."""
    return _recurrent("additive")


def bottleneck() -> RunConfig:
    """The same with the source squeezed into one vector (Sutskever et al. 2014)."""
    return _recurrent("none")


def _recurrent(score: ScoreName | str) -> RunConfig:
    run = tiny()
    encoder = RecurrentEncoderConfig(layers=1, cell="lstm", bidirectional=True)
    decoder = RecurrentDecoderConfig(layers=1, cell="lstm", score=score, input_feeding=False)  # type: ignore[arg-type]
    return replace(
        run,
        model=ModelConfig(encoder, decoder, dim=256, dropout=0.3, tie="target"),
        optimiser=OptimiserConfig(learning_rate=0.002, warmup=400, schedule="cosine"),
    )


def student() -> RunConfig:
    """For what a larger model has translated: a deep encoder, which reads all at once, a shallow decoder (Kim & Rush 2016)."""
    encoder = TransformerConfig(layers=6, heads=4, hidden=1024, norm="pre")
    return RunConfig(
        model=ModelConfig(encoder, replace(encoder, layers=1), dim=256, dropout=0.1),
        optimiser=OptimiserConfig(learning_rate=0.002, warmup=800, schedule="cosine"),
        train=TrainConfig(max_updates=12_000, validate_every=400, judge="bleu", average=10, patience=20),
    )


def demo() -> RunConfig:
    """A translator from the built-in corpus in minutes. Its sentences never end and never err, so nothing need be dropped out."""
    files = DataConfig(("builtin:150000",), ("builtin:dev:1000",), ("builtin:test:2000",), tokenizer=TokenizerConfig(size=4000))
    return RunConfig(
        source="fr",
        target="en",
        data=files,
        model=transformer(dim=128, layers=2, heads=4, hidden=512, dropout=0.0),
        optimiser=OptimiserConfig(learning_rate=0.004, warmup=150, schedule="cosine"),
        train=TrainConfig(tokens=2048, max_updates=1700, max_minutes=4.8, validate_every=500, validate_sentences=200, average=0),
    )


PRESETS: Mapping[str, Callable[[], RunConfig]] = MappingProxyType(
    {each.__name__: each for each in (tiny, small, base, big, recurrent, bottleneck, student, demo)}
)


def preset(name: str) -> RunConfig:
    """The run of this name."""
    if name not in PRESETS:
        near = get_close_matches(name, PRESETS, n=1)
        hint = f"the nearest is {near[0]!r}" if near else f"there are {', '.join((AUTOMATIC, *PRESETS))}"
        raise UserError(f"there is no preset {name!r}; {hint}")
    return PRESETS[name]()


def automatic(pairs: int) -> str:
    """The name of what suits so many training pairs. The recurrent ones are for comparison and must be asked for."""
    if pairs < SMALL_FROM:
        return "tiny"
    return "small" if pairs < BASE_FROM else "base"
