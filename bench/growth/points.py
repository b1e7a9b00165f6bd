"""What is measured: a point is one piece of work, an axis is how one of its sizes grows while the others stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

from bench.speed.setups import Recipe
from sightline.models.config import ModelConfig, TransformerConfig

Kind: TypeAlias = Literal["train", "decode", "prepare", "order"]
HEAD = 64  # channels of a head
WIDE = 4  # times the channels of a state, inside a feed-forward layer


@dataclass(frozen=True, slots=True)
class Point:
    """One piece of work; what is not said is as in all comparisons of speed."""

    kind: Kind
    length: int = 16  # tokens of each sentence on either side, end mark included
    batch: int = 4096  # training: target tokens of an update; decoding: sentences given at once
    width: int = 256
    layers: int = 3  # of the encoder, and of the decoder
    vocabulary: int = 8000
    pairs: int = 8192  # of the corpus
    processes: int = 1
    threads: int = 2  # of all processes together

    @property
    def config(self) -> ModelConfig:
        """The model, which for the usual sizes is that of all comparisons of speed."""
        stack = TransformerConfig(layers=self.layers, heads=self.width // HEAD, hidden=WIDE * self.width, norm="pre")
        usual = Recipe(1).config().model
        return replace(usual, encoder=stack, decoder=stack, dim=self.width, max_length=max(usual.max_length, self.length))

    @property
    def key(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


TRAIN, DECODE = Point("train"), Point("decode", batch=512)
SEVERAL = "processes"  # the axis on which one process is set beside two

# How far each size goes; `quick` takes the ends and the usual size.
STEPS: Mapping[Kind, Mapping[str, tuple[int, ...]]] = {
    "train": {
        "length": (8, 16, 32, 64, 128, 256, 512),
        "batch": (512, 1024, 2048, 4096, 8192, 16384),
        "width": (64, 128, 256, 512, 1024),
        "layers": (1, 2, 3, 6, 12),
        "vocabulary": (1000, 4000, 8000, 16000, 32000, 64000),
        "pairs": (10**4, 10**5, 10**6),
    },
    "decode": {
        "length": (8, 16, 32, 64, 128, 256),
        "batch": (1, 8, 64, 512, 2048),
        "width": (64, 128, 256, 512, 1024),
        "layers": (1, 2, 3, 6, 12),
        "vocabulary": (1000, 4000, 8000, 16000, 32000, 64000),
    },
    "prepare": {"pairs": (10**4, 10**5, 10**6)},
    "order": {"pairs": (10**4, 10**5, 10**6, 10**7)},
}
QUICK: Mapping[Kind, Mapping[str, tuple[int, ...]]] = {
    "train": {"length": (16, 128), "batch": (1024, 4096)},
    "decode": {"length": (16, 64)},
    "prepare": {"pairs": (10**4, 2 * 10**4)},
    "order": {"pairs": (10**4, 10**5)},
}
LARGEST = 10**7  # pairs, where all is asked for
TOGETHER = (1024, 4096, 16384)  # tokens of an update, when one process is set beside two


def usual(kind: Kind) -> Point:
    """The point from which every axis of this kind sets out."""
    return {"train": TRAIN, "decode": DECODE}.get(kind, Point(kind))


def axes(quick: bool, everything: bool) -> Iterator[tuple[Kind, str, list[Point]]]:
    """Kind of work, what grows, and the points from small to large."""
    for kind, grows in (QUICK if quick else STEPS).items():
        for name, sizes in grows.items():
            further = (LARGEST,) if everything and name == "pairs" and LARGEST not in sizes else ()
            yield kind, name, [_grown(usual(kind), name, size) for size in (*sizes, *further)]
    yield "train", SEVERAL, list(_several(TOGETHER[:1] if quick else TOGETHER))


def _several(batches: tuple[int, ...]) -> Iterator[Point]:
    """One thread; one process with a thread for each core; as many processes of one thread."""
    for batch in batches:
        point = _grown(TRAIN, "batch", batch)
        yield from (replace(point, threads=1), point, replace(point, processes=2))


def _grown(point: Point, name: str, size: int) -> Point:
    """The corpus always has enough for some unlike updates; in decoding, long sentences come in fewer."""
    grown = replace(point, **{name: size})  # type: ignore[arg-type]
    if grown.kind == "train" and name != "pairs":
        return replace(grown, pairs=4 * grown.batch // grown.length)
    if grown.kind == "decode" and name == "length":
        return replace(grown, batch=max(ENOUGH, min(DECODE.batch, DECODE.batch * DECODE.length // size)))
    return grown


ENOUGH = 192  # sentences that keep all workers of the engine busy
