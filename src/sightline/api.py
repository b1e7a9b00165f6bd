"""A model in Python: translate, score, explain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sightline.decode.engine import engine_name
from sightline.decode.load import load_translator
from sightline.decode.options import SampleOptions, SearchOptions
from sightline.decode.score import PairScore, score_pairs
from sightline.decode.translate import Translation, Translator
from sightline.errors import UserError
from sightline.look.record import Explanation, explain_many, explain_pieces
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

    def engine(self, options: SearchOptions | None = None) -> str:
        """What runs such a search, in words, such as "torch fp32"."""
        return self.translator.engine(options if options is not None else SearchOptions()).recipe

    def translate(
        self, texts: Sequence[str], options: SearchOptions | None = None, prefixes: Sequence[str] | None = None
    ) -> list[Translation]:
        """The best translations of each text, in order; an empty text stays empty. `prefixes`: how each must begin."""
        return self.translator.translate(_several(texts), options, prefixes)

    def stream(self, texts: Iterable[str], options: SearchOptions | None = None) -> Iterator[Translation]:
        """The same for texts without end, as they come."""
        return self.translator.stream(texts, options)

    def sample(self, texts: Sequence[str], options: SampleOptions | None = None, first: int = 0) -> list[Translation]:
        """Translations drawn at random: a function of the options' seed, each text and its number, counted from `first`."""
        return self.translator.sample(_several(texts), options, first)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[PairScore]:
        """How likely the model finds each of these translations, piece by piece."""
        return score_pairs(self.translator.model, self.translator.tokenizers, pairs)

    def explain(self, source: str, target: str | None = None) -> Explanation:
        """What every layer and head looks at while it translates; `target` unset: its own translation."""
        if target is not None:
            return next(explain_many(self._one(), self.translator.tokenizers, [(source, target)]))
        found = list(self.explain_translations(self.translate([source])))
        if len(found) != 1:
            raise UserError(
                f"the text was translated in {len(found)} parts, each of which has attention of its own; explain its sentences"
            )
        return found[0]

    def explain_pairs(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Explanation]:
        """What it looks at in given pairs, in order."""
        return explain_many(self._one(), self.translator.tokenizers, pairs)

    def explain_translations(self, found: Iterable[Translation]) -> Iterator[Explanation]:
        """What it looked at in its own translations: one for each part that a text was translated in, none for an empty text."""
        parts = (part for translation in found for best in translation.candidates[:1] for part in best.parts)
        return explain_pieces(self._one(), self.translator.tokenizers, parts)

    def _one(self) -> Seq2Seq:
        model = self.translator.model
        if not isinstance(model, Seq2Seq):
            raise UserError("several models that vote look at different things; explain them one by one")
        return model


def load(*folders: str | Path, device: str = "cpu", engine: str | None = None) -> Model:
    """Open a model folder, or the run folder around it; several vote on every token.

    `engine`: "torch", "native", "ctranslate2", or "auto" for whichever is fastest here; unset: native where it can, else torch.
    """
    return Model(*load_translator(folders, device, engine_name(engine)))


def _several(texts: Sequence[str]) -> Sequence[str]:
    if isinstance(texts, str):  # a str is a sequence of its characters, so it would pass unnoticed
        raise TypeError("give a list of texts, such as [text]")
    return texts
