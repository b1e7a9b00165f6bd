"""The word tables as objects, and who goes with whom: read once, when the package is imported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sightline.data.grammar import words_adjectives, words_functions, words_names, words_nouns, words_verbs
from sightline.data.grammar.compositions import Pools, pools
from sightline.data.grammar.conjugate import FrenchForms, agree, conjugate
from sightline.data.grammar.inflect import EnglishForms, inflect, plural
from sightline.data.grammar.wording import Piece, Wording, read_wording
from sightline.data.grammar.words_irregular import WITH_ETRE

_THINGS = frozenset({"object", "clothing", "furniture", "vehicle", "instrument", "part", "plant", "food", "place", "idea"})
_PREPOSITIONS = ("à", "de", "dans")


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """French in its four forms (and before a vowel), English, and whether it stands before its noun in French."""

    french: tuple[str, str, str, str]  # masculine, feminine; both in the plural
    liaison: str  # masculine before a vowel
    english: str
    before: bool
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun or a name, with the adjectives it goes with."""

    lemma: str
    singular: Wording
    plural: Wording
    feminine: bool
    kinds: frozenset[str]
    adjectives: Pools[Adjective]

    @property
    def human(self) -> bool:
        return "human" in self.kinds


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb with its set words (`avoir faim`), its preposition, and the nouns that can be its object."""

    lemma: str
    french: FrenchForms
    tail: tuple[Piece, ...]  # French words after the verb that belong to it
    preposition: Piece | None  # before the object
    head: Piece  # how the verb itself links
    english: EnglishForms
    before: tuple[Piece, ...]  # English words; the first is inflected; then comes the object
    after: tuple[Piece, ...]
    etre: bool
    reflexive: bool
    state: bool
    subjects: frozenset[str]
    takes: frozenset[str]  # the kinds of its objects
    objects: Pools[Noun]

    @property
    def takes_people(self) -> bool:
        """Whether an object can be human."""
        return bool(self.takes & {"human", "worker", "child"})

    @property
    def takes_people_alone(self) -> bool:
        """Whether an object cannot but be human."""
        return self.takes <= {"human", "worker", "child"}


@dataclass(frozen=True, slots=True, eq=False)
class Determiner:
    """French masculine, feminine, and both in the plural, with English each time; None where there is no such form."""

    name: str
    forms: tuple[Wording | None, ...]


def _rows(table: str) -> Iterable[list[str]]:
    for line in filter(None, table.splitlines()):
        yield [part.strip() for part in line.split(";")]


def _adjective(french: str, english: str, place: str, kinds: str) -> Adjective:
    masculine, _, feminine = french.partition(" ")
    return Adjective(
        agree(masculine, feminine),
        words_adjectives.LIAISON.get(masculine, masculine),
        english,
        place == "before",
        frozenset(kinds.split()),
    )


def _noun(french: str, english: str, kinds: frozenset[str]) -> Noun:
    lemma, _, gender = french.rpartition(" ")
    plural_french = words_nouns.FRENCH_PLURALS.get(lemma) or _french_plural(lemma)
    groups = kinds | {"thing"} if kinds & _THINGS and "mass" not in kinds else kinds
    fitting = [adjective for adjective in ADJECTIVES if adjective.kinds & groups]
    return Noun(
        lemma,
        read_wording(lemma, english),
        read_wording(plural_french, plural(english)),
        gender == "f",
        kinds,
        pools(fitting, lambda adjective: f"{adjective.french[0]} {lemma}"),  # pairs are spelled: adjective or verb, noun
    )


def _collective(french: str, english: str) -> Noun:
    """les pauvres / the poor: always in the plural, which English does not show."""
    kinds, wording = frozenset({"human", "collective"}), read_wording(french, english)
    fitting = [adjective for adjective in ADJECTIVES if adjective.kinds & kinds and adjective.french[2] != french]
    return Noun(french, wording, wording, False, kinds, pools(fitting, lambda adjective: f"{adjective.french[0]} {french}"))


def _french_plural(lemma: str) -> str:
    if lemma.endswith(("s", "x", "z")):
        return lemma
    if lemma.endswith("al"):
        return lemma.removesuffix("l") + "ux"
    return lemma + ("x" if lemma.endswith(("eau", "eu")) else "s")


def _verb(french: str, english: str, subjects: str, objects: str = "") -> Verb:
    state = french.startswith("*")
    text = french.removeprefix("*")
    reflexive = text.startswith(("se ", "s'"))
    wording = read_wording(text.removeprefix("se ").removeprefix("s'"), english)
    head, *tail = wording.french
    preposition = tail.pop() if tail and tail[-1].form in _PREPOSITIONS else None
    gap = wording.gap if wording.gap >= 0 else len(wording.english)
    kinds = frozenset(objects.split())
    fitting = [noun for noun in NOUNS + COLLECTIVES if noun.kinds & kinds]
    return Verb(
        text,
        conjugate(head.form),
        tuple(tail),
        preposition,
        head,
        inflect(wording.english[0].form),
        wording.english[:gap],
        wording.english[gap:],
        reflexive or head.form in WITH_ETRE,
        reflexive,
        state,
        frozenset(subjects.split()),
        kinds,
        pools(fitting, lambda noun: f"{head.form} {noun.lemma}"),
    )


def _verbs(table: str) -> tuple[Verb, ...]:
    return tuple(_verb(*row) for row in _rows(table))


def _verbs_taking(noun: Noun) -> Pools[Verb]:
    fitting = [verb for verb in TRANSITIVE if verb.takes & noun.kinds and "human" in verb.subjects and not verb.preposition]
    return pools(fitting, lambda verb: f"{verb.head.form} {noun.lemma}")


def _name(name: str, feminine: bool, title: str = "", english_title: str = "") -> Noun:
    wording = read_wording(f"{title} {name}".strip(), f"{english_title} {name}".strip())
    return Noun(name, wording, wording, feminine, frozenset({"human", "name"}), Pools())


def _determiners(table: str) -> dict[str, Determiner]:
    read = {}
    for line in table.strip().splitlines():
        name, _, rest = line.partition(": ")
        french, english = ([word.strip() for word in part.split(",")] for part in rest.split(";"))
        plurals = french[2].split(" | ")
        forms = (french[0], french[1], plurals[0], plurals[-1])
        read[name] = Determiner(name, _four(forms, (english[0], english[0], english[1], english[1])))
    return read


def _four(french: tuple[str, ...], english: tuple[str, ...]) -> tuple[Wording | None, ...]:
    pairs = zip(french, english, strict=True)
    return tuple(None if left == "-" or right == "-" else read_wording(left, right) for left, right in pairs)


ADJECTIVES = tuple(_adjective(*row) for row in _rows(words_adjectives.ADJECTIVES))
NOUNS = tuple(_noun(french, english, frozenset(kinds.split())) for french, english, kinds in _rows(words_nouns.NOUNS))
COLLECTIVES = tuple(_collective(*row) for row in _rows(words_nouns.COLLECTIVES))
INTRANSITIVE = _verbs(words_verbs.INTRANSITIVE)
TRANSITIVE = _verbs(words_verbs.TRANSITIVE)
DITRANSITIVE = _verbs(words_verbs.DITRANSITIVE)
SAYING = _verbs(words_verbs.SAYING)
HELPING = _verbs(words_verbs.HELPING)
NAMES = (
    *(_name(name, False) for name in words_names.MEN.split()),
    *(_name(name, True) for name in words_names.WOMEN.split()),
    *(_name(name, False, "monsieur", "mr.") for name in words_names.SURNAMES.split()),
    *(_name(name, True, "madame", "mrs.") for name in words_names.SURNAMES.split()),
)
DETERMINERS = _determiners(words_functions.DETERMINERS) | _determiners(words_functions.POSSESSIVES)
# A trade is said of somebody without an article: il est médecin / he is a doctor.
BARE = Determiner("bare", (*(read_wording("", "a") for _ in "mf"), *(read_wording("", "") for _ in "mf")))
ADVERBS = tuple(read_wording(*row) for row in _rows(words_functions.ADVERBS))
MANNERS = tuple(read_wording(*row) for row in _rows(words_functions.MANNERS))
PREPOSITIONS = tuple((read_wording(french, english), kind) for french, english, kind in _rows(words_functions.PREPOSITIONS))
TIMES = {
    letter: tuple(read_wording(french, english) for french, english, tenses in _rows(words_functions.TIMES) if letter in tenses)
    for letter in "picf"
}
LINKERS = {wording.english[0].form: wording for wording in (read_wording(*row) for row in _rows(words_functions.LINKERS))}
QUESTIONS = tuple(read_wording(*row) for row in _rows(words_functions.QUESTIONS))
BE, HAVE = _verb("être", "be", "human"), _verb("avoir", "have", "human")
# What somebody can do to a noun: the verbs whose direct object it can be.
VERBS_TAKING = {noun: _verbs_taking(noun) for noun in NOUNS + COLLECTIVES}
# What somebody can do to somebody, with a direct object or with à.
VERBS_TO_PEOPLE = tuple(
    verb for verb in TRANSITIVE if verb.takes_people and not (verb.preposition and verb.preposition.form != "à")
)
DEGREES = tuple(read_wording(*row) for row in _rows(words_functions.DEGREES))
AGE = read_wording(*words_functions.AGE.split(";"))
AGED = _verb("*avoir", "be", "human animal")
