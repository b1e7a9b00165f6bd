"""Drawing nouns and pronouns: which noun, one or many, with which determiner, adjective, owner."""

from __future__ import annotations

from sightline.data.grammar.chance import Chance
from sightline.data.grammar.lexicon import (
    AGE,
    BARE,
    COLLECTIVES,
    DEGREES,
    DETERMINERS,
    NAMES,
    NOUNS,
    PREPOSITIONS,
    TIMES,
    Adjective,
    Noun,
    Verb,
)
from sightline.data.grammar.tree import Adverb, Described, Nominal, Person, Place, Pronoun


def of_kind(*kinds: str) -> tuple[Noun, ...]:
    """All nouns of any of these kinds."""
    wanted = set(kinds)
    return tuple(noun for noun in NOUNS if wanted & noun.kinds)


HUMANS, ANIMALS = of_kind("human"), of_kind("animal")
_CLOSE = of_kind("kin") + tuple(noun for noun in HUMANS if noun.lemma in ("ami", "amie", "voisin", "voisine"))
_PARENTS = tuple(noun for noun in HUMANS if noun.lemma in ("père", "mère"))
_SCENERY = tuple(noun for noun in NOUNS if not noun.kinds & {"human", "animal", "mass"})
_MOVABLE = frozenset({"object", "clothing", "furniture", "vehicle", "instrument"})
_PLACES = tuple((preposition, of_kind(kind)) for preposition, kind in PREPOSITIONS)
_TRADES = {feminine: tuple(noun for noun in of_kind("worker") if noun.feminine == feminine) for feminine in (False, True)}
_UNOWNED = frozenset({"human", "animal", "place"})

_THE, _INDEFINITE, _THIS = DETERMINERS["the"], DETERMINERS["indefinite"], DETERMINERS["this"]
_SINGULAR = (_THE, _THE, _THE, _THE, _INDEFINITE, _INDEFINITE, _INDEFINITE, _THIS)
_SINGULAR_SUBJECT = (*_SINGULAR, DETERMINERS["every"])
_QUANTITIES = tuple(DETERMINERS[name] for name in ("several", "few", "many", "all"))
_PLURAL_DEFINITE = (_THE, _THE, _THE, _THE, _THIS, *_QUANTITIES)
_PLURAL = (*_PLURAL_DEFINITE, _INDEFINITE, _INDEFINITE, _INDEFINITE)
_PARTITIVE, _NOT_A, _NOT_ANY = DETERMINERS["partitive"], DETERMINERS["not a"], DETERMINERS["not any"]
_OWNERS = {(1, False): "my", (2, False): "your", (1, True): "our", (2, True): "your all", (3, True): "their"}


def draw_subject(chance: Chance, category: str, free_pronoun: bool = True) -> Person:
    """Somebody or something of a category: human, animal, thing."""
    if category != "human":
        return draw_nominal(chance, chance.pick(ANIMALS if category == "animal" else _SCENERY))
    lot = chance.below(100)
    if lot < 30:
        return draw_pronoun(chance, third=free_pronoun)
    if lot < 44:
        return draw_name(chance)
    if lot < 48:
        return collective(chance, chance.pick(COLLECTIVES))
    return draw_nominal(chance, chance.pick(HUMANS))


def draw_pronoun(chance: Chance, third: bool) -> Pronoun:
    """je, tu, nous, vous, ils; il and elle only where `third` says that they cannot be mistaken."""
    person, plural = 1 + chance.below(3), chance.odds(40)
    if person == 3 and not plural and not third:
        person = 1
    return Pronoun(chance.unit(), person, plural, chance.odds(45))


def draw_name(chance: Chance) -> Nominal:
    """paul; paul et marie"""
    name = chance.pick(NAMES)
    nominal = Nominal(chance.unit(), name, False, name.feminine, True)
    if chance.odds(18):
        other = chance.pick(NAMES)
        if other is not name:
            nominal.joined = Nominal(chance.unit(), other, False, other.feminine, True)
            nominal.plural, nominal.feminine = True, name.feminine and other.feminine
    return nominal


def collective(chance: Chance, noun: Noun) -> Nominal:
    """les pauvres"""
    return Nominal(chance.unit(), noun, True, False, True, _THE)


