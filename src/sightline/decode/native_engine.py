"""The native engine: a Transformer's encoder and its whole search in C++ (native/engine), in int8 or fp32, on every core.

Sentences are searched side by side, without padding; where one is finished the next takes its place. What becomes of a sentence
does not depend on the others: sums of bytes are exact, and every row has its own scale.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from torch import nn

from sightline.data.workers import cores
from sightline.decode.native_weights import Shape, position_table, shape_of, stacks, unfit, weights_of
from sightline.decode.options import Hypothesis, SearchOptions
from sightline.decode.rank import normalised
from sightline.decode.search import Prefixes
from sightline.decode.shortlist import Shortlist
from sightline.errors import UserError
from sightline.models.seq2seq import Seq2Seq
from sightline.native import library, why_not
from sightline.nn.positions import Position
from sightline.text.tokenizer import EOS

Precision: TypeAlias = Literal["int8", "fp32"]
ROWS = 30  # hypotheses that one worker continues together: what they need stays in the memory near the core
TOGETHER = 4096  # sentences of one call: between two calls one can interrupt
MESSAGE = 1024  # bytes for what went wrong
FIRST_REACH = 256  # positions of which a table is made beforehand
Int32s = NDArray[np.int32]

_ADDRESS = ctypes.c_void_p


class _Job(ctypes.Structure):
    """As in native/engine/job.hpp."""

    _fields_ = [
        ("sentences", ctypes.c_int64),
        *((name, _ADDRESS) for name in ("tokens", "offsets", "limits", "prefixes", "prefix_offsets")),
        *((name, _ADDRESS) for name in ("source_positions", "target_positions")),
        *((name, ctypes.c_int32) for name in ("source_reach", "target_reach", "beam", "n_best")),
        ("length_penalty", ctypes.c_double),
        *((name, ctypes.c_int32) for name in ("workers", "rows")),
        *((name, _ADDRESS) for name in ("counts", "lengths", "log_probabilities", "found", "found_offsets")),
    ]


@final
class NativeEngine:
    """Searches of one model. Safe to use from several threads.

    `workers`: how many cores; 0: all. `shortlist`: what translations may be made of; without one, the whole vocabulary.
    """

    def __init__(
        self, model: Seq2Seq, precision: Precision | None = None, workers: int = 0, shortlist: Shortlist | None = None
    ) -> None:
        if reason := self.why_not(model):
            raise UserError(f"the native engine cannot run this: {reason}; take the torch engine")
        self._library = _library()
        self.precision: Precision = precision or ("int8" if self._library.sightline_engine_has_byte_products() else "fp32")
        self.workers = workers or cores()
        self.shortlist = shortlist
        shape, weights = shape_of(model, self.precision == "int8"), weights_of(model)
        if shortlist is not None:
            shortlist.check(shape.source_vocabulary, shape.target_vocabulary)
        addresses = (ctypes.c_void_p * len(weights))(*(weight.data_ptr() for weight in weights))
        message = ctypes.create_string_buffer(MESSAGE)
        self._engine = self._library.sightline_engine_make(
            ctypes.byref(shape), addresses, len(weights), *_listed(shortlist), message, MESSAGE
        )
        if not self._engine:
            raise MemoryError(message.value.decode())
        weakref.finalize(self, self._library.sightline_engine_free, self._engine)
        self._vocabularies = shape.source_vocabulary, shape.target_vocabulary
        self._positions = [_Positions(stack.position, shape.dim) for stack in stacks(model)]

    @staticmethod
    def why_not(model: nn.Module) -> str:
        """Why this engine cannot run such a model here; nothing if it can."""
        return unfit(model) or why_not("engine")

    @property
    def recipe(self) -> str:
        """Its numbers and how many cores it uses."""
        listed = "" if self.shortlist is None else ", shortlist"
        return f"native {self.precision}{listed}, {self.workers} worker{'s' * (self.workers > 1)}"

    def can(self, options: SearchOptions) -> str:
        """All but what needs attention weights."""
        return "coverage_penalty needs the torch engine" if options.coverage_penalty else ""

    def search(
        self, sources: Sequence[Sequence[int]], options: SearchOptions, prefixes: Prefixes | None, longest: int
    ) -> list[list[Hypothesis]]:
        """Beam search of all sentences, the longest first."""
        if reason := self.can(options):
            raise UserError(f"the native engine cannot run this: {reason}")
        found = []
        for begin in range(0, len(sources), TOGETHER):
            part = slice(begin, begin + TOGETHER)
            found += self._searched(sources[part], options, None if prefixes is None else prefixes[part], longest)
        return found

    def _searched(
        self, sources: Sequence[Sequence[int]], options: SearchOptions, prefixes: Prefixes | None, longest: int
    ) -> list[list[Hypothesis]]:
        limits = np.array([options.limit(len(source), longest) for source in sources], np.int32)
        tokens, offsets = _joined([[*source, EOS] for source in sources])
        starts, start_offsets = _joined(prefixes if prefixes is not None else [()] * len(sources))
        for ids, vocabulary in zip((tokens, starts), self._vocabularies, strict=True):
            if len(ids) and not 0 <= ids.min() <= ids.max() < vocabulary:
                raise ValueError(f"a token is not one of the {vocabulary} that the model knows")
        rooms = np.maximum(limits, np.diff(start_offsets)) * options.n_best
        answer = _Answer(rooms, options.n_best)
        source_positions = self._positions[0].at_least(int(np.diff(offsets).max()))
        target_positions = self._positions[1].at_least(int(rooms.max()) // options.n_best + 1)
        job = _Job(
            len(sources),
            *(array.ctypes.data for array in (tokens, offsets, limits, starts, start_offsets)),
            *(table if table is None else table.ctypes.data for table in (source_positions, target_positions)),
            *(0 if table is None else len(table) for table in (source_positions, target_positions)),
            options.beam,
            options.n_best,
            options.length_penalty,
            min(self.workers, len(sources)),
            ROWS,
            *answer.addresses,
        )
        message = ctypes.create_string_buffer(MESSAGE)
        self._library.sightline_engine_search(self._engine, ctypes.byref(job), message, MESSAGE)
        if message.value:
            raise UserError(message.value.decode())
        return answer.hypotheses(options)


class _Positions:
    """What is added at each position, as far as anybody has asked."""

    def __init__(self, position: Position, dim: int) -> None:
        self._position, self._dim = position, dim
        self._table = self._made(FIRST_REACH)

    def at_least(self, length: int) -> NDArray[np.float32] | None:
        """The table, with so many rows if there are as many."""
        table = self._table
        if table is not None and len(table) < length:
            self._table = table = self._made(length)
        return table

    def _made(self, length: int) -> NDArray[np.float32] | None:
        table = position_table(self._position, self._dim, length)
        return None if table is None else table.numpy()


class _Answer:
    """Where the engine writes what it found."""

    def __init__(self, rooms: NDArray[np.int64], n_best: int) -> None:
        self.offsets = np.concatenate(([0], np.cumsum(rooms, dtype=np.int64)))
        self.counts = np.zeros(len(rooms), np.int32)
        self.lengths, self.log_probabilities = (
            np.zeros((len(rooms), n_best), np.int32),
            np.zeros((len(rooms), n_best), np.float32),
        )
        self.tokens = np.zeros(max(1, int(self.offsets[-1])), np.int32)
        self._rooms, self._n_best = rooms // n_best, n_best

    @property
    def addresses(self) -> list[int]:
        """In the order in which a job has them."""
        arrays: list[NDArray[Any]] = [self.counts, self.lengths, self.log_probabilities, self.tokens, self.offsets]
        return [array.ctypes.data for array in arrays]

    def hypotheses(self, options: SearchOptions) -> list[list[Hypothesis]]:
        """Of each sentence, best first."""
        lengths, totals = self.lengths.tolist(), self.log_probabilities.tolist()
        found = []
        for row, (count, begin, room) in enumerate(
            zip(self.counts.tolist(), self.offsets.tolist(), self._rooms.tolist(), strict=False)
        ):
            own = []
            for place in range(count):
                first, length, total = begin + place * room, lengths[row][place], totals[row][place]
                score = normalised(total, length + 1, options.length_penalty)
                own.append(Hypothesis(tuple(self.tokens[first : first + length].tolist()), total, score))
            found.append(own)
        return found


def _joined(rows: Sequence[Sequence[int]]) -> tuple[Int32s, NDArray[np.int64]]:
    """All rows end to end, and where each begins and the last one ends."""
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return np.fromiter((token for row in rows for token in row), np.int32, int(offsets[-1])), offsets


def _listed(shortlist: Shortlist | None) -> tuple[int | None, int, int | None, int]:
    """A shortlist's tables and their sizes, as the engine takes them."""
    if shortlist is None:
        return None, 0, None, 0
    of_each, always = shortlist.of_each, shortlist.always
    return of_each.ctypes.data, of_each.shape[1], always.ctypes.data, len(always)


def _library() -> ctypes.CDLL:
    """The compiled engine, with the types of its functions."""
    found = library("engine")
    assert found is not None  # `why_not` has been asked
    found.sightline_engine_make.restype = _ADDRESS
    found.sightline_engine_make.argtypes = [
        *(ctypes.POINTER(Shape), _ADDRESS, ctypes.c_int),
        *(_ADDRESS, ctypes.c_int, _ADDRESS, ctypes.c_int),
        *(ctypes.c_char_p, ctypes.c_int),
    ]
    found.sightline_engine_free.argtypes = [_ADDRESS]
    found.sightline_engine_free.restype = None
    found.sightline_engine_search.argtypes = [_ADDRESS, ctypes.POINTER(_Job), ctypes.c_char_p, ctypes.c_int]
    found.sightline_engine_search.restype = None
    return found
