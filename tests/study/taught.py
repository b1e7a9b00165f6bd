"""A teacher that knows something: each text backwards; one of its words makes it say nothing, another one makes it never end."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.api import Model
from sightline.decode.options import SearchOptions
from sightline.decode.translate import Candidate, Translation

SILENT, ENDLESS = "Stille", "endlos"


class Taught:
    """What it was asked, in calls."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.stop_at = 0  # the number of the call in which somebody presses Ctrl-C

    @property
    def asked(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def translate(self, model: Model, texts: Sequence[str], options: SearchOptions | None = None) -> list[Translation]:
        if self.stop_at and len(self.calls) + 1 == self.stop_at:
            raise KeyboardInterrupt
        self.calls.append(list(texts))
        return [self._one(model, text, options or SearchOptions()) for text in texts]

    def _one(self, model: Model, text: str, options: SearchOptions) -> Translation:
        if SILENT in text:
            return Translation(text, ())
        said = " ".join(reversed(text.split()))
        source, target = model.translator.tokenizers
        read, written = tuple(source.encode(text)), tuple(target.encode(said))
        if ENDLESS in text:
            written = (5,) * options.limit(len(read), model.translator.longest)
        else:
            written = written[: options.limit(len(read), model.translator.longest) - 1]
        return Translation(text, (Candidate(said, -1.0, -1.0, ((read, written),)),))
