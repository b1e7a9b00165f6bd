"""Which engine runs a search: the one that a user names, or the best that can."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from sightline.decode.engine import Choice, Engine, EngineName, engine_name
from sightline.decode.options import SearchOptions
from sightline.decode.torch_engine import TorchEngine
from sightline.errors import UserError
from sightline.models.store import Stored

FASTER = ("native", "ctranslate2")  # what may take PyTorch's place, each for some models and some searches


def choose(name: EngineName | None, parts: Sequence[Stored], torch_engine: TorchEngine) -> Choice:
    """From a search to its engine. `parts`: the models behind `torch_engine`, which runs what no other can.

    No name: the native engine where it can, else PyTorch.
    """
    match engine_name(name):
        case None:
            return _first_of(["native"], parts, torch_engine)
        case "torch":
            return lambda options: torch_engine
        case "native" | "ctranslate2" as named:
            return _exactly(named, parts, torch_engine)
        case "auto":
            raise NotImplementedError


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


def _first_of(names: Sequence[str], parts: Sequence[Stored], torch_engine: TorchEngine) -> Choice:
    """The first of these that can run the search, else PyTorch. Each is made when it is first needed."""
    made = cache(lambda name: _MAKE[name](parts[0]))
    usable = [name for name in names if not why_not(name, parts, torch_engine)]

    def choice(options: SearchOptions) -> Engine:
        able: list[Engine] = [made(name) for name in usable if not made(name).can(options)]
        return [*able, torch_engine][0]

    return choice


def _native() -> Any:
    """The class of the native engine, where there is one."""
    home = "sightline.decode.native_engine"
    return importlib.import_module(home).NativeEngine if importlib.util.find_spec(home) else None


def _native_why_not(stored: Stored) -> str:
    return "it is not part of this installation" if _native() is None else str(_native().why_not(stored.model))


def _ctranslate2_why_not(stored: Stored) -> str:
    from sightline.decode.ctranslate2_engine import why_not

    return why_not(stored)


def _make_native(stored: Stored) -> Engine:
    engine: Engine = _native()(stored.model)
    return engine


def _make_ctranslate2(stored: Stored) -> Engine:
    from sightline.decode.ctranslate2_engine import CTranslate2Engine

    return CTranslate2Engine(stored)


_WHY_NOT: dict[str, Callable[[Stored], str]] = {"native": _native_why_not, "ctranslate2": _ctranslate2_why_not}
_MAKE: dict[str, Callable[[Stored], Engine]] = {"native": _make_native, "ctranslate2": _make_ctranslate2}
