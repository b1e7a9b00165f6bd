"""What a sentence says, before it is said in French or in English.

Every node has a `unit`, a number of its own. Both writers note for every word which unit it says, and words of the two
languages that say the same unit are aligned. A node has room for STEP units: its own words (groups 0 to 7 of a wording),
then the little words that come with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sightline.data.grammar.conjugate import Tense
from sightline.data.grammar.lexicon import Adjective, Determiner, Noun, Verb
from sightline.data.grammar.wording import Wording

STEP = 16
DETERMINER = 8  # of a noun; its groups may reach DETERMINER + 3
NUMBER = 12
DEGREE = 4  # of an adjective
CASE = 13  # the preposition before a noun (its groups may reach CASE + 2), or the 's of an owner
NEGATION = 8  # of a clause
COPULA = 9
LINKER = 10  # que, qui, and, because
QUESTION = 12


@dataclass(slots=True)
class Pronoun:
    """I, you, he …; `antecedent` is the unit of the noun it stands for, 0 where the sentence has none."""

    unit: int
    person: int
    plural: bool
    feminine: bool
    human: bool = True
    antecedent: int = 0
    asking: bool = False  # qui, who
    noun: Noun | None = None  # its antecedent's


@dataclass(slots=True)
class Described:
    """An adjective in its place."""

    unit: int
    adjective: Adjective
    degree: Wording | None = None  # très


@dataclass(slots=True)
class Nominal:
    """A noun with all that belongs to it. In number and gender it can be asked like a pronoun."""

    unit: int
    noun: Noun
    plural: bool
    feminine: bool
    human: bool
    determiner: Determiner | None = None
    adjective: Described | None = None
    number: str = ""
    possessor: Nominal | Pronoun | None = None  # whose: mon, son, leur
    owner: Nominal | None = None  # le livre de l' homme
    relative: Clause | None = None
    joined: Nominal | None = None  # paul et marie; `plural` and `feminine` then are those of both
    person: int = 3
    antecedent: int = 0


Person = Nominal | Pronoun


@dataclass(slots=True)
class Adverb:
    """A set phrase of time or manner; `number` is written for its `#`."""

    unit: int
    wording: Wording
    number: str = ""

    @property
    def head(self) -> int:
        """The unit of its chief word."""
        return self.unit


@dataclass(slots=True)
class Place:
    """A preposition with its noun; it shares the unit of the noun, its words counting from CASE."""

    unit: int
    preposition: Wording
    nominal: Nominal


Adverbial = Adverb | Place


@dataclass(slots=True)
class Clause:
    """Who does what, when, where, how. `verb` None: the subject is said to be `predicate`."""

    unit: int
    subject: Person
    tense: Tense
    relation: str  # to the clause or noun it belongs to
    verb: Verb | None = None
    predicate: Described | Nominal | Place | None = None
    negation: str = ""  # pas, jamais, plus
    object: Person | None = None
    dative: Person | None = None
    adverb: Adverb | None = None  # souvent
    opening: Adverb | Clause | None = None
    ending: tuple[Adverbial, ...] = ()
    inner: Clause | None = None  # an infinitive, or what is said
    following: Clause | None = None
    linker: Wording | None = None  # stands before this clause
    gap: str = ""  # in a relative clause: whether the noun it describes is its "subject" or its "object"
    question: Wording | None = None  # pourquoi; WHETHER where nothing is asked for but yes or no
    end: str = ""  # . or ?

    @property
    def head(self) -> int:
        """The unit of its chief word."""
        return self.predicate.unit if self.predicate else self.unit


WHETHER = Wording((), ())
