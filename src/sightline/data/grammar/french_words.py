"""Writing in French what stands around a noun, and set phrases."""

from __future__ import annotations

from sightline.data.grammar.conjugate import elides
from sightline.data.grammar.lines import French, Link
from sightline.data.grammar.tree import DEGREE, DETERMINER, Adverb, Described, Nominal
from sightline.data.grammar.wording import Piece, Wording

_CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
_TAGS = {
    "det": "DET", "case": "ADP", "amod": "ADJ", "advmod": "ADV", "nummod": "NUM", "nmod": "NOUN", "expl": "PRON",
    "mark": "SCONJ", "cc": "CCONJ", "fixed": "SCONJ",
}  # fmt: skip


def agreeing(described: Described, nominal: Nominal, following: str) -> str:
    """The form of an adjective beside its noun; `following` is the noun."""
    adjective = described.adjective
    if adjective.before and not nominal.plural and not nominal.feminine and elides(following):
        return adjective.liaison
    return adjective.french[nominal.feminine + 2 * nominal.plural]


def write_adjective(line: French, described: Described, form: str, unit: int) -> None:
    """An adjective beside its noun."""
    write_described(line, described, form, Link(unit, "amod", described.adjective.french[0], "ADJ"))


def write_described(line: French, described: Described, form: str, link: Link) -> None:
    """An adjective, beside its noun or said of it; très stands before it."""
    if described.degree:
        write_pieces(line, described.degree, described.unit + DEGREE, described.unit, "advmod", "ADV")
    line.place[described.unit] = line.put(form, described.unit, True, link)


def write_determiner(line: French, nominal: Nominal, following: str) -> None:
    """Article and the like; `following` is the next word, on which contraction depends."""
    assert nominal.determiner is not None
    wording = nominal.determiner.forms[nominal.feminine + 2 * nominal.plural]
    assert wording is not None
    unit = nominal.unit
    pieces = wording.french
    if pieces and pieces[0].form == "des" and nominal.adjective and nominal.adjective.adjective.before:
        pieces = (pieces[0]._replace(form="de"),)  # de petits chats
    # a determiner is cited in the masculine singular where it has one
    cited = (nominal.determiner.forms[0] or wording).french
    for piece, citation in zip(pieces, cited, strict=True):
        link = Link(unit, "det", citation.form, "DET")
        position = _put_article(line, piece, unit + DETERMINER + piece.group, link, following)
        if nominal.possessor and nominal.possessor.person == 3:
            line.references.append((position, nominal.possessor.antecedent or nominal.possessor.unit))


def _put_article(line: French, piece: Piece, unit: int, link: Link, following: str) -> int:
    """du, des, au, aux are one word for the preposition and the article."""
    before = line.forms[-1] if line.forms else ""
    short = _CONTRACTED.get((before, piece.form))
    if short and (piece.form == "les" or not elides(following)):
        line.forms[-1] = short
        line.marks.append((unit, len(line.forms) - 1, piece.sure))
        return len(line.forms) - 1
    return line.put(piece.form, unit, piece.sure, link)


def write_pieces(line: French, wording: Wording, unit: int, head: int, relation: str, tag: str, number: str = "") -> None:
    """A set phrase whose chief word depends on `head`; `number` fills its place for one."""
    for piece in wording.french:
        form = number if piece.form == "#" else piece.form
        own = piece.relation
        kind = "NUM" if number == form else _TAGS[own] if own else tag
        link = Link(unit if own else head, own or relation, form, kind)
        position = line.put(form, unit + piece.group, piece.sure, link)
        if not own:
            line.place[unit] = position


def write_adverb(line: French, adverb: Adverb, head: int) -> None:
    """A set phrase of time or manner."""
    relation, tag = ("advmod", "ADV") if len(adverb.wording.french) == 1 else ("obl", "NOUN")
    write_pieces(line, adverb.wording, adverb.unit, head, relation, tag, adverb.number)
