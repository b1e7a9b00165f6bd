"""Writing a tree in English: do-support, the progressive, will; owners before what they own."""

from __future__ import annotations

from typing import NamedTuple

from sightline.data.grammar.conjugate import Tense
from sightline.data.grammar.lines import English
from sightline.data.grammar.tree import (
    CASE,
    COPULA,
    DEGREE,
    DETERMINER,
    LINKER,
    NEGATION,
    NUMBER,
    QUESTION,
    Adverb,
    Adverbial,
    Clause,
    Described,
    Nominal,
    Person,
    Place,
    Pronoun,
)
from sightline.data.grammar.wording import Piece

_SUBJECTS = ("i", "you", "he", "we", "you", "they", "i", "you", "she", "we", "you", "they")
_OBJECTS = ("me", "you", "him", "us", "you", "them", "me", "you", "her", "us", "you", "them")
_IS = ("am", "are", "is", "are", "are", "are")
_WAS = ("was", "were", "was", "were", "were", "were")
_NO = {"jamais": ("never",), "plus": ("no", "longer")}
_MODAL = {
    "can": {Tense.PRESENT: ("can", "can't"), Tense.IMPERFECT: ("could", "couldn't")},
    "must": {Tense.PRESENT: ("must", "must not")},
}


class Group(NamedTuple):
    """The verb as English has it: an auxiliary (or "") and the verb itself (or "", where it is the auxiliary)."""

    auxiliary: str
    full: bool  # the auxiliary is no helper but the verb itself: is, can
    verb: str


def write_english(sentence: Clause) -> English:
    """The whole sentence in English."""
    line = English()
    _write_clause(line, sentence)
    if sentence.end:
        line.put(sentence.end, sentence.unit + QUESTION + 3, True)
    return line


def _write_clause(line: English, clause: Clause) -> None:
    if clause.linker:
        _write_pieces(line, clause.linker.english, clause.unit + LINKER)
    if clause.opening:
        if isinstance(clause.opening, Adverb):
            _write_adverbial(line, clause.opening)
        else:
            _write_clause(line, clause.opening)
        line.put(",", clause.unit + LINKER + 1, True)
    if clause.question is not None:
        _write_pieces(line, clause.question.english, clause.unit + QUESTION)
    if clause.gap:
        human = clause.gap == "subject" and clause.subject.human
        line.put("who" if human else "that", clause.unit + LINKER, True)
    if clause.tense is Tense.INFINITIVE:
        assert clause.verb is not None
        line.put(clause.verb.english.base, clause.unit + clause.verb.head.group, True)
    else:
        _write_subject_and_verb(line, clause)
    _write_rest(line, clause)
    for adverbial in clause.ending:
        _write_adverbial(line, adverbial)
    if clause.following:
        _write_clause(line, clause.following)


def _write_subject_and_verb(line: English, clause: Clause) -> None:
    group = _group(clause)
    if clause.question is not None:
        _write_auxiliary(line, clause, group)
    if clause.gap != "subject":
        _write_person(line, clause.subject, _SUBJECTS)
    if clause.question is None and group.auxiliary:
        _write_auxiliary(line, clause, group)
    for word in _NO.get(clause.negation, ()):
        line.put(word, clause.unit + NEGATION, True)
    if clause.adverb:
        _write_adverbial(line, clause.adverb)
    if group.verb:
        line.put(group.verb, _own_unit(clause), True)


def _own_unit(clause: Clause) -> int:
    return clause.unit + (clause.verb.head.group if clause.verb else COPULA)


def _write_auxiliary(line: English, clause: Clause, group: Group) -> None:
    """don't says pas surely, eat possibly; isn't says both surely; a `not` apart says pas."""
    own = _own_unit(clause)
    word, _, apart = group.auxiliary.partition(" ")
    line.put(word, own, group.full)
    if clause.negation == "pas":
        if apart:
            line.put(apart, clause.unit + NEGATION, True)
        else:
            line.marks.append((clause.unit + NEGATION, len(line.forms) - 1, True))
    if clause.question is not None:
        line.marks.append((clause.unit + QUESTION + 1, len(line.forms) - 1, False))


