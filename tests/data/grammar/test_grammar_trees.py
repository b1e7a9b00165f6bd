"""Dependencies, antecedents and alignments: well formed, and of all the kinds promised."""

import pytest

from sightline.data.grammar import Example, examples

PROMISED = {
    "nsubj", "obj", "iobj", "det", "amod", "advmod", "aux", "cop", "mark", "obl", "case", "acl:relcl", "conj", "cc", "nmod"
}  # fmt: skip
CLASSES = {"NOUN", "PROPN", "PRON", "DET", "ADJ", "ADV", "ADP", "VERB", "AUX", "CCONJ", "SCONJ", "NUM", "PUNCT"}


@pytest.fixture(scope="module")
def sample() -> list[Example]:
    return [made for part in ("train", "dev", "test") for made in examples(21, part, 1200)]


def test_conllu_has_ten_columns_one_root_and_no_cycle(sample: list[Example]) -> None:
    for made in sample:
        block = made.conllu()
        assert block.endswith("\n\n")
        lines = block.rstrip("\n").split("\n")
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        assert lines[0] == "# text = " + " ".join(made.source)
        assert [row[0] for row in rows] == [str(number) for number in range(1, len(made.source) + 1)]
        assert all(len(row) == 10 and all(row) for row in rows)
        heads = [int(row[6]) for row in rows]
        assert heads.count(0) == 1
        assert [row[7] for row in rows].count("root") == 1
        assert all((head == 0) == (row[7] == "root") for head, row in zip(heads, rows, strict=True))
        for number in range(1, len(rows) + 1):
            steps = 0
            while number:
                number, steps = heads[number - 1], steps + 1
                assert steps <= len(rows), block


def test_all_promised_relations_occur(sample: list[Example]) -> None:
    assert {relation for made in sample for relation in made.relations} >= PROMISED
    assert {tag for made in sample for tag in made.tags} <= CLASSES


def test_relations_suit_the_words(sample: list[Example]) -> None:
    wanted = {
        "det": {"DET"},
        "amod": {"ADJ"},
        "case": {"ADP"},
        "cc": {"CCONJ"},
        "aux": {"AUX"},
        "cop": {"AUX"},
        "nummod": {"NUM"},
    }
    for made in sample:
        for relation, tag, head in zip(made.relations, made.tags, made.heads, strict=True):
            assert tag in wanted.get(relation, CLASSES)
            if relation in ("nsubj", "obj", "iobj", "aux"):
                assert made.tags[head] in {"VERB", "ADJ", "NOUN"}


def test_antecedents_are_nouns_or_pronouns_before_them(sample: list[Example]) -> None:
    kinds = {"relative": 0, "personal": 0, "reflexive": 0, "possessive": 0}
    for made in sample:
        for pronoun, antecedent in made.antecedents:
            word = made.source[pronoun]
            assert antecedent < pronoun
            assert made.tags[antecedent] in {"NOUN", "PROPN", "PRON"}
            if word in ("qui", "que", "qu'"):
                kinds["relative"] += 1
                assert made.relations[made.heads[pronoun]] == "acl:relcl"
                assert made.heads[made.heads[pronoun]] == antecedent
            elif made.relations[pronoun] == "expl":
                kinds["reflexive"] += 1
            elif made.tags[pronoun] == "DET":
                kinds["possessive"] += 1
                assert made.lemmas[pronoun] in {"son", "leur"}
            else:
                kinds["personal"] += 1
    assert min(kinds.values()) > 30, kinds


def test_every_relative_pronoun_has_its_antecedent(sample: list[Example]) -> None:
    for made in sample:
        stands_for = dict(made.antecedents)
        for at, head in enumerate(made.heads):
            if made.relations[head] == "acl:relcl" and made.source[at] in ("qui", "que", "qu'") and made.tags[at] == "PRON":
                assert stands_for[at] == made.heads[head]


def test_links_are_in_range_and_sure_or_possible_not_both(sample: list[Example]) -> None:
    for made in sample:
        assert not made.sure & made.possible
        for left, right in made.sure | made.possible:
            assert 0 <= left < len(made.source)
            assert 0 <= right < len(made.target)


def test_hardly_a_word_has_no_link(sample: list[Example]) -> None:
    """Unlinked are: articles before owned things and trades, est-ce que where nothing in English asks, …"""
    for side, words in ((0, [made.source for made in sample]), (1, [made.target for made in sample])):
        linked = sum(len({link[side] for link in made.sure | made.possible}) for made in sample)
        assert linked / sum(map(len, words)) > 0.97


def test_names_numbers_and_stops_are_copied_and_surely_linked(sample: list[Example]) -> None:
    copied = 0
    for made in sample:
        sure = dict(made.sure)
        for at, (word, tag) in enumerate(zip(made.source, made.tags, strict=True)):
            if tag == "NUM" or word in (".", "?"):
                assert made.target[sure[at]] == word
                copied += 1
            elif tag == "PROPN" and word not in ("monsieur", "madame"):
                assert made.target[sure[at]] in (word, word + "'s", word + "'")
                copied += 1
    assert copied > 1000


def test_negation_links(sample: list[Example]) -> None:
    seen = 0
    for made in sample:
        for at, word in enumerate(made.source):
            if word == "pas":
                assert any(made.target[right].endswith(("n't", "not")) for left, right in made.sure if left == at)
                seen += 1
            if word in ("ne", "n'") and made.lemmas[at] in ("ne", "n'"):
                assert any(left == at for left, _ in made.possible)
                assert not any(left == at for left, _ in made.sure)
    assert seen > 200
