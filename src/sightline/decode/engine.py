"""What finds translations: the protocol that every engine obeys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias, get_args, runtime_checkable

from sightline.decode.options import Hypothesis, SearchOptions
from sightline.decode.search import Prefixes
from sightline.errors import UserError

EngineName: TypeAlias = Literal["torch", "native", "ctranslate2", "auto"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)


def engine_name(text: str | None) -> EngineName | None:
    """The engine that a user means."""
    for name in ENGINES:
        if name == text:
            return name
    if text is not None:
        raise UserError(f"there is no engine {text!r}; say {', '.join(ENGINES[:-1])} or {ENGINES[-1]}")
    return None


@runtime_checkable
class Engine(Protocol):
    """Finds the best translations of token rows. Each engine batches the whole job as suits it."""

    @property
    def recipe(self) -> str:
        """What computes, how exactly and how widely, such as "torch fp32": it goes into reports."""
        ...

    def can(self, options: SearchOptions) -> str:
        """Nothing if it can run such a search, else the reason in words."""
        ...

    def search(
        self, sources: Sequence[Sequence[int]], options: SearchOptions, prefixes: Prefixes | None, longest: int
    ) -> list[list[Hypothesis]]:
        """At most `n_best` hypotheses for each source, best first, in the order of the sources, which have no end mark.

        `prefixes`: how each translation must begin. `longest`: the most tokens that the model can write.
        """
        ...


Choice: TypeAlias = Callable[[SearchOptions], Engine]  # which engine runs such a search
