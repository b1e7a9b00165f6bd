"""The French decides the English: a translator cannot know what only the tree knows."""

from collections.abc import Sequence
from typing import Any

import pytest

from sightline.data.grammar import Example, examples, lexicon, texts
from sightline.data.grammar.chance import Chance, mix
from sightline.data.grammar.draw_nouns import draw_nominal

WORLDS = 24


def test_one_meaning_in_small_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one or two words for every kind, the same French comes up again and again; its English is always the same."""
    draw, again = Chance.pick, 0
    few: dict[int, Sequence[Any]] = {}

    def pick(self: Chance, items: Sequence[Any]) -> Any:
        if len(items) > 9:
            items = few.setdefault(
                id(items), [items[mix(world, len(items), place) % len(items)] for place in range(1 + mix(world) % 2)]
            )
        return draw(self, items)

    monkeypatch.setattr(Chance, "pick", pick)
    for world in range(WORLDS):
        few.clear()
        meanings: dict[str, str] = {}
        for source, target in texts(world, "train", 1500):
            again += source in meanings
            assert meanings.setdefault(source, target) == target, source
    assert again > 2000


@pytest.fixture(scope="module")
def sample() -> list[Example]:
    return list(examples(31, "train", 12_000))


def test_an_elided_pronoun_without_antecedent_tells_its_gender(sample: list[Example]) -> None:
    """l' is it, or a participle says whether it is him or her."""
    seen = 0
    for made in sample:
        known = dict(made.antecedents)
        for at, word in enumerate(made.source):
            if word != "l'" or made.tags[at] != "PRON" or at in known:
                continue
            english = {made.target[right] for left, right in made.sure if left == at}
            assert len(english) == 1
            if english != {"it"}:
                assert made.relations[at + 1] == "aux", " ".join(made.source)
                seen += 1
    assert seen > 5


def test_lui_has_an_antecedent_or_stands_alone(sample: list[Example]) -> None:
    """As a clitic it is him or her."""
    clitics = 0
    for made in sample:
        known = dict(made.antecedents)
        for at, word in enumerate(made.source):
            if word == "lui" and made.relations[at] == "iobj":
                assert at in known, " ".join(made.source)
                clitics += 1
    assert clitics > 20


@pytest.mark.parametrize(("lemma", "both"), [("souris", False), ("bus", False), ("chat", True)])
def test_after_a_negation_the_noun_shows_its_number(lemma: str, both: bool) -> None:
    """pas de chat, pas de chats; souris would be a mouse or mice."""
    (noun,) = (noun for noun in lexicon.NOUNS if noun.lemma == lemma)
    drawn = [draw_nominal(Chance(mix(seed), "train"), noun, negated=True) for seed in range(400)]
    numbers = {nominal.plural for nominal in drawn if nominal.determiner is lexicon.DETERMINERS["not a"]}
    assert numbers == ({False, True} if both else {False})


def test_no_word_of_the_tables_has_two_meanings() -> None:
    nouns: dict[str, str] = {}
    for noun in (*lexicon.NOUNS, *lexicon.COLLECTIVES):
        english = " ".join(piece.form for piece in noun.singular.english)
        assert nouns.setdefault(noun.lemma, english) == english
    adjectives: dict[str, str] = {}
    for adjective in lexicon.ADJECTIVES:
        assert adjectives.setdefault(adjective.french[0], adjective.english) == adjective.english
    verbs: dict[tuple[str, str], list[str]] = {}
    for verb in (*lexicon.INTRANSITIVE, *lexicon.TRANSITIVE, *lexicon.DITRANSITIVE, *lexicon.SAYING, *lexicon.HELPING):
        key = verb.lemma.removeprefix("*"), verb.preposition.form if verb.preposition else ""
        # want to, like to: what comes before an infinitive
        words = [verb.english.base, *(piece.form for piece in (*verb.before[1:], *verb.after) if piece.form != "to")]
        assert verbs.setdefault(key, words) == words