def draw_nominal(
    chance: Chance, noun: Noun, possessor: Person | None = None, negated: bool = False, after_de: bool = False, bare: bool = False
) -> Nominal:
    """A noun with its dress. `possessor`: whose it may be; `negated`: il n' a pas de livre; `bare`: without adjective."""
    mass = "mass" in noun.kinds
    plural = not mass and chance.odds(35)
    nominal = Nominal(chance.unit(), noun, plural, noun.feminine, noun.human)
    lot = chance.below(100)
    if mass:
        nominal.determiner = _THE if after_de or lot < 35 else _NOT_ANY if negated else _PARTITIVE
    elif possessor and lot < 25 and (noun in _CLOSE or not noun.kinds & _UNOWNED) and not (plural and noun in _PARENTS):
        _possess(nominal, possessor)
    elif plural and lot > 90:
        nominal.number = draw_number(chance)
        nominal.determiner = _THE if chance.odds(30) else None
    elif plural:
        nominal.determiner = chance.pick(_PLURAL_DEFINITE if after_de else _PLURAL)
    else:
        nominal.determiner = chance.pick(_SINGULAR if possessor else _SINGULAR_SUBJECT)
    if negated and nominal.determiner is _INDEFINITE:
        # a word that sounds and looks alike in both numbers would not tell which is meant
        invariable = noun.singular.french == noun.plural.french
        nominal.plural = plural and not invariable
        nominal.determiner = _NOT_A
    if not bare and chance.odds(50):
        adjective = chance.partner(noun.adjectives)
        if adjective:
            nominal.adjective = describe(chance, adjective)
    if nominal.determiner is _THE and not plural and not nominal.number and chance.odds(12):
        _own(chance, nominal)
    return nominal


def _possess(nominal: Nominal, possessor: Person) -> None:
    key = (possessor.person, possessor.plural)
    name = _OWNERS.get(key) or ("its" if not possessor.human else "her" if possessor.feminine else "his")
    nominal.determiner, nominal.possessor = DETERMINERS[name], possessor


def _own(chance: Chance, nominal: Nominal) -> None:
    """le livre de marie, le livre de l' homme"""
    if nominal.noun in _CLOSE or not nominal.noun.kinds & (_UNOWNED | {"mass"}):
        if chance.odds(50):
            name = chance.pick(NAMES)
            nominal.owner = Nominal(chance.unit(), name, False, name.feminine, True)
        else:
            person = chance.pick(HUMANS)
            nominal.owner = Nominal(chance.unit(), person, chance.odds(30), person.feminine, True, _THE)


def describe(chance: Chance, adjective: Adjective, alone: bool = False) -> Described:
    """An adjective, perhaps with très; before its noun it stands bare."""
    if "absolute" in adjective.kinds:
        degree = None
    elif alone:
        degree = chance.pick(DEGREES) if chance.odds(25) else None
    else:
        degree = DEGREES[0] if not adjective.before and chance.odds(8) else None
    return Described(chance.unit(), adjective, degree)


def draw_number(chance: Chance) -> str:
    """2 to 999, small ones more often."""
    return str(2 + chance.below(chance.pick((10, 30, 98, 998))))


def movable(person: Person) -> bool:
    """Whether it can be said where somebody or something is today."""
    return person.human or person.noun is None or bool(person.noun.kinds & (_MOVABLE | {"animal"}))


def trade(chance: Chance, subject: Person) -> Nominal:
    """(il est) médecin"""
    noun = chance.pick(_TRADES[subject.feminine])
    return Nominal(chance.unit(), noun, subject.plural, subject.feminine, True, BARE)


def draw_place(chance: Chance) -> Place:
    """devant la gare"""
    preposition, nouns = chance.pick(_PLACES)
    noun = chance.pick(nouns)
    nominal = Nominal(chance.unit(), noun, False, noun.feminine, False, _THE)
    if chance.odds(25):
        adjective = chance.partner(noun.adjectives)
        if adjective:
            nominal.adjective = Described(chance.unit(), adjective)
    return Place(nominal.unit, preposition, nominal)


def draw_time(chance: Chance, tense: str) -> Adverb:
    """hier, dans 3 jours; `tense` is the letter of the table"""
    wording = chance.pick(TIMES[tense])
    number = ""
    if any(piece.form == "#" for piece in wording.french):
        number = _time_number(chance, wording.french[0].form)
    return Adverb(chance.unit(), wording, number)


def draw_age(chance: Chance) -> Adverb:
    """(il a) 34 ans"""
    return Adverb(chance.unit(), AGE, str(2 + chance.below(98)))


def _time_number(chance: Chance, first: str) -> str:
    if first == "en":
        return str(1700 + chance.below(325))
    return str(2 + chance.below(11)) if first == "à" else draw_number(chance)


def draw_object(chance: Chance, verb: Verb, subject: Person, negated: bool) -> Nominal | None:
    """A noun that the verb can have as its object."""
    noun = chance.partner(verb.objects)
    if noun is None:
        return None
    if "collective" in noun.kinds:
        return collective(chance, noun)
    preposition = verb.preposition.form if verb.preposition else ""
    return draw_nominal(chance, noun, subject, negated and not preposition, preposition == "de")
