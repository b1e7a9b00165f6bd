"""Drawing clauses: who does what, and how clauses hang together.

A French pronoun must tell which English one it is, so il, elle, le, la, l' and lui are drawn only where the sentence settles
it: by an antecedent (subjects for subjects, objects for objects), or by a verb that takes only people or only things.
"""

from __future__ import annotations

from sightline.data.grammar.chance import Chance
from sightline.data.grammar.conjugate import Tense, elides
from sightline.data.grammar.draw_nouns import (
    HUMANS,
    describe,
    draw_age,
    draw_name,
    draw_nominal,
    draw_object,
    draw_place,
    draw_pronoun,
    draw_subject,
    draw_time,
    movable,
    trade,
)
from sightline.data.grammar.lexicon import (
    ADJECTIVES,
    ADVERBS,
    AGED,
    DETERMINERS,
    DITRANSITIVE,
    HELPING,
    INTRANSITIVE,
    LINKERS,
    MANNERS,
    QUESTIONS,
    SAYING,
    TRANSITIVE,
    VERBS_TAKING,
    VERBS_TO_PEOPLE,
    Verb,
)
from sightline.data.grammar.tree import WHETHER, Adverb, Clause, Described, Nominal, Person, Pronoun
from sightline.data.grammar.words_verbs import FREQUENT

_LETTERS = {Tense.PRESENT: "p", Tense.PAST: "c", Tense.IMPERFECT: "i", Tense.FUTURE: "f"}
_TENSES = (Tense.PRESENT,) * 7 + (Tense.PAST,) * 7 + (Tense.FUTURE,) * 3 + (Tense.IMPERFECT,) * 2
_RELATIVE_TENSES = (Tense.PRESENT, Tense.PAST, Tense.PAST)
_STATE_TENSE = {Tense.PAST: Tense.IMPERFECT}
_NEGATIONS = ("pas",) * 7 + ("jamais", "plus")
_CATEGORIES = ("human",) * 15 + ("animal",) * 3 + ("thing",) * 2
_FRAMES = {
    "human": ("intransitive",) * 3 + ("transitive",) * 9 + ("ditransitive",) * 2 + ("quality",) * 3 + ("trade", "where", "age")
    + ("helping",) * 3 + ("saying",) * 2,
    "animal": ("intransitive",) * 8 + ("transitive",) * 12 + ("quality",) * 6 + ("where", "helping") * 2 + ("age",),
    "thing": ("quality",) * 3 + ("where",),
}  # fmt: skip
_HUMAN_QUALITIES = tuple(adjective for adjective in ADJECTIVES if "human" in adjective.kinds)


def _by_category(verbs: tuple[Verb, ...]) -> dict[str, tuple[Verb, ...]]:
    weighted = [verb for verb in verbs for _ in range(FREQUENT.get(verb.lemma, 1))]
    return {kind: tuple(verb for verb in weighted if kind in verb.subjects) for kind in ("human", "animal")}


_VERBS = {
    "intransitive": _by_category(INTRANSITIVE),
    "transitive": _by_category(TRANSITIVE),
    "ditransitive": _by_category(DITRANSITIVE),
    "helping": _by_category(HELPING),
    "saying": _by_category(SAYING),
}
_INNER_FRAMES = ("intransitive",) * 2 + ("transitive",) * 5 + ("ditransitive",)


def category_of(person: Person) -> str:
    """human, animal or thing"""
    if person.human:
        return "human"
    assert person.noun is not None
    return "animal" if "animal" in person.noun.kinds else "thing"


def draw_sentence(chance: Chance) -> Clause:
    """A statement or a question, of one clause or several."""
    lot = chance.below(100)
    if lot < 12:
        sentence = _question(chance)
        sentence.end = "?"
        return sentence
    sentence = _statement(chance, lot)
    if chance.odds(30):
        sentence.end = "."
    return sentence


def _statement(chance: Chance, lot: int) -> Clause:
    if lot < 58:
        return draw_clause(chance, "root")
    if lot < 65:
        return _when_first(chance)
    first = draw_clause(chance, "root")
    last = first
    for _ in range(1 + chance.odds(30)):
        last.following = _next_clause(chance, last)
        last = last.following
    return first


