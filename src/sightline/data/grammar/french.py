"""Writing a tree in French: who does what, with agreement, clitics and negation."""

from __future__ import annotations

from sightline.data.grammar.conjugate import Tense
from sightline.data.grammar.french_words import (
    agreeing,
    write_adjective,
    write_adverb,
    write_described,
    write_determiner,
    write_pieces,
)
from sightline.data.grammar.lexicon import BE, HAVE, Verb
from sightline.data.grammar.lines import French, Link
from sightline.data.grammar.tree import (
    CASE,
    COPULA,
    LINKER,
    NEGATION,
    NUMBER,
    QUESTION,
    Adverb,
    Clause,
    Described,
    Nominal,
    Person,
    Place,
    Pronoun,
)
from sightline.data.grammar.wording import Piece, Wording

# je tu il nous vous ils, then the feminine
_SUBJECTS = ("je", "tu", "il", "nous", "vous", "ils", "je", "tu", "elle", "nous", "vous", "elles")
_TONIC = ("moi", "toi", "lui", "nous", "vous", "eux", "moi", "toi", "elle", "nous", "vous", "elles")
_ACCUSATIVE = ("me", "te", "le", "nous", "vous", "les", "me", "te", "la", "nous", "vous", "les")
_DATIVE = ("me", "te", "lui", "nous", "vous", "leur") * 2
_REFLEXIVE = ("me", "te", "se", "nous", "vous", "se") * 2


def write_french(sentence: Clause) -> French:
    """The whole sentence in French."""
    line = French()
    write_clause(line, sentence, -1)
    if sentence.end:
        line.put(sentence.end, sentence.unit + QUESTION + 3, True, Link(sentence.head, "punct", sentence.end, "PUNCT"))
    return line


def write_clause(line: French, clause: Clause, head: int) -> None:
    """One clause with those inside it; its chief word depends on `head`."""
    if clause.linker:
        _write_linker(line, clause.linker, clause.unit + LINKER, clause.head)
    _write_opening(line, clause)
    if clause.question is not None:
        _write_question(line, clause)
    if clause.gap:
        _write_relative_pronoun(line, clause)
    if clause.gap != "subject" and clause.tense is not Tense.INFINITIVE:
        write_person(line, clause.subject, clause.head, "nsubj")
    if clause.verb:
        _write_verb(line, clause, clause.verb, head)
    else:
        _write_predicate(line, clause, head)
    for adverbial in clause.ending:
        if isinstance(adverbial, Adverb):
            write_adverb(line, adverbial, clause.head)
        else:
            _write_place(line, adverbial, clause.head, "obl")
    if clause.following:
        write_clause(line, clause.following, clause.head)


def _write_linker(line: French, linker: Wording, unit: int, head: int) -> None:
    """parce que: the first word depends on the clause, the others on the first."""
    for piece in linker.french:
        first = piece.relation != "fixed"
        link = Link(head if first else unit, piece.relation, piece.form, "CCONJ" if piece.relation == "cc" else "SCONJ")
        position = line.put(piece.form, unit, True, link)
        if first:
            line.place[unit] = position


def _write_opening(line: French, clause: Clause) -> None:
    if clause.opening is None:
        return
    if isinstance(clause.opening, Adverb):
        write_adverb(line, clause.opening, clause.head)
    else:
        write_clause(line, clause.opening, clause.head)
    line.put(",", clause.unit + LINKER + 1, True, Link(clause.opening.head, "punct", ",", "PUNCT"))


def _write_question(line: French, clause: Clause) -> None:
    unit, head = clause.unit + QUESTION, clause.head
    assert clause.question is not None
    write_pieces(line, clause.question, unit, head, "advmod", "ADV")
    line.place[unit + 1] = line.put("est-ce", unit + 1, False, Link(head, "advmod", "est-ce", "ADV"))
    line.put("que", unit + 1, False, Link(unit + 1, "fixed", "que", "SCONJ"))


