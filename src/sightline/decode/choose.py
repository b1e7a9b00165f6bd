"""Which engine runs a search: the one that a user names, or the best that can."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import MappingProxyType
from typing import cast

from sightline.decode.ctranslate2_engine import CTranslate2Engine
from sightline.decode.ctranslate2_engine import why_not as ctranslate2_why_not
from sightline.decode.engine import Choice, Engine, EngineName, engine_name
from sightline.decode.measure import rates
from sightline.decode.native_engine import NativeEngine
from sightline.decode.options import SearchOptions
from sightline.decode.shortlist import Shortlist
from sightline.decode.torch_engine import TorchEngine
from sightline.errors import UserError
from sightline.models.seq2seq import Seq2Seq
from sightline.models.store import Stored


def choose(name: EngineName | None, parts: Sequence[Stored], torch_engine: TorchEngine) -> Choice:
    """From a search to its engine. `parts`: the models behind `torch_engine`, which runs what no other can.

    No name: the native engine where it can, else PyTorch.
    """
    match engine_name(name):
        case None:
            return _first_of(lambda options: ["native"], parts, torch_engine)
        case "torch":
            return lambda options: torch_engine
        case "native" | "ctranslate2" as named:
            return _exactly(named, parts, torch_engine)
        case "auto":
            return _first_of(_fastest(parts, torch_engine), parts, torch_engine)


def why_not(name: str, parts: Sequence[Stored], torch_engine: TorchEngine) -> str:
    """Why this engine cannot run these models here; nothing if it can."""
    if name == "torch":
        return ""
    if len(parts) != 1:
        return "several models that vote need the torch engine"
    if torch_engine.device.type != "cpu":
        return f"it computes on the processor, not on {torch_engine.device.type}"
    return _WHY_NOT[name](parts[0])


def _exactly(name: str, parts: Sequence[Stored], torch_engine: TorchEngine) -> Choice:
    if reason := why_not(name, parts, torch_engine):
        raise UserError(f"the {name} engine cannot run this: {reason}; take the torch engine, or name none")
    engine = _MAKE[name](parts[0])

    def choice(options: SearchOptions) -> Engine:
        if reason := engine.can(options):
            raise UserError(f"the {name} engine cannot run this: {reason}; take the torch engine, or name none")
        return engine

    return choice


def _first_of(order: Callable[[SearchOptions], Sequence[str]], parts: Sequence[Stored], torch_engine: TorchEngine) -> Choice:
    """The first engine in this order that can run the search, else PyTorch. Each is made when it is first needed."""
    unfit = cache(lambda name: why_not(name, parts, torch_engine))
    made = cache(lambda name: torch_engine if name == "torch" else _MAKE[name](parts[0]))

    def choice(options: SearchOptions) -> Engine:
        for name in order(options):
            if not unfit(name) and not made(name).can(options):
                return made(name)
        return torch_engine

    return choice


def _fastest(parts: Sequence[Stored], torch_engine: TorchEngine) -> Callable[[SearchOptions], Sequence[str]]:
    """The engines for a search, the fastest first, as measured on this machine for its beam."""

    @cache
    def order(beam: int) -> Sequence[str]:
        usable = [name for name in ("native", "ctranslate2") if not why_not(name, parts, torch_engine)]
        if not usable:
            return ()
        makers = {name: partial(_MAKE[name], parts[0]) for name in usable}
        found = rates(parts[0], {**makers, "torch": lambda: torch_engine}, beam)
        return sorted(found, key=lambda name: -found[name])

    return lambda options: order(options.beam)


_WHY_NOT: Mapping[str, Callable[[Stored], str]] = MappingProxyType(
    {"native": lambda stored: NativeEngine.why_not(cast(Seq2Seq, stored.model)), "ctranslate2": ctranslate2_why_not}
)
_MAKE: Mapping[str, Callable[[Stored], Engine]] = MappingProxyType(
    {
        "native": lambda stored: NativeEngine(cast(Seq2Seq, stored.model), shortlist=Shortlist.beside(stored.folder)),
        "ctranslate2": CTranslate2Engine,
    }
)
