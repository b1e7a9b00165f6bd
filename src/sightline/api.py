"""A model in Python: translate, score, explain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sightline.decode.load import load_translator
from sightline.decode.options import SampleOptions, SearchOptions
from sightline.decode.score import PairScore, score_pairs
from sightline.decode.translate import Translation, Translator
from sightline.errors import UserError
from sightline.look.record import Explanation, explain_many
from sightline.models.seq2seq import Seq2Seq
from sightline.models.store import Stored


class Model:
    """A translation model, or several that vote. Safe to use from several threads."""

    def __init__(self, translator: Translator, parts: Sequence[Stored]) -> None:
        self.translator, self.parts = translator, tuple(parts)

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target."""
        return self.parts[0].languages

    def translate(
        self, texts: Sequence[str], options: SearchOptions | None = None, prefixes: Sequence[str] | None = None
    ) -> list[Translation]:
        """The best translations of each text, in order; an empty text stays empty. `prefixes`: how each must begin."""
        return self.translator.translate(_several(texts), options, prefixes)

    def stream(self, texts: Iterable[str], options: SearchOptions | None = None) -> Iterator[Translation]:
        """The same for texts without end, as they come."""
        return self.translator.stream(texts, options)

    def sample(self, texts: Sequence[str], options: SampleOptions | None = None) -> list[Translation]:
        """Translations drawn at random: a function of the options' seed, each text and its place."""
        return self.translator.sample(_several(texts), options)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[PairScore]:
        """How likely the model finds each of these translations, piece by piece."""
        return score_pairs(self.translator.model, self.translator.tokenizers, pairs)

    def explain(self, source: str, target: str | None = None) -> Explanation:
        """What every layer and head looks at while it translates; `target` unset: its own translation."""
        return next(self.explain_all([(source, target)]))

    def explain_all(self, pairs: Iterable[tuple[str, str | None]]) -> Iterator[Explanation]:
        """`explain` of many, in order."""
        model = self.translator.model
        if not isinstance(model, Seq2Seq):
            raise UserError("several models that vote look at different things; explain them one by one")
        given = list(pairs)
        missing = [source for source, target in given if target is None]
        found = iter([translation.text for translation in self.translate(missing)])
        whole = [(source, next(found) if target is None else target) for source, target in given]
        return explain_many(model, self.translator.tokenizers, whole)


def load(*folders: str | Path, device: str = "cpu") -> Model:
    """Open a model folder, or the run folder around it; several vote on every token."""
    return Model(*load_translator(folders, device))


def _several(texts: Sequence[str]) -> Sequence[str]:
    if isinstance(texts, str):  # a str is a sequence of its characters, so it would pass unnoticed
        raise TypeError("give a list of texts, such as [text]")
    return texts