def _question(chance: Chance) -> Clause:
    if chance.odds(25):
        who = Pronoun(chance.unit(), 3, False, False, asking=True)
        return draw_clause(chance, "root", subject=who, opened=False)
    clause = draw_clause(chance, "root", opened=False)
    bare = clause.verb is not None and not clause.ending and not clause.verb.state
    clause.question = chance.pick(QUESTIONS) if bare and chance.odds(65) else WHETHER
    return clause


def _when_first(chance: Chance) -> Clause:
    """quand il dort , elle travaille"""
    tense = chance.pick((Tense.PRESENT, Tense.IMPERFECT))
    opening = draw_clause(chance, "advcl", tense=tense, opened=False)
    opening.linker = LINKERS["when" if tense is Tense.PRESENT else "while"]
    main = draw_clause(chance, "root", subject=_same_subject(chance, opening), tense=tense, opened=False, alone=False)
    main.opening = opening
    return main


def _next_clause(chance: Chance, before: Clause) -> Clause:
    """A clause joined to one before it; its pronouns may stand for what that one speaks of."""
    name, tense = chance.pick(("and", "and", "but", "because", "because", "when", "while")), before.tense
    if name in ("when", "while"):
        if tense is Tense.FUTURE:
            name = "because"
        elif tense is Tense.PAST and name == "while":
            tense = Tense.IMPERFECT
        elif tense is Tense.IMPERFECT and name == "when":
            tense = Tense.PAST
    relation = "conj" if name in ("and", "but") else "advcl"
    clause = _about_the_same(chance, before, relation, tense) if chance.odds(40) else None
    if clause is None:
        subject = _same_subject(chance, before)
        clause = draw_clause(chance, relation, subject=subject, tense=tense, opened=False, alone=False)
    clause.linker = LINKERS[name]
    return clause


def _same_subject(chance: Chance, before: Clause) -> Pronoun | None:
    """A pronoun for the subject of another clause, or nothing."""
    subject = before.subject
    return _pronoun_for(chance, subject) if chance.odds(45) and not _asks(subject) else None


def _asks(person: Person) -> bool:
    return isinstance(person, Pronoun) and person.asking


def _pronoun_for(chance: Chance, person: Person) -> Pronoun:
    antecedent = (person.antecedent or person.unit) if person.person == 3 else 0
    return Pronoun(chance.unit(), person.person, person.plural, person.feminine, person.human, antecedent, noun=person.noun)


def _about_the_same(chance: Chance, before: Clause, relation: str, tense: Tense) -> Clause | None:
    """paul a acheté un livre et marie le lit: the clitic is the object there was, or else the subject."""
    topic = before.object or before.subject
    if not isinstance(topic, Nominal) or topic.joined or before.inner or before.dative:
        return None
    lends = topic.human and chance.odds(30)
    verb = chance.pick(DITRANSITIVE) if lends else _verb_taking(chance, topic)
    if verb is None:
        return None
    if topic is before.object and before.subject.human and chance.odds(60) and not _asks(before.subject):
        subject: Person = _pronoun_for(chance, before.subject)
    else:
        subject = draw_nominal(chance, chance.pick(HUMANS), bare=True) if chance.odds(50) else draw_name(chance)
    clause = _start(chance, relation, subject, _fitting(verb, tense), verb)
    if lends:
        clause.dative = _pronoun_for(chance, topic)
        clause.object = draw_object(chance, verb, subject, clause.negation != "")
    else:
        clause.object = _pronoun_for(chance, topic)
    return clause


def _verb_taking(chance: Chance, nominal: Nominal) -> Verb | None:
    """A verb that can have it as its direct object."""
    verbs = VERBS_TAKING.get(nominal.noun)
    return chance.partner(verbs) if verbs else chance.pick(VERBS_TO_PEOPLE)


