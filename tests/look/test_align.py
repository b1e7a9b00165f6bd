"""Links out of attention: a known picture gives known links, and the best head is found on dev alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sightline.errors import UserError
from sightline.evaluate.alignment import Gold, aer
from sightline.look.align import BestHead, Look, alignments, best_heads, links_of_all
from sightline.look.record import NO_CROSS, Explanation, Sentence

NAMES = ("decoder.layers.0.cross", "decoder.layers.1.cross")


def sentence(words: int) -> Sentence:
    names = tuple(f"w{number}" for number in range(words))
    return Sentence(tuple(f"▁{name}" for name in names), names, tuple(range(words)))


def looking_at(places: Sequence[int], source_words: int) -> np.ndarray:
    """One head whose rows, BOS first, look mostly at these places; the place behind the last word is EOS."""
    weights = np.full((1, len(places), source_words + 1), 0.4 / (source_words + 1), dtype=np.float32)
    weights[0, range(len(places)), list(places)] += 0.6
    return weights


def test_a_diagonal_gives_the_diagonal() -> None:
    """Row t looks at word t: while writing, the row of BOS writes word 0; after reading, it is one row later."""
    maps = {"decoder.cross": looking_at([0, 1, 2, 3], 3)}
    explanation = Explanation(sentence(3), sentence(3), maps)
    assert alignments(explanation, "decoder.cross", 0, "while_writing") == {(0, 0), (1, 1), (2, 2)}
    assert alignments(explanation, "decoder.cross", 0, "after_reading") == {(1, 0), (2, 1)}  # the last looks at EOS


def test_links_are_source_first() -> None:
    maps = {"decoder.cross": looking_at([4, 0, 2], 4)}
    explanation = Explanation(sentence(4), sentence(2), maps)
    assert alignments(explanation, "decoder.cross", reading="after_reading") == {(0, 0), (2, 1)}
    assert alignments(explanation, "decoder.cross", reading="while_writing") == {(0, 1)}


def test_many_pieces_of_a_word_count_together() -> None:
    """The largest single weight is on c, but a and b of the first word have more together."""
    source = Sentence(("▁a", "b", "▁c"), ("ab", "c"), (0, 0, 1))
    maps = {"decoder.cross": np.array([[[0, 0, 0, 1], [0.3, 0.3, 0.4, 0]]], dtype=np.float32)}
    assert alignments(Explanation(source, sentence(1), maps), "decoder.cross", None, "after_reading") == {(0, 0)}


def test_one_head_or_their_mean() -> None:
    """The largest weight of any head is on word 0, the largest mean on word 1."""
    heads = np.array([[[0, 0, 1], [0.6, 0.4, 0]], [[0, 0, 1], [0, 0.5, 0.5]]], dtype=np.float32)
    explanation = Explanation(sentence(2), sentence(1), {"decoder.cross": heads})
    assert alignments(explanation, "decoder.cross", 0, "after_reading") == {(0, 0)}
    assert alignments(explanation, "decoder.cross", None, "after_reading") == {(1, 0)}
    assert links_of_all([explanation])[Look("decoder.cross", None, "after_reading")] == [{(1, 0)}]


def test_nothing_links_nothing() -> None:
    explanation = Explanation(sentence(0), sentence(0), {"decoder.cross": np.ones((1, 1, 1), dtype=np.float32)})
    assert alignments(explanation, "decoder.cross") == set()


def corpus(rng: np.random.Generator, sentences: int) -> tuple[list[Explanation], list[Gold]]:
    """Layer 1 head 1 knows the gold after reading, layer 0 head 0 knows it with one word wrong while writing."""
    explanations, gold = [], []
    for _ in range(sentences):
        right = [int(word) for word in rng.permutation(6)]
        wrong = [right[1], *right[1:]]
        noise = [looking_at(rng.integers(0, 7, 7).tolist(), 6) for _ in range(2)]
        maps = {
            NAMES[0]: np.concatenate([looking_at([*wrong, 6], 6), noise[0]]),
            NAMES[1]: np.concatenate([noise[1], looking_at([6, *right], 6)]),
        }
        explanations.append(Explanation(sentence(6), sentence(6), maps))
        gold.append(Gold.of((source, target) for target, source in enumerate(right)))
    return explanations, gold


def test_every_look_is_tried() -> None:
    explanations, _ = corpus(np.random.default_rng(0), 3)
    table = links_of_all(explanations)
    assert len(table) == 2 * 3 * 2  # layers × (heads and their mean) × readings
    for look, links in table.items():
        assert links == [alignments(e, look.name, look.head, look.reading) for e in explanations]


def test_the_best_head_is_found_on_dev_and_scored_on_test() -> None:
    dev, dev_gold = corpus(np.random.default_rng(0), 20)
    test, test_gold = corpus(np.random.default_rng(1), 30)
    table = links_of_all(test)
    best = best_heads(links_of_all(dev), dev_gold, table, test_gold)
    assert list(best) == ["while_writing", "after_reading"]
    writing, reading = best["while_writing"], best["after_reading"]
    assert reading.look == Look(NAMES[1], 1, "after_reading")
    assert reading.dev_aer == 0
    assert reading.test[0].value == 0
    assert writing.look == Look(NAMES[0], 0, "while_writing")
    assert writing.dev_aer == pytest.approx(100 / 6)
    assert writing.test[0].name == "AER"
    assert writing.test[0].value == aer(table[writing.look], test_gold)
    assert writing.test[0].low is not None
    assert "sentences:30" in writing.test[0].recipe


def test_test_does_not_choose() -> None:
    """A head that is perfect on test and poor on dev is not taken."""
    dev, dev_gold = corpus(np.random.default_rng(0), 20)
    test, test_gold = corpus(np.random.default_rng(1), 20)
    table = links_of_all(test)
    lucky = Look(NAMES[0], 1, "while_writing")
    best: dict[str, BestHead] = {
        **best_heads(links_of_all(dev), dev_gold, table | {lucky: [g.sure for g in test_gold]}, test_gold)
    }
    assert best["while_writing"].look == Look(NAMES[0], 0, "while_writing")


def test_no_attention_no_links() -> None:
    explanation = Explanation(sentence(1), sentence(1), {})
    with pytest.raises(UserError) as caught:
        links_of_all([explanation])
    assert str(caught.value) == NO_CROSS


def test_a_look_reads_as_words() -> None:
    assert str(Look(NAMES[0], None, "after_reading")) == "decoder.layers.0.cross, mean of heads, after reading"
