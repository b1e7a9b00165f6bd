"""What a model looked at in one sentence pair, as pieces, words and arrays that outlive the model.

The decoder reads BOS, y₁ … yₙ and predicts y₁ … yₙ, EOS. So a target piece has two rows, and which one is read changes
the alignment error by more than most models differ:

while_writing   row t-1 of yₜ: the step that predicts it
after_reading   row t of yₜ: the step that has it as its input
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sightline.config import from_dict
from sightline.errors import UserError
from sightline.look.replay import Ids, Maps, Pair, kind_of, replay_many, size_of
from sightline.models.seq2seq import Seq2Seq
from sightline.text.pipeline import SPECIAL_PIECES
from sightline.text.tokenizer import BOS, EOS, Tokenizer

Reading: TypeAlias = Literal["while_writing", "after_reading"]
Level: TypeAlias = Literal["pieces", "words"]
READINGS: tuple[Reading, ...] = get_args(Reading)
Weights: TypeAlias = NDArray[np.float32]

FORMAT = 1
BEGIN, END = SPECIAL_PIECES[BOS], SPECIAL_PIECES[EOS]
NO_CROSS = (
    "this model looks at no source: its decoder reads it through one vector, so there is no alignment to show; "
    "use a model whose decoder has attention"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One side, without BOS and EOS."""

    pieces: tuple[str, ...]
    words: tuple[str, ...]  # between white space
    word_of: tuple[int, ...]  # the number of each piece's word

    @staticmethod
    def of(ids: Ids, tokenizer: Tokenizer) -> Sentence:
        """These ids as the tokenizer spells them."""
        numbers = tokenizer.words(ids)
        groups: list[list[int]] = [[] for _ in range(max(numbers, default=-1) + 1)]
        for i, number in zip(ids, numbers, strict=True):
            if number >= 0:
                groups[number].append(int(i))
        words = tuple(tokenizer.decode(group).strip() for group in groups)
        return Sentence(tuple(tokenizer.pieces(ids)), words, tuple(numbers))

    def __post_init__(self) -> None:
        if len(self.pieces) != len(self.word_of):
            raise ValueError(f"{len(self.pieces)} pieces have {len(self.word_of)} word numbers; they need one each")
        if not all(-1 <= number < len(self.words) for number in self.word_of):
            raise ValueError(f"word_of must lie between -1 and {len(self.words) - 1}, the last of {len(self.words)} words")

    def groups(self) -> NDArray[np.float32]:
        """(words, pieces): 1 where the piece belongs to the word."""
        numbers = np.array(self.word_of, dtype=np.int64)
        return np.equal(np.arange(len(self.words))[:, None], numbers[None, :]).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """A sentence pair and every attention in it."""

    source: Sentence
    target: Sentence
    maps: Mapping[str, Weights]  # (heads, looking, looked at), as `Maps` has them
    log_probs: tuple[float, ...] | None = None  # of each target piece and of EOS

    @staticmethod
    def of(
        maps: Maps, source_tokenizer: Tokenizer, target_tokenizer: Tokenizer, log_probs: Sequence[float] | None = None
    ) -> Explanation:
        """A replay with its words."""
        source, target = Sentence.of(maps.source_ids, source_tokenizer), Sentence.of(maps.target_ids, target_tokenizer)
        return Explanation(source, target, maps.weights, None if log_probs is None else tuple(map(float, log_probs)))

    def __post_init__(self) -> None:
        if self.log_probs is not None and len(self.log_probs) != len(self.target.pieces) + 1:
            raise ValueError(f"{len(self.log_probs)} log_probs for {len(self.target.pieces)} target pieces and EOS")
        for name, weights in self.maps.items():
            size = size_of(kind_of(name), len(self.source.pieces), len(self.target.pieces))
            if weights.ndim != 3 or not weights.shape[0] or weights.shape[1:] != size:
                raise ValueError(f"the map {name} has shape {weights.shape}; (heads, {size[0]}, {size[1]}) was expected")

    @property
    def crosses(self) -> tuple[str, ...]:
        """The maps from target to source, first layer first; none where the model has no such attention."""
        return tuple(name for name in self.maps if kind_of(name) == "cross")

    def cross(self, layer: int = -1) -> str:
        """The name of one layer's map from target to source; -1 is the last."""
        if not self.crosses:
            raise UserError(NO_CROSS)
        if not -len(self.crosses) <= layer < len(self.crosses):
            raise UserError(f"there is no layer {layer}; the decoder's layers are 0 to {len(self.crosses) - 1}")
        return self.crosses[layer]

    def weights(self, name: str, head: int | None = None, reading: Reading = "while_writing", level: Level = "words") -> Weights:
        """(looking, looked at) of one head, or of the mean of all; what rows and columns stand for is in `labels`."""
        heads = self.heads(name, reading, level)
        if head is None:
            mean: Weights = heads.mean(0)
            return mean
        if not 0 <= head < len(heads):
            raise UserError(f"{name} has no head {head}; its heads are 0 to {len(heads) - 1}, and none for their mean")
        one: Weights = heads[head]
        return one

    def heads(self, name: str, reading: Reading = "while_writing", level: Level = "words") -> Weights:
        """(heads, looking, looked at): rows are the target's pieces or words, or the source's where the encoder looks.

        A word is looked at with the sum over its pieces and looks with their mean. EOS of the source and BOS of the
        target keep a column of their own: weight often rests there.
        """
        weights, kind = self._map(name), kind_of(name)
        looking, looked_at = (self.source if kind == "encoder" else self.target), self._columns(name)
        after = kind != "encoder" and reading == "after_reading"
        rows = weights[:, 1:] if after else weights[:, :-1]  # the row left over is in `maps`
        if level == "pieces":
            return rows
        members = looking.groups()
        mean = members / np.maximum(members.sum(1, keepdims=True), 1)
        total = _with_special(looked_at.groups(), first=kind == "decoder")
        merged: Weights = mean @ rows @ total.T
        return merged

    def labels(self, name: str, level: Level = "words") -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the rows and the columns of `weights` stand for."""
        self._map(name)
        kind = kind_of(name)
        rows, columns = (
            side.words if level == "words" else side.pieces
            for side in (self.source if kind == "encoder" else self.target, self._columns(name))
        )
        return rows, (BEGIN, *columns) if kind == "decoder" else (*columns, END)

    def to_json(self) -> str:
        """All of it as text; the shortest numbers that give the same fp32 back."""
        record = {
            "format": FORMAT,
            "source": asdict(self.source),
            "target": asdict(self.target),
            "log_probs": self.log_probs,
            "maps": {name: weights.astype(str).astype(float).tolist() for name, weights in self.maps.items()},
        }
        return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @staticmethod
    def from_json(text: str, origin: str = "an explanation") -> Explanation:
        """What `to_json` wrote; `origin` names the text where it turns out to be something else."""
        try:
            record = json.loads(text)
        except ValueError as error:
            raise UserError(f"{origin}: must be JSON, and this is not ({error}); write it again with to_json") from error
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise UserError(f"{origin}: format {FORMAT} expected; this is from another program or another version")
        maps = _read_maps(record.pop("maps", None), origin)
        words = from_dict(_Words, record, origin=origin)
        try:
            return Explanation(words.source, words.target, maps, words.log_probs)
        except ValueError as error:
            raise UserError(f"{origin}: {error}; write it again with to_json") from error

    def _columns(self, name: str) -> Sentence:
        return self.target if kind_of(name) == "decoder" else self.source

    def _map(self, name: str) -> Weights:
        if name not in self.maps:
            if kind_of(name) == "cross" and not self.crosses:
                raise UserError(NO_CROSS)
            raise UserError(f"there is no map {name!r}; the maps are {', '.join(self.maps) or 'none'}")
        return self.maps[name]


def _with_special(groups: NDArray[np.float32], first: bool) -> NDArray[np.float32]:
    """A group of its own for BOS in front of the pieces, or for EOS behind them."""
    words, pieces = groups.shape
    whole = np.zeros((words + 1, pieces + 1), dtype=np.float32)
    shift = int(first)
    whole[shift : words + shift, shift : pieces + shift] = groups
    special = 0 if first else -1
    whole[special, special] = 1
    return whole


def explain_many(
    model: Seq2Seq, tokenizers: tuple[Tokenizer, Tokenizer], texts: Iterable[tuple[str, str]], batch_tokens: int = 2048
) -> Iterator[Explanation]:
    """What the model looks at in each of these pairs (source, target), in their order, white space around them left out."""
    source, target = tokenizers
    pairs = ((source.encode(one.strip()), target.encode(other.strip())) for one, other in texts)
    return explain_pieces(model, tokenizers, pairs, batch_tokens)


def explain_pieces(
    model: Seq2Seq, tokenizers: tuple[Tokenizer, Tokenizer], pairs: Iterable[Pair], batch_tokens: int = 2048
) -> Iterator[Explanation]:
    """The same of pieces: exactly those that a search read and wrote, however else their text might be cut."""
    for maps in replay_many(model, pairs, batch_tokens):
        yield Explanation.of(maps, *tokenizers)


@dataclass(frozen=True, slots=True)
class _Words:
    """An explanation's JSON without its maps, which are too many numbers to check one by one."""

    format: int
    source: Sentence
    target: Sentence
    log_probs: tuple[float, ...] | None


def _read_maps(value: object, origin: str) -> dict[str, Weights]:
    if not isinstance(value, dict):
        raise UserError(f"{origin}: maps must be an object of arrays (heads, looking, looked at); write it again with to_json")
    maps = {}
    for name, rows in value.items():
        try:
            maps[name] = np.asarray(rows, dtype=np.float32)
        except (ValueError, TypeError) as error:
            raise UserError(
                f"{origin}: maps.{name} must be an array of numbers ({error}); write it again with to_json"
            ) from error
        if not np.isfinite(maps[name]).all():
            raise UserError(f"{origin}: maps.{name} has a number that is not finite; replay the pair again")
    return maps