def draw_clause(
    chance: Chance,
    relation: str,
    *,
    subject: Person | None = None,
    tense: Tense | None = None,
    opened: bool = True,
    alone: bool = True,
    depth: int = 0,
) -> Clause:
    """One clause. `alone`: il and elle need no antecedent; `opened`: it may begin with a time."""
    given = subject is not None
    category = category_of(subject) if subject else chance.pick(_CATEGORIES)
    if subject is None:
        subject = draw_subject(chance, category, alone)
    frame = chance.pick(_FRAMES[category])
    if depth and frame in ("saying", "helping"):
        frame = "intransitive"
    clause = _of_frame(chance, relation, frame, category, subject, tense or chance.pick(_TENSES), depth)
    if not given and isinstance(subject, Nominal) and depth < 2 and chance.odds(14):
        _relate_subject(chance, subject, category, depth)
    if not clause.inner:
        _adorn(chance, clause, category, opened and not depth)
    return clause


def _of_frame(chance: Chance, relation: str, frame: str, category: str, subject: Person, tense: Tense, depth: int) -> Clause:
    if frame in ("quality", "trade", "where"):
        return _being(chance, relation, frame, subject, tense)
    if frame == "age":
        clause = _start(chance, relation, subject, _fitting(AGED, tense), AGED)
        clause.ending = (draw_age(chance),)
        return clause
    verb = chance.pick(_VERBS[frame][category])
    clause = _start(chance, relation, subject, _fitting(verb, tense), verb)
    if frame == "transitive":
        _give_object(chance, clause, verb, clause.negation, depth)
    elif frame == "ditransitive":
        _give_both(chance, clause, verb, clause.negation)
    elif frame == "helping":
        clause.inner = _infinitive(chance, clause, category)
    elif frame == "saying":
        clause.negation = ""
        clause.tense = tense if tense in (Tense.PRESENT, Tense.PAST) and not verb.state else Tense.PRESENT
        inside = None if clause.tense is Tense.PRESENT else Tense.IMPERFECT
        clause.inner = draw_clause(chance, "ccomp", tense=inside, opened=False, depth=depth + 1)
        clause.inner.linker = LINKERS["that"]
    return clause


def _start(chance: Chance, relation: str, subject: Person, tense: Tense, verb: Verb | None) -> Clause:
    clause = Clause(chance.unit(), subject, tense, relation, verb)
    if chance.odds(28) and not (isinstance(subject, Nominal) and subject.determiner is DETERMINERS["every"]):
        clause.negation = chance.pick(_NEGATIONS)
    return clause


def _fitting(verb: Verb, tense: Tense) -> Tense:
    """The tense a verb can have: states have no passé composé, and can and must lack most."""
    if verb.english.base == "must":
        return Tense.PRESENT
    if verb.english.base == "can" or verb.lemma == "aller":
        return Tense.PRESENT if tense in (Tense.PRESENT, Tense.FUTURE) else Tense.IMPERFECT
    return _STATE_TENSE.get(tense, tense) if verb.state else tense


def _being(chance: Chance, relation: str, frame: str, subject: Person, tense: Tense) -> Clause:
    tense = _STATE_TENSE.get(tense, tense)
    clause = _start(chance, relation, subject, tense, None)
    if frame == "where" and movable(subject):
        clause.predicate = draw_place(chance)
    elif frame == "trade":
        clause.predicate = trade(chance, subject)
    else:
        noun = subject.noun
        pools = noun.adjectives if noun and not (isinstance(subject, Nominal) and subject.joined) else None
        adjective = chance.partner(pools) if pools and pools.train else None
        clause.predicate = describe(chance, adjective or chance.pick(_HUMAN_QUALITIES), alone=True)
        if isinstance(subject, Nominal) and subject.adjective and subject.adjective.adjective is adjective:
            subject.adjective = None  # the big house is big
    return clause


def _give_object(chance: Chance, clause: Clause, verb: Verb, negation: str, depth: int) -> None:
    pronoun = _object_pronoun(chance, clause, verb) if chance.odds(28) else None
    if pronoun:
        clause.object = pronoun
        return
    if verb.takes_people and chance.odds(12):
        clause.object = draw_name(chance)
        return
    clause.object = draw_object(chance, verb, clause.subject, negation != "")
    if clause.object and not negation and not verb.preposition and chance.odds(6):
        clause.object.joined = draw_object(chance, verb, clause.subject, negation != "")
    if clause.object and depth < 2 and not verb.after and chance.odds(12):
        _relate_object(chance, clause.object)


