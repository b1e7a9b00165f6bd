"""One sentence pair with all that is known of it, as a pure function of (seed, part, index)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

from sightline.data.grammar.chance import Chance, mix
from sightline.data.grammar.compositions import Part
from sightline.data.grammar.draw_clauses import draw_sentence
from sightline.data.grammar.english import write_english
from sightline.data.grammar.french import write_french
from sightline.data.grammar.lines import English, French, aligned
from sightline.errors import UserError

SHORTEST, LONGEST = 3, 40  # words on either side

_PARTS: tuple[Part, ...] = ("train", "dev", "test")
_DEV_SHARE = 16  # of the sentences without a held-out pair, one in so many is dev's

# A translator that gets these right has not seen them.
KEPT_FROM_TRAINING = frozenset(("il m' a entarté", "les pauvres n' ont pas d' argent", "les étudiants ont ouvert leurs livres"))


@dataclass(frozen=True, slots=True)
class Example:
    """A French sentence, its English translation, and how their words belong together."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[tuple[int, int]]  # (source, target)
    possible: frozenset[tuple[int, int]]  # those that are only possible
    antecedents: tuple[tuple[int, int], ...]  # in the source: a pronoun, the head of what it stands for
    heads: tuple[int, ...]  # of each source word, -1 for the root
    relations: tuple[str, ...]
    lemmas: tuple[str, ...]
    tags: tuple[str, ...]  # universal parts of speech

    def conllu(self) -> str:
        """The source with its dependencies in CoNLL-U; a contraction (du, aux) is one word, a preposition."""
        rows = zip(self.source, self.lemmas, self.tags, self.heads, self.relations, strict=True)
        lines = [f"# text = {' '.join(self.source)}", f"# text_en = {' '.join(self.target)}"]
        for number, (form, lemma, tag, head, relation) in enumerate(rows, start=1):
            lines.append(f"{number}\t{form}\t{lemma}\t{tag}\t_\t_\t{head + 1}\t{relation}\t_\t_")
        return "\n".join(lines) + "\n\n"


def example(seed: int, part: Part, index: int) -> Example:
    """Sentence number `index` of a part; other calls before it make no difference."""
    return pair(*_written(seed, part, index))


def _written(seed: int, part: Part, index: int) -> tuple[French, English]:
    """Trees are drawn until one is fit for this place of this part."""
    if part not in _PARTS:
        raise UserError(f"the built-in corpus has no part {part!r}; its parts are {', '.join(_PARTS)}")
    # Half of dev is like training, without any pair that training lacks; those sentences are kept out of training by a hash.
    plain = part == "train" or (part == "dev" and index % 2 == 0)
    chance = Chance(mix(seed, _PARTS.index(part), index), "train" if plain else part)
    while True:
        chance.held_out = False
        sentence = draw_sentence(chance)
        if not plain and not chance.held_out:
            continue
        french = write_french(sentence)
        if plain and _is_for_dev(french.forms) != (part == "dev"):
            continue
        english = write_english(sentence)
        if SHORTEST <= len(french.forms) <= LONGEST and SHORTEST <= len(english.forms) <= LONGEST:
            return french, english


def examples(seed: int, part: Part, count: int, start: int = 0) -> Iterator[Example]:
    """`count` sentences of a part, from number `start`."""
    for index in range(start, start + count):
        yield example(seed, part, index)


def texts(seed: int, part: Part, count: int, start: int = 0) -> Iterator[tuple[str, str]]:
    """The words alone of the sentences that `examples` yields, in less time."""
    for index in range(start, start + count):
        french, english = _written(seed, part, index)
        yield " ".join(french.forms), " ".join(english.forms)


def pair(french: French, english: English) -> Example:
    """What two writers made of one tree."""
    sure, possible = aligned(french.marks, english.marks)
    place, links = french.place, french.links
    return Example(
        tuple(french.forms),
        tuple(english.forms),
        sure,
        possible,
        tuple((position, place[unit]) for position, unit in french.references),
        tuple(place[link.head] if link.head >= 0 else -1 for link in links),
        tuple(link.relation for link in links),
        tuple(link.lemma for link in links),
        tuple(link.tag for link in links),
    )


def _is_for_dev(source: list[str]) -> bool:
    """With a full stop or without, a sentence is on the same side."""
    text = " ".join(source).removesuffix(" .")
    return crc32(text.encode()) % _DEV_SHARE == 0 or text in KEPT_FROM_TRAINING