def _group(clause: Clause) -> Group:
    """Tense, person, negation and question, as auxiliary and verb."""
    person = clause.subject.person - 1 + 3 * clause.subject.plural
    verb, negated = clause.verb, clause.negation == "pas"
    base = verb.english.base if verb else "be"
    if base in _MODAL:
        return Group(_MODAL[base][clause.tense][negated], True, "")
    if clause.tense is Tense.FUTURE:
        return Group("won't" if negated else "will", False, base)
    if verb is None or base == "be":
        return Group(_be(clause.tense, person, negated), True, "")
    if clause.tense is Tense.IMPERFECT and not verb.state:
        return Group(_be(Tense.IMPERFECT, person, negated), False, verb.english.progressive)
    past, third = clause.tense is not Tense.PRESENT, person == 2
    if negated or clause.question is not None:
        do = "did" if past else "does" if third else "do"
        return Group(do + "n't" if negated else do, False, base)
    return Group("", False, verb.english.past if past else verb.english.third if third else base)


def _be(tense: Tense, person: int, negated: bool) -> str:
    form = (_IS if tense is Tense.PRESENT else _WAS)[person]
    if not negated:
        return form
    return "am not" if form == "am" else form + "n't"


def _write_rest(line: English, clause: Clause) -> None:
    """What follows the verb: its set words, the objects, the predicate."""
    verb, unit = clause.verb, clause.unit
    if clause.predicate:
        _write_predicate(line, clause.predicate)
    if verb is None:
        return
    _write_pieces(line, verb.before[1:], unit)
    if isinstance(clause.dative, Pronoun):
        _write_person(line, clause.dative, _OBJECTS)
    if clause.inner:
        _write_clause(line, clause.inner)
    if clause.object and clause.gap != "object":
        _write_person(line, clause.object, _OBJECTS)
    _write_pieces(line, verb.after, unit)
    if isinstance(clause.dative, Nominal):
        line.put("to", clause.dative.unit + CASE, True)
        _write_nominal(line, clause.dative)


def _write_predicate(line: English, predicate: Described | Nominal | Place) -> None:
    if isinstance(predicate, Described):
        _write_described(line, predicate)
    elif isinstance(predicate, Nominal):
        _write_nominal(line, predicate)
    else:
        _write_adverbial(line, predicate)


def _write_described(line: English, described: Described) -> None:
    if described.degree:
        _write_pieces(line, described.degree.english, described.unit + DEGREE)
    line.put(described.adjective.english, described.unit, True)


def _write_person(line: English, person: Person, forms: tuple[str, ...]) -> None:
    if isinstance(person, Nominal):
        _write_nominal(line, person)
        return
    third = person.person == 3 and not person.plural
    form = forms[person.person - 1 + 3 * person.plural + 6 * person.feminine]
    if person.asking:
        form = "who"
    elif third and not person.human:
        form = "it"
    line.put(form, person.unit, True)


def _write_nominal(line: English, nominal: Nominal) -> None:
    unit, noun = nominal.unit, nominal.noun
    if nominal.owner:
        _write_nominal(line, nominal.owner)
        line.forms[-1] += "'" if nominal.owner.plural and line.forms[-1].endswith("s") else "'s"
        line.marks.append((nominal.owner.unit + CASE, len(line.forms) - 1, False))
    elif nominal.determiner:
        wording = nominal.determiner.forms[nominal.feminine + 2 * nominal.plural]
        assert wording is not None
        _write_pieces(line, wording.english, unit + DETERMINER)
    if nominal.number:
        line.put(nominal.number, unit + NUMBER, True)
    if nominal.adjective:
        _write_described(line, nominal.adjective)
    _write_pieces(line, (noun.plural if nominal.plural else noun.singular).english, unit)
    if nominal.joined:
        line.put("and", nominal.joined.unit + CASE, True)
        _write_nominal(line, nominal.joined)
    if nominal.relative:
        _write_clause(line, nominal.relative)


def _write_adverbial(line: English, adverbial: Adverbial) -> None:
    if isinstance(adverbial, Place):
        _write_pieces(line, adverbial.preposition.english, adverbial.unit + CASE)
        _write_nominal(line, adverbial.nominal)
        return
    for piece in adverbial.wording.english:
        form = adverbial.number if piece.form == "#" else piece.form
        line.put(form, adverbial.unit + piece.group, piece.sure)


def _write_pieces(line: English, pieces: tuple[Piece, ...], unit: int) -> None:
    for piece in pieces:
        line.put(piece.form, unit + piece.group, piece.sure)