def _object_pronoun(chance: Chance, clause: Clause, verb: Verb) -> Pronoun | None:
    """me, te, les, or (parler) de moi; le and la only with verbs that leave no doubt."""
    preposition = verb.preposition.form if verb.preposition else ""
    if preposition == "dans":
        return None
    person = draw_pronoun(chance, third=True)
    if person.person == clause.subject.person and person.person < 3:
        return None
    human = verb.takes_people
    if person.person < 3 or preposition == "de":
        return person if human else None
    if person.plural:
        return person
    if preposition or (human and not verb.takes_people_alone):
        return None
    person.human = human
    # before a vowel it is l', and only the participle still tells him from her
    silent = human and clause.tense is not Tense.PAST and elides(verb.french.infinitive)
    return None if silent else person


def _give_both(chance: Chance, clause: Clause, verb: Verb, negation: str) -> None:
    clause.object = draw_object(chance, verb, clause.subject, negation != "")
    pronoun = draw_pronoun(chance, third=False) if chance.odds(40) else None
    if pronoun and (pronoun.person == 3 or pronoun.person != clause.subject.person):
        clause.dative = pronoun
    elif chance.odds(40):
        clause.dative = draw_name(chance)
    else:
        clause.dative = draw_nominal(chance, chance.pick(HUMANS), clause.subject)


def _infinitive(chance: Chance, outer: Clause, category: str) -> Clause:
    frame = chance.pick(_INNER_FRAMES if category == "human" else _INNER_FRAMES[:-1])
    verb = chance.pick(_VERBS[frame][category])
    clause = Clause(chance.unit(), outer.subject, Tense.INFINITIVE, "xcomp", verb)
    if frame == "transitive":
        _give_object(chance, clause, verb, outer.negation, 1)
    elif frame == "ditransitive":
        _give_both(chance, clause, verb, outer.negation)
    return clause


def _relate_subject(chance: Chance, noun: Nominal, category: str, depth: int) -> None:
    """les hommes qui dorment …; le livre que l' homme a ouvert …"""
    if "name" in noun.noun.kinds or noun.owner:
        return
    if category == "thing" or chance.odds(50):
        _relate_object(chance, noun)
    else:
        noun.relative = draw_clause(chance, "acl:relcl", subject=noun, tense=chance.pick(_RELATIVE_TENSES), depth=depth + 2)
        noun.relative.gap = "subject"


def _relate_object(chance: Chance, noun: Nominal) -> None:
    """… le livre que l' homme a ouvert"""
    verb = None if noun.relative or noun.owner or noun.joined else _verb_taking(chance, noun)
    if verb is None:
        return
    subject = draw_subject(chance, "human")
    noun.relative = _start(chance, "acl:relcl", subject, _fitting(verb, chance.pick(_RELATIVE_TENSES)), verb)
    noun.relative.object, noun.relative.gap = noun, "object"


def _absolute(clause: Clause) -> bool:
    return isinstance(clause.predicate, Described) and "absolute" in clause.predicate.adjective.kinds


def _adorn(chance: Chance, clause: Clause, category: str, opened: bool) -> None:
    """Adverbs, places, times."""
    lasting = category == "thing" or isinstance(clause.predicate, Nominal) or clause.verb is AGED
    if not clause.negation and not lasting and not _absolute(clause) and chance.odds(12):
        clause.adverb = Adverb(chance.unit(), chance.pick(ADVERBS))
    lot = chance.below(100)
    if lot < 14 and clause.predicate is None and not (clause.verb and clause.verb.state):
        clause.ending = (draw_place(chance),)
    elif lot < 22 and clause.verb and not clause.verb.state:
        clause.ending = (Adverb(chance.unit(), chance.pick(MANNERS)),)
    timeless = clause.tense is Tense.PRESENT and (clause.verb is None or clause.verb.state)
    if chance.odds(16) and not timeless:
        time = draw_time(chance, _LETTERS[clause.tense])
        if opened and chance.odds(40):
            clause.opening = time
        else:
            clause.ending = (*clause.ending, time)
