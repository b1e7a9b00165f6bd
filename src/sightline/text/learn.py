"""Learning a tokenizer from text. The same texts give the same tokenizer, byte for byte, on any number of threads."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers import models, trainers

from sightline.errors import UserError
from sightline.text.pipeline import BYTE_NAMES, FIRST_PIECE, KINDS, SPACE, SPECIAL_NAMES, UNK, Kind, LibraryModel, build
from sightline.text.tokenizer import Tokenizer
from sightline.text.unigram import learn_scores

FEWEST_CHARACTERS = 1000  # so many characters may become pieces at any size; rarer ones are written as bytes
LONGEST_PIECE = 16
CANDIDATES = 3  # the unigram model chooses among this many times the pieces it may keep


def learn(texts: Iterable[str], kind: Kind = "bpe", size: int = 8000, min_frequency: int = 2) -> Tokenizer:
    """A tokenizer of at most `size` pieces; the texts are held in memory, so hand over a sample of a very large corpus.

    A small corpus gives fewer pieces, never an error.
    """
    if kind not in KINDS:
        raise UserError(f"there is no tokenizer of kind {kind!r}; the kinds are {', '.join(KINDS)}")
    smallest = 1 + (len(SPECIAL_NAMES) if kind == "words" else FIRST_PIECE)
    if size < smallest:
        raise UserError(
            f"a tokenizer of kind {kind} needs a size of at least {smallest}, not {size}: "
            f"{smallest - 1} places are taken by the special symbols{'' if kind == 'words' else ' and the 256 bytes'}"
        )
    if min_frequency < 1:
        raise UserError(f"min_frequency must be at least 1, not {min_frequency}")
    return Tokenizer(kind, build(kind, _LEARNERS[kind](list(texts), size, min_frequency)))


def _learn_bpe(texts: Sequence[str], size: int, min_frequency: int) -> models.BPE:
    pieces, merges = _train_bpe(texts, size - FIRST_PIECE, _alphabet_limit(size), min_frequency)
    return _bpe(pieces, merges)


def _learn_chars(texts: Sequence[str], size: int, min_frequency: int) -> models.BPE:
    counts = _count_characters(texts)
    often = [character for character, count in counts.items() if count >= min_frequency and character != SPACE]
    often.sort(key=lambda character: (-counts[character], character))
    return _bpe([SPACE, *often][: size - FIRST_PIECE], [])


def _learn_words(texts: Sequence[str], size: int, min_frequency: int) -> models.WordLevel:
    library = build("words", models.WordLevel(vocab={}, unk_token=SPECIAL_NAMES[UNK]))
    trainer = trainers.WordLevelTrainer(
        vocab_size=size, min_frequency=min_frequency, special_tokens=list(SPECIAL_NAMES), show_progress=False
    )
    library.train_from_iterator(texts, trainer)
    vocabulary: dict[str, int] = json.loads(library.to_str())["model"]["vocab"]
    return models.WordLevel(vocab=vocabulary, unk_token=SPECIAL_NAMES[UNK])


def _learn_unigram(texts: Sequence[str], size: int, min_frequency: int) -> models.Unigram:
    """Pieces chosen out of a larger BPE vocabulary.

    The library has a trainer for this, but it sums floating-point numbers in an order that differs between runs.
    """
    wanted = size - FIRST_PIECE
    limit = _alphabet_limit(size)
    candidates, merges = _train_bpe(texts, CANDIDATES * wanted, limit, min_frequency)
    library = build("unigram", _bpe(candidates, merges))
    words = _count_words(library, texts)
    single = [piece for piece in candidates if len(piece) == 1]
    scores = learn_scores(words, single, [piece for piece in candidates if len(piece) > 1], wanted)
    reserved = [(name, 0.0) for name in (*SPECIAL_NAMES, *BYTE_NAMES)]  # found in no text, so their scores say nothing
    return models.Unigram([*reserved, *scores], unk_id=UNK, byte_fallback=True)


def _bpe(pieces: Sequence[str], merges: list[tuple[str, str]]) -> models.BPE:
    names = [*SPECIAL_NAMES, *BYTE_NAMES, *pieces]
    return models.BPE(vocab={name: i for i, name in enumerate(names)}, merges=merges, byte_fallback=True)


def _train_bpe(texts: Sequence[str], size: int, limit: int, min_frequency: int) -> tuple[list[str], list[tuple[str, str]]]:
    """At most `size` pieces, single characters first, and the merges that make the others."""
    library = build("bpe", models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=min_frequency,
        limit_alphabet=_alphabet_without_ties(texts, limit),
        initial_alphabet=[SPACE],
        max_token_length=LONGEST_PIECE,
        show_progress=False,
    )
    library.train_from_iterator(texts, trainer)
    model = json.loads(library.to_str())["model"]
    vocabulary: dict[str, int] = model["vocab"]
    return sorted(vocabulary, key=vocabulary.__getitem__), [(left, right) for left, right in model["merges"]]


def _alphabet_limit(size: int) -> int:
    """A quarter of the pieces may be characters (Chinese needs that), a thousand in any case if there is room."""
    return min(max(FEWEST_CHARACTERS, size // 4), size - FIRST_PIECE)


def _alphabet_without_ties(texts: Sequence[str], limit: int) -> int:
    """The largest limit up to `limit` that separates two unlike counts: among equals the trainer's choice is random."""
    if len(set[str]().union(*texts)) + 4 <= limit:  # the four that the normalizer may add
        return limit
    counts = sorted(_count_characters(texts).values(), reverse=True)
    while 0 < limit < len(counts) and counts[limit - 1] == counts[limit]:
        limit -= 1
    return max(limit, 1)


def _count_characters(texts: Sequence[str]) -> Counter[str]:
    """How often each character stands in the normalised texts; the space is always among them, and first."""
    normalizer = build("chars", models.BPE()).normalizer
    assert normalizer is not None
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(normalizer.normalize_str(text))
    counts[SPACE] = max(1, sum(counts.values()))
    return counts


def _count_words(library: LibraryTokenizer, texts: Sequence[str]) -> Counter[str]:
    normalizer, pre_tokenizer = library.normalizer, library.pre_tokenizer
    assert normalizer is not None
    assert pre_tokenizer is not None
    words: Counter[str] = Counter()
    for text in texts:
        words.update(word for word, _ in pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(text)))
    return words


_LEARNERS: Mapping[Kind, Callable[[Sequence[str], int, int], LibraryModel]] = MappingProxyType(
    {"bpe": _learn_bpe, "unigram": _learn_unigram, "words": _learn_words, "chars": _learn_chars}
)
