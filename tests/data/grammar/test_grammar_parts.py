"""Train, dev and test share no sentence; dev and test hold pairs of words that training never has."""

import os
import subprocess
import sys
from collections import Counter

import pytest
import sacrebleu

from sightline.data.grammar import Example, Part, example, examples, texts
from sightline.data.grammar.compositions import part_of
from sightline.data.grammar.lexicon import ADJECTIVES, COLLECTIVES, DITRANSITIVE, NOUNS, TRANSITIVE
from sightline.data.grammar.size import distinct_at_least, lemma_pairs
from sightline.errors import UserError

SHOWN = """
from sightline.data.grammar import examples
for part in ("train", "dev", "test"):
    for made in examples(5, part, 20):
        print(*made.source, "|", *made.target, sorted(made.sure), sorted(made.possible), made.antecedents)
"""


@pytest.fixture(scope="module")
def train() -> list[Example]:
    return list(examples(1, "train", 20_000))


@pytest.fixture(scope="module")
def test_part() -> list[Example]:
    return list(examples(1, "test", 1500))


@pytest.fixture(scope="module")
def dev() -> list[Example]:
    return list(examples(1, "dev", 600))


def compositions(made: Example) -> set[str]:
    """Adjective–noun and verb–object pairs, read off the dependencies and antecedents alone."""
    stands_for = dict(made.antecedents)

    def noun(at: int) -> str:
        at = stands_for.get(at, at)
        return made.lemmas[at] if made.tags[at] == "NOUN" else ""

    pairs = []
    for at, (relation, head) in enumerate(zip(made.relations, made.heads, strict=True)):
        if relation == "amod" and made.tags[head] == "NOUN" and made.tags[at] == "ADJ":
            pairs.append((made.lemmas[at], noun(head)))
        elif (relation == "nsubj" and made.tags[head] == "ADJ") or relation in ("obj", "obl:arg"):
            pairs.append((made.lemmas[head], noun(at)))
        elif relation == "conj" and made.relations[head] in ("obj", "obl:arg"):
            pairs.append((made.lemmas[made.heads[head]], noun(at)))
    known = {noun.lemma for noun in (*NOUNS, *COLLECTIVES)}
    return {f"{word} {thing}" for word, thing in pairs if thing in known}


def _parts(made: Example) -> set[Part]:
    return {part_of(pair) for pair in compositions(made) if pair.split()[0] not in ("prochain", "dernier")}


def test_no_training_sentence_has_a_held_out_pair(train: list[Example]) -> None:
    for made in train:
        assert _parts(made) <= {"train"}, " ".join(made.source)


def test_every_test_sentence_has_a_pair_that_training_lacks(test_part: list[Example]) -> None:
    for made in test_part:
        assert "test" in _parts(made), " ".join(made.source)
        assert "dev" not in _parts(made), " ".join(made.source)


def test_half_of_dev_is_like_training_and_half_has_pairs_of_its_own(dev: list[Example]) -> None:
    for index, made in enumerate(dev):
        assert _parts(made) <= {"train", "dev"}
        assert ("dev" in _parts(made)) == (index % 2 == 1)


def test_pairs_of_test_never_occur_in_training(train: list[Example], test_part: list[Example]) -> None:
    seen = {pair for made in train for pair in compositions(made)}
    new = [compositions(made) - seen for made in test_part]
    assert all(new)


def test_parts_share_no_sentence(train: list[Example], dev: list[Example], test_part: list[Example]) -> None:
    texts = [{" ".join(made.source).removesuffix(" .") for made in part} for part in (train, dev, test_part)]
    assert not texts[0] & texts[1]
    assert not texts[0] & texts[2]
    assert not texts[1] & texts[2]
    other = {" ".join(made.source).removesuffix(" .") for made in examples(99, "train", 20_000)}
    assert not other & (texts[1] | texts[2])  # of whatever seed


def test_every_word_of_test_occurs_in_training(train: list[Example], test_part: list[Example]) -> None:
    names = {"NUM", "PROPN"}
    lemmas = [
        {lemma for made in part for lemma, tag in zip(made.lemmas, made.tags, strict=True) if tag not in names}
        for part in (train, test_part)
    ]
    assert lemmas[1] <= lemmas[0]
    known = Counter(word for made in train for word in (*made.source, *made.target))
    words = [word for made in test_part for word in (*made.source, *made.target)]
    assert sum(word in known for word in words) / len(words) > 0.99


def test_every_word_has_partners_in_training() -> None:
    assert all(verb.objects.train for verb in (*TRANSITIVE, *DITRANSITIVE))
    used = {adjective for noun in NOUNS for adjective in noun.adjectives.train}
    assert set(ADJECTIVES) == used
    objects = {noun for verb in (*TRANSITIVE, *DITRANSITIVE) for noun in verb.objects.train}
    assert set(NOUNS) <= objects


def test_a_dictionary_does_not_translate(train: list[Example], test_part: list[Example]) -> None:
    """Neither with the likeliest word for each, nor if it may leave out those that mostly have none."""
    surely: dict[str, Counter[str]] = {}
    for made in train:
        for left, right in made.sure:
            surely.setdefault(made.source[left], Counter())[made.target[right]] += 1
    seen = Counter(word for made in train for word in made.source)
    best = {word: counter.most_common(1)[0][0] for word, counter in surely.items()}
    bold = {word: english for word, english in best.items() if surely[word].total() > 0.5 * seen[word]}
    references = [" ".join(made.target) for made in test_part]
    for guesses in (
        [" ".join(best.get(word, word) for word in made.source) for made in test_part],
        [" ".join(bold[word] for word in made.source if word in bold) for made in test_part],
    ):
        score = sacrebleu.corpus_bleu(guesses, [references], tokenize="none", force=True).score
        assert 15 < score < 40


def test_lengths(train: list[Example], dev: list[Example], test_part: list[Example]) -> None:
    source = {len(made.source) for made in train + dev + test_part}
    target = {len(made.target) for made in train + dev + test_part}
    assert min(source) == min(target) == 3
    assert 35 <= max(source) <= 40
    assert 35 <= max(target) <= 40


def test_a_sentence_is_a_function_of_seed_part_and_index() -> None:
    run = list(examples(4, "dev", 12, start=100))
    assert run[7] == example(4, "dev", 107)
    assert example(4, "dev", 107) == example(4, "dev", 107)
    assert example(5, "dev", 107) != example(4, "dev", 107)
    assert example(4, "test", 107) != example(4, "train", 107)
    assert len({made.source for made in examples(4, "train", 1000)}) > 950


def test_words_alone_are_those_of_the_examples() -> None:
    words = [(" ".join(made.source), " ".join(made.target)) for made in examples(4, "test", 50, start=7)]
    assert list(texts(4, "test", 50, start=7)) == words


def test_the_same_in_every_process() -> None:
    """Whatever Python makes of hash()."""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SHOWN], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True, text=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_an_unknown_part_is_named() -> None:
    with pytest.raises(UserError, match=r"'valid'.*train, dev, test"):
        example(1, "valid", 0)  # type: ignore[arg-type]


def test_the_grammar_is_large() -> None:
    assert len(lemma_pairs()) >= 400
    assert distinct_at_least() > 10**12
