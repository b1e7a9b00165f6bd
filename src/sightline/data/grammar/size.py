"""How much the grammar holds."""

from __future__ import annotations

from sightline.data.grammar import lexicon
from sightline.data.grammar.draw_nouns import HUMANS
from sightline.data.grammar.lexicon import NOUNS, PREPOSITIONS, TRANSITIVE, Noun


def lemma_pairs() -> set[tuple[str, str]]:
    """French and English words that translate each other, names not counted."""
    pairs = {(_french(noun), _english(noun)) for noun in (*NOUNS, *lexicon.COLLECTIVES)}
    pairs |= {(adjective.french[0], adjective.english) for adjective in lexicon.ADJECTIVES}
    for verbs in (lexicon.INTRANSITIVE, TRANSITIVE, lexicon.DITRANSITIVE, lexicon.SAYING, lexicon.HELPING):
        for verb in verbs:
            pairs.add((verb.lemma, " ".join([verb.english.base, *(piece.form for piece in (*verb.before[1:], *verb.after))])))
    for wording in (*lexicon.ADVERBS, *lexicon.MANNERS, *lexicon.DEGREES, *lexicon.LINKERS.values(), *lexicon.QUESTIONS):
        pairs.add((" ".join(piece.form for piece in wording.french), " ".join(piece.form for piece in wording.english)))
    return pairs


def distinct_at_least() -> int:
    """A lower bound of the number of different sentences, from one pattern alone, as training may have it:

    le N ADJ ouvrira le N ADJ devant le N ADJ: a person, a verb with a direct object, a place; each noun in the singular
    with the definite article and one adjective, each verb in the future. Other choices give other words.
    """
    people = sum(_described(noun) for noun in HUMANS)
    verbs = [verb for verb in TRANSITIVE if verb.preposition is None and "human" in verb.subjects]
    actions = sum(_described(noun) for verb in verbs for noun in verb.objects.train)
    places = sum(_described(noun) for _, kind in PREPOSITIONS for noun in NOUNS if kind in noun.kinds)
    return people * actions * places


def _described(noun: Noun) -> int:
    return 0 if "mass" in noun.kinds else len(noun.adjectives.train)


def _french(noun: Noun) -> str:
    return " ".join(piece.form for piece in noun.singular.french)


def _english(noun: Noun) -> str:
    return " ".join(piece.form for piece in noun.singular.english)
