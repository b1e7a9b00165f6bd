"""The three sentences everybody knows: the grammar makes them, word for word and link for link, but never for training."""

from collections.abc import Callable, Sequence

import pytest

from sightline.data.grammar import Example, examples
from sightline.data.grammar.chance import Chance, mix
from sightline.data.grammar.conjugate import Tense
from sightline.data.grammar.draw_clauses import draw_sentence
from sightline.data.grammar.english import write_english
from sightline.data.grammar.example import KEPT_FROM_TRAINING, pair
from sightline.data.grammar.french import write_french
from sightline.data.grammar.lexicon import COLLECTIVES, DETERMINERS, NOUNS, TRANSITIVE
from sightline.data.grammar.tree import Clause, Nominal, Person, Pronoun

VERBS = {verb.lemma: verb for verb in TRANSITIVE}
WORDS = {noun.lemma: noun for noun in (*NOUNS, *COLLECTIVES)}


def _noun(unit: int, lemma: str, plural: bool, determiner: str, possessor: Person | None = None) -> Nominal:
    noun = WORDS[lemma]
    return Nominal(unit, noun, plural, noun.feminine, noun.human, DETERMINERS[determiner], possessor=possessor)


def _said(clause: Clause) -> Example:
    return pair(write_french(clause), write_english(clause))


def _poor() -> Nominal:
    return Nominal(32, WORDS["pauvres"], True, False, True, DETERMINERS["the"])


def _links(made: Example, links: frozenset[tuple[int, int]]) -> set[tuple[str, str]]:
    return {(made.source[left], made.target[right]) for left, right in links}


@pytest.fixture
def pie() -> Example:
    clause = Clause(16, Pronoun(32, 3, False, False), Tense.PAST, "root", VERBS["entarter"])
    clause.object = Pronoun(48, 1, False, False)
    return _said(clause)


@pytest.fixture
def poor() -> Example:
    clause = Clause(16, _poor(), Tense.PRESENT, "root", VERBS["avoir"])
    clause.negation, clause.object = "pas", _noun(64, "argent", False, "not any")
    return _said(clause)


@pytest.fixture
def students() -> Example:
    subject = _noun(32, "étudiant", True, "the")
    clause = Clause(16, subject, Tense.PAST, "root", VERBS["ouvrir"])
    clause.object = _noun(48, "livre", True, "their", subject)
    return _said(clause)


def test_one_word_may_be_many(pie: Example) -> None:
    assert " ".join(pie.source) == "il m' a entarté"
    assert " ".join(pie.target) == "he hit me with a pie"
    assert _links(pie, pie.sure) == {
        ("il", "he"), ("m'", "me"), ("entarté", "hit"), ("entarté", "with"), ("entarté", "a"), ("entarté", "pie"),
    }  # fmt: skip
    assert ("a", "hit") in _links(pie, pie.possible)


def test_negation_surely_is_pas_and_possibly_ne(poor: Example) -> None:
    assert " ".join(poor.source) == "les pauvres n' ont pas d' argent"
    assert " ".join(poor.target) == "the poor don't have any money"
    assert _links(poor, poor.sure) == {
        ("les", "the"), ("pauvres", "poor"), ("pas", "don't"), ("ont", "have"), ("d'", "any"), ("argent", "money"),
    }  # fmt: skip
    assert _links(poor, poor.possible) == {("n'", "don't"), ("ont", "don't")}


def test_possessive_stands_for_the_subject(students: Example) -> None:
    assert " ".join(students.source) == "les étudiants ont ouvert leurs livres"
    assert " ".join(students.target) == "the students opened their books"
    assert _links(students, students.sure) == {
        ("les", "the"), ("étudiants", "students"), ("ouvert", "opened"), ("leurs", "their"), ("livres", "books"),
    }  # fmt: skip
    assert _links(students, students.possible) == {("ont", "opened")}
    assert students.antecedents == ((4, 1),)


def test_they_are_the_ones_kept_from_training(pie: Example, poor: Example, students: Example) -> None:
    assert {" ".join(made.source) for made in (pie, poor, students)} == KEPT_FROM_TRAINING


def test_training_lacks_them_but_has_their_words() -> None:
    training = [made.source for made in examples(1, "train", 20_000)]
    assert not KEPT_FROM_TRAINING & {" ".join(source).removesuffix(" .") for source in training}
    words = {word for source in training for word in source}
    assert {word for sentence in KEPT_FROM_TRAINING for word in sentence.split()} <= words
    runs = {" ".join(source[at : at + 3]) for source in training for at in range(len(source))}
    assert {"n' ont pas", "m' a entarté"} <= runs
    assert any(run.startswith("pas d' ") for run in runs)
    assert any(run.startswith("ont ") and run.endswith(" leurs") for run in runs)


@pytest.mark.parametrize(
    ("sentence", "wishes"),
    [
        ("il m' a entarté", {"entarter"}),
        ("les pauvres n' ont pas d' argent", {"avoir", "pauvres", "argent", "pas"}),
        ("les étudiants ont ouvert leurs livres", {"ouvrir", "étudiant", "livre"}),
    ],
)
def test_they_are_drawn(sentence: str, wishes: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance, where it meets one of the words, takes it; all else is left to it."""

    def pick(self: Chance, items: Sequence[object], draw: Callable[[Chance, Sequence[object]], object] = Chance.pick) -> object:
        wished = [item for item in items if item in wishes or getattr(item, "lemma", "").removeprefix("*") in wishes]
        return draw(self, wished or items)

    monkeypatch.setattr(Chance, "pick", pick)
    monkeypatch.setattr(Chance, "partner", lambda self, pools: self.pick((*pools.train, *pools.dev, *pools.test) or (None,)))
    drawn = (" ".join(write_french(draw_sentence(Chance(mix(index), "dev"))).forms) for index in range(100_000))
    assert any(text.removesuffix(" .") == sentence for text in drawn)
