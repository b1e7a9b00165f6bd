"""From text to text: pieces, batches, search, text again. Order and number of the texts are kept; an empty one stays empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sightline.decode.engine import Choice, Engine
from sightline.decode.options import Hypothesis, SampleOptions, SearchOptions
from sightline.decode.torch_engine import TorchEngine
from sightline.errors import UserError
from sightline.models.interface import Translates
from sightline.text.sentences import split_long
from sightline.text.tokenizer import Tokenizer

CHUNK = 2048  # texts of a stream that are sorted by length together


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to say it."""

    text: str
    log_probability: float  # of all its pieces, end marks included
    score: float  # what it was ranked by; of a text in several parts the mean of theirs
    parts: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]  # the pieces read and written, of each part of the text


@dataclass(frozen=True, slots=True)
class Translation:
    """What became of one text: the best candidate, then the others asked for. An empty text has none."""

    source: str
    candidates: tuple[Candidate, ...]

    @property
    def text(self) -> str:
        """The best candidate's text."""
        return self.candidates[0].text if self.candidates else ""


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of a text that is searched in one go."""

    text: int  # whose it is
    place: int  # which of that text's stretches
    ids: list[int]
    gap: str  # white space between it and the next part
    prefix: list[int]


Search = Callable[[Sequence[_Part]], list[list[Hypothesis]]]


class Translator:
    """A model between its two tokenizers, and the engine that searches for it. Safe to use from several threads.

    `choice` says which engine runs a search; without one PyTorch does. Drawing at random is always PyTorch's.
    """

    def __init__(
        self, model: Translates, tokenizers: tuple[Tokenizer, Tokenizer], max_length: int, choice: Choice | None = None
    ) -> None:
        self.model, self.tokenizers, self.max_length, self.choice = model, tokenizers, max_length, choice

    @property
    def longest(self) -> int:
        """The most pieces that a translation may have; the mark it begins with needs a place among those that are read."""
        return self.max_length - 1

    def engine(self, options: SearchOptions) -> Engine:
        """What such a search is run by."""
        return self._torch if self.choice is None else self.choice(options)

    def translate(
        self, texts: Sequence[str], options: SearchOptions | None = None, prefixes: Sequence[str] | None = None
    ) -> list[Translation]:
        """The best translations of each text. `prefixes`: how each translation must begin."""
        chosen = options if options is not None else SearchOptions()
        if prefixes is not None and len(prefixes) != len(texts):
            raise ValueError(f"{len(prefixes)} prefixes for {len(texts)} texts; each text needs its own, which may be empty")

        def search(parts: Sequence[_Part]) -> list[list[Hypothesis]]:
            starts = [part.prefix for part in parts] if prefixes is not None else None
            return self.engine(chosen).search([part.ids for part in parts], chosen, starts, self.longest)

        return self._run(texts, search, prefixes)

    def sample(self, texts: Sequence[str], options: SampleOptions | None = None, first: int = 0) -> list[Translation]:
        """Translations drawn at random; `first` is the number of the first text, by which its draws differ from others'."""
        chosen = options if options is not None else SampleOptions()

        def search(parts: Sequence[_Part]) -> list[list[Hypothesis]]:
            numbers = [(first + part.text << 32) + part.place for part in parts]  # however many parts the texts before it had
            return self._torch.sample([part.ids for part in parts], numbers, chosen, self.longest)

        return self._run(texts, search, None)

    def stream(self, texts: Iterable[str], options: SearchOptions | None = None, chunk: int = CHUNK) -> Iterator[Translation]:
        """Translations as they come, in order, of texts without end."""
        waiting = iter(texts)
        while some := list(islice(waiting, chunk)):
            yield from self.translate(some, options)

    @property
    def _torch(self) -> TorchEngine:
        return TorchEngine(self.model, self.tokenizers[1].size)

    def _run(self, texts: Sequence[str], search: Search, prefixes: Sequence[str] | None) -> list[Translation]:
        read = self.tokenizers[0].encode_batch([text.strip() for text in texts])
        parts = [part for number, text in enumerate(texts) for part in self._parts(number, text, read[number], prefixes)]
        of_text: list[list[tuple[_Part, list[Hypothesis]]]] = [[] for _ in texts]
        for part, found in zip(parts, search(parts) if parts else (), strict=True):
            of_text[part.text].append((part, found))
        return [self._joined(text, own) for text, own in zip(texts, of_text, strict=True)]

    def _parts(self, number: int, text: str, ids: list[int], prefixes: Sequence[str] | None) -> Iterator[_Part]:
        """The whole text where the model can read it at once, else stretches that end at sentence ends."""
        if not text.strip():
            return
        prefix = self.tokenizers[1].encode(prefixes[number]) if prefixes is not None and prefixes[number].strip() else []
        if len(prefix) > self.longest:
            raise UserError(
                f"text {number + 1}: its prefix has {len(prefix)} pieces, this model writes at most {self.longest}; shorten it"
            )
        if len(ids) < self.max_length:  # the end mark needs a place
            yield _Part(number, 0, ids, "", prefix)
            return
        for place, piece in enumerate(split_long(text, self._fits)):
            bare = piece.strip()
            if bare:
                yield _Part(number, place, self.tokenizers[0].encode(bare), piece[len(piece.rstrip()) :], prefix)
                prefix = []  # only the first part begins the translation

    def _fits(self, text: str) -> bool:
        return len(self.tokenizers[0].encode(text.strip())) < self.max_length

    def _joined(self, source: str, parts: Sequence[tuple[_Part, list[Hypothesis]]]) -> Translation:
        """The first candidates of all parts side by side, then the second ones, …"""
        if not parts:
            return Translation(source, ())
        count = min(len(hypotheses) for _, hypotheses in parts)
        in_lines = len(source.splitlines()) > 1
        return Translation(source, tuple(self._candidate(parts, place, in_lines) for place in range(count)))

    def _candidate(self, parts: Sequence[tuple[_Part, list[Hypothesis]]], place: int, in_lines: bool) -> Candidate:
        chosen = [hypotheses[place] for _, hypotheses in parts]
        texts = [self.tokenizers[1].decode(hypothesis.tokens) for hypothesis in chosen]
        if not in_lines:  # a model can spell a line break, which would put every line after it out of step
            texts = [" ".join(text.splitlines()) for text in texts]
        gaps = [part.gap or " " for part, _ in parts[:-1]]
        joined = "".join(text + gap for text, gap in zip(texts, [*gaps, ""], strict=True))
        total = sum(hypothesis.log_probability for hypothesis in chosen)
        mean = sum(hypothesis.score for hypothesis in chosen) / len(chosen)
        pieces = tuple((tuple(part.ids), hypothesis.tokens) for (part, _), hypothesis in zip(parts, chosen, strict=True))
        return Candidate(joined, total, mean, pieces)