def _write_relative_pronoun(line: French, clause: Clause) -> None:
    form, relation = ("qui", "nsubj") if clause.gap == "subject" else ("que", "obj")
    position = line.put(form, clause.unit + LINKER, True, Link(clause.head, relation, form, "PRON"))
    noun = clause.subject if clause.gap == "subject" else clause.object
    assert noun is not None
    line.references.append((position, noun.unit))


def _write_predicate(line: French, clause: Clause, head: int) -> None:
    predicate, subject, unit = clause.predicate, clause.subject, clause.unit
    _write_group(line, clause, BE, unit + COPULA, Link(clause.head, "cop", "être", "AUX"))
    if isinstance(predicate, Described):
        form = predicate.adjective.french[subject.feminine + 2 * subject.plural]
        link = Link(head, clause.relation, predicate.adjective.french[0], "ADJ")
        write_described(line, predicate, form, link)
    elif isinstance(predicate, Nominal):
        write_nominal(line, predicate, head, clause.relation)
    elif predicate:
        _write_place(line, predicate, head, clause.relation)


def _write_verb(line: French, clause: Clause, verb: Verb, head: int) -> None:
    unit = clause.unit
    _write_group(line, clause, verb, unit, Link(head, clause.relation, verb.french.infinitive, "VERB"))
    for piece in verb.tail:
        relation, tag = ("det", "DET") if piece.form == "la" else ("obj", "NOUN")
        line.put(piece.form, unit + piece.group, piece.sure, Link(unit, relation, piece.form, tag))
    if clause.inner:
        if verb.preposition:
            mark = Link(clause.inner.head, "mark", verb.preposition.form, "ADP")
            line.put(verb.preposition.form, unit + verb.preposition.group, verb.preposition.sure, mark)
        write_clause(line, clause.inner, clause.head)
    if clause.object and clause.gap != "object" and not is_clitic(clause.object, verb.preposition):
        if verb.preposition:
            mark = Link(clause.object.unit, "case", verb.preposition.form, "ADP")
            line.put(verb.preposition.form, unit + verb.preposition.group, verb.preposition.sure, mark)
        write_person(line, clause.object, unit, "obl:arg" if verb.preposition else "obj")
    if isinstance(clause.dative, Nominal):
        line.put("à", clause.dative.unit + CASE, True, Link(clause.dative.unit, "case", "à", "ADP"))
        write_nominal(line, clause.dative, unit, "iobj")


def _write_group(line: French, clause: Clause, verb: Verb, unit: int, link: Link) -> None:
    """ne, clitics, the finite verb, pas, adverb, participle; `link` is that of the verb itself."""
    here, head = clause.unit, clause.head
    if clause.negation:
        line.put("ne", here + NEGATION, False, Link(head, "advmod", "ne", "ADV"))
    _write_clitics(line, clause, verb)
    forms, place = verb.french, form_of(clause.subject)
    compound = clause.tense is Tense.PAST
    if compound:
        auxiliary = BE if verb.etre else HAVE
        helper = auxiliary.french.simple[Tense.PRESENT][place]
        line.put(helper, unit, False, Link(head, "aux", auxiliary.french.infinitive, "AUX"))
    else:
        form = forms.infinitive if clause.tense is Tense.INFINITIVE else forms.simple[clause.tense][place]
        line.place[unit] = line.put(form, unit + verb.head.group, verb.head.sure, link)
    if clause.negation:
        line.put(clause.negation, here + NEGATION, True, Link(head, "advmod", clause.negation, "ADV"))
    if clause.adverb:
        write_adverb(line, clause.adverb, head)
    if compound:
        participle = forms.participle[_participle_form(clause, verb)]
        line.place[unit] = line.put(participle, unit + verb.head.group, verb.head.sure, link)


def _participle_form(clause: Clause, verb: Verb) -> int:
    """With être it agrees with the subject, with avoir with a direct object that stands before it."""
    if verb.etre:
        return clause.subject.feminine + 2 * clause.subject.plural
    thing = clause.object
    if thing and verb.preposition is None and (clause.gap == "object" or isinstance(thing, Pronoun)):
        return thing.feminine + 2 * thing.plural
    return 0


def _write_clitics(line: French, clause: Clause, verb: Verb) -> None:
    unit = clause.unit
    if verb.reflexive:
        form = _REFLEXIVE[form_of(clause.subject)]
        position = line.put(form, unit, False, Link(clause.head, "expl", "se", "PRON"))
        line.references.append((position, clause.subject.unit))
    if is_clitic(clause.dative, None):
        _write_clitic(line, clause.dative, _DATIVE, Link(unit, "iobj", "lui", "PRON"))
    if clause.gap != "object" and is_clitic(clause.object, verb.preposition):
        forms, relation = (_DATIVE, "iobj") if verb.preposition else (_ACCUSATIVE, "obj")
        _write_clitic(line, clause.object, forms, Link(unit, relation, forms[2], "PRON"))


def _write_clitic(line: French, person: Person | None, forms: tuple[str, ...], link: Link) -> None:
    assert isinstance(person, Pronoun)
    position = line.put(forms[form_of(person) + 6 * person.feminine], person.unit, True, link)
    line.place[person.unit] = position
    if person.antecedent:
        line.references.append((position, person.antecedent))


def form_of(person: Person) -> int:
    """Where its form stands in a table of je tu il nous vous ils."""
    return person.person - 1 + 3 * person.plural


def write_person(line: French, person: Person, head: int, relation: str) -> None:
    """A subject, or what stands after a preposition."""
    if isinstance(person, Nominal):
        write_nominal(line, person, head, relation)
        return
    forms = _SUBJECTS if relation == "nsubj" else _TONIC
    form = "qui" if person.asking else forms[form_of(person) + 6 * person.feminine]
    position = line.put(form, person.unit, True, Link(head, relation, form, "PRON"))
    line.place[person.unit] = position
    if person.antecedent:
        line.references.append((position, person.antecedent))


def write_nominal(line: French, nominal: Nominal, head: int, relation: str) -> None:
    """Determiner, number, adjective, noun, adjective, owner, relative clause."""
    unit, noun = nominal.unit, nominal.noun
    pieces = (noun.plural if nominal.plural else noun.singular).french
    described = nominal.adjective
    early = described if described and described.adjective.before else None
    first = pieces[0].form
    adjective = agreeing(described, nominal, first) if described else ""
    if nominal.determiner:
        write_determiner(line, nominal, nominal.number or (adjective if early else first))
    if nominal.number:
        line.put(nominal.number, unit + NUMBER, True, Link(unit, "nummod", nominal.number, "NUM"))
    if early:
        write_adjective(line, early, adjective, unit)
    tag, tail = ("PROPN", "flat") if "name" in noun.kinds else ("NOUN", "fixed")
    line.place[unit] = line.put(first, unit + pieces[0].group, pieces[0].sure, Link(head, relation, noun.lemma, tag))
    for piece in pieces[1:]:
        line.put(piece.form, unit + piece.group, piece.sure, Link(unit, tail, piece.form, tag))
    if described and not early:
        write_adjective(line, described, adjective, unit)
    if nominal.joined:
        line.put("et", nominal.joined.unit + CASE, True, Link(nominal.joined.unit, "cc", "et", "CCONJ"))
        write_nominal(line, nominal.joined, unit, "conj")
    if nominal.owner:
        line.put("de", nominal.owner.unit + CASE, True, Link(nominal.owner.unit, "case", "de", "ADP"))
        write_nominal(line, nominal.owner, unit, "nmod")
    if nominal.relative:
        write_clause(line, nominal.relative, unit)


def _write_place(line: French, place: Place, head: int, relation: str) -> None:
    """devant la gare"""
    for piece in place.preposition.french:
        line.put(piece.form, place.unit + CASE + piece.group, piece.sure, Link(place.unit, "case", piece.form, "ADP"))
    write_nominal(line, place.nominal, head, relation)


def is_clitic(person: Person | None, preposition: Piece | None) -> bool:
    """Whether it stands before its verb: me, le, lui (but: je parle de lui)."""
    return isinstance(person, Pronoun) and (preposition is None or preposition.form == "à")
