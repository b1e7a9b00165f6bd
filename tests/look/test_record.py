"""Pieces, words, readings, and the text form that gives the same arrays back."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.look.record import NO_CROSS, Explanation, Sentence, explain_many
from sightline.look.replay import replay
from sightline.models.build import build
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.text.learn import learn
from sightline.text.pipeline import KINDS
from sightline.text.tokenizer import Tokenizer

FRENCH, ENGLISH = "les pauvres n' ont pas d' argent", "the poor don't have any money"
CROSS = "decoder.layers.1.cross"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return learn(["les pauvres ont les pommes", "the poor have the apples"] * 3, "bpe", 290)


@pytest.fixture(scope="module")
def model(tokenizer: Tokenizer) -> Seq2Seq:
    stack = TransformerConfig(layers=2, heads=2, hidden=32)
    return cast(Seq2Seq, build(ModelConfig(stack, stack, dim=16), tokenizer.size, tokenizer.size))


@pytest.fixture(scope="module")
def explanation(model: Seq2Seq, tokenizer: Tokenizer) -> Explanation:
    return next(explain_many(model, (tokenizer, tokenizer), [(FRENCH, ENGLISH)]))


def by_hand(**maps: np.ndarray) -> Explanation:
    """ab c | x yz, where ab and yz are two pieces each; a map counts up from 0, so that every number tells its place."""
    source = Sentence(("▁a", "b", "▁c"), ("ab", "c"), (0, 0, 1))
    target = Sentence(("▁x", "▁y", "z"), ("x", "yz"), (0, 1, 1))
    return Explanation(source, target, {name.replace("_", "."): array for name, array in maps.items()})


def counting(heads: int = 2) -> np.ndarray:
    return np.arange(heads * 16, dtype=np.float32).reshape(heads, 4, 4)


def test_a_replay_becomes_pieces_and_words(explanation: Explanation, tokenizer: Tokenizer) -> None:
    assert explanation.source.words == tuple(FRENCH.split())
    assert explanation.target.words == tuple(ENGLISH.split())
    assert list(explanation.target.pieces) == tokenizer.pieces(tokenizer.encode(ENGLISH))
    assert "<0x64>" in explanation.target.pieces  # the d of don't is no piece: a word may hold bytes
    assert len(explanation.source.pieces) > len(explanation.source.words)
    assert explanation.crosses == ("decoder.layers.0.cross", CROSS)
    assert (explanation.cross(), explanation.cross(0)) == (CROSS, "decoder.layers.0.cross")


def test_readings_are_one_row_apart(model: Seq2Seq, tokenizer: Tokenizer) -> None:
    """Rows of the replay are BOS, y1 … yn: yt is predicted by row t-1 and read by row t."""
    maps = replay(model, tokenizer.encode(FRENCH), tokenizer.encode(ENGLISH))
    explanation = Explanation.of(maps, tokenizer, tokenizer)
    whole, pieces = maps.weights[CROSS], len(explanation.target.pieces)
    writing = explanation.weights(CROSS, 1, "while_writing", "pieces")
    reading = explanation.weights(CROSS, 1, "after_reading", "pieces")
    assert writing.shape == reading.shape == (pieces, len(explanation.source.pieces) + 1)
    np.testing.assert_array_equal(writing[1:], reading[:-1])
    for t in range(1, pieces + 1):
        np.testing.assert_array_equal(writing[t - 1], whole[1, t - 1])
        np.testing.assert_array_equal(reading[t - 1], whole[1, t])
    assert not np.array_equal(writing, reading)


def test_the_encoder_has_one_reading(explanation: Explanation) -> None:
    name = "encoder.layers.0.attend"
    one, other = (explanation.heads(name, reading) for reading in ("while_writing", "after_reading"))
    np.testing.assert_array_equal(one, other)
    assert one.shape == (2, 7, 8)


def test_merging_sums_over_pieces_looked_at_and_averages_over_pieces_that_look() -> None:
    explanation = by_hand(decoder_cross=counting())
    # head 0 is [[0 1 2 3] [4 5 6 7] [8 9 10 11] [12 13 14 15]]; columns a b c EOS
    written = [[0 + 1, 2, 3], [(4 + 5 + 8 + 9) / 2, (6 + 10) / 2, (7 + 11) / 2]]
    read = [[4 + 5, 6, 7], [(8 + 9 + 12 + 13) / 2, (10 + 14) / 2, (11 + 15) / 2]]
    np.testing.assert_array_equal(explanation.weights("decoder.cross", 0), written)
    np.testing.assert_array_equal(explanation.weights("decoder.cross", 0, "after_reading"), read)
    np.testing.assert_array_equal(explanation.weights("decoder.cross"), np.add(written, [[16, 8, 8]] * 2))
    assert explanation.labels("decoder.cross") == (("x", "yz"), ("ab", "c", "</s>"))
    assert explanation.labels("decoder.cross", "pieces") == (("▁x", "▁y", "z"), ("▁a", "b", "▁c", "</s>"))


def test_merging_within_one_side() -> None:
    explanation = by_hand(decoder_attend=counting(1), encoder_attend=counting(1))
    # columns BOS x y z, rows y and z
    np.testing.assert_array_equal(explanation.weights("decoder.attend"), [[0, 1, 2 + 3], [6, 7, 8 + 9]])
    assert explanation.labels("decoder.attend") == (("x", "yz"), ("<s>", "x", "yz"))
    np.testing.assert_array_equal(explanation.weights("encoder.attend"), [[(0 + 1 + 4 + 5) / 2, 4, 5], [8 + 9, 10, 11]])
    assert explanation.labels("encoder.attend") == (("ab", "c"), ("ab", "c", "</s>"))


def test_merged_rows_still_sum_to_one(explanation: Explanation) -> None:
    for name in explanation.maps:
        for reading in ("while_writing", "after_reading"):
            weights = explanation.heads(name, reading)
            np.testing.assert_allclose(weights.sum(-1), 1, rtol=0, atol=1e-6)
            assert weights.shape[1:] == tuple(map(len, explanation.labels(name)))


def test_unknown_maps_heads_and_layers_are_named(explanation: Explanation) -> None:
    with pytest.raises(UserError, match=r"no map 'decoder\.layers\.7\.cross'; the maps are encoder\.layers\.0\.attend, "):
        explanation.weights("decoder.layers.7.cross")
    with pytest.raises(UserError, match="has no head 2; its heads are 0 to 1"):
        explanation.weights(CROSS, 2)
    with pytest.raises(UserError, match="has no head -1"):
        explanation.weights(CROSS, -1)
    with pytest.raises(UserError, match="no layer 2; the decoder's layers are 0 to 1"):
        explanation.cross(2)


def test_a_model_without_attention_says_so(tokenizer: Tokenizer) -> None:
    config = ModelConfig(RecurrentEncoderConfig(), RecurrentDecoderConfig(score="none"), dim=16)
    model = cast(Seq2Seq, build(config, tokenizer.size, tokenizer.size))
    explanation = next(explain_many(model, (tokenizer, tokenizer), [(FRENCH, ENGLISH)]))
    assert explanation.crosses == ()
    for ask in (explanation.cross, lambda: explanation.weights("decoder.cross")):
        with pytest.raises(UserError) as caught:
            ask()
        assert str(caught.value) == NO_CROSS
    assert Explanation.from_json(explanation.to_json()).crosses == ()


def test_json_gives_the_same_back(explanation: Explanation) -> None:
    log_probs = tuple(np.linspace(-3, -0.1, len(explanation.target.pieces) + 1))
    whole = Explanation(explanation.source, explanation.target, explanation.maps, log_probs)
    text = whole.to_json()
    back = Explanation.from_json(text)
    assert (back.source, back.target, back.log_probs) == (whole.source, whole.target, log_probs)
    assert list(back.maps) == list(whole.maps)
    for name, weights in whole.maps.items():
        assert back.maps[name].dtype == np.float32
        np.testing.assert_array_equal(back.maps[name], weights)
    assert back.to_json() == text
    assert json.loads(text)["format"] == 1


def test_json_of_an_empty_pair(model: Seq2Seq, tokenizer: Tokenizer) -> None:
    explanation = next(explain_many(model, (tokenizer, tokenizer), [("", "")]))
    back = Explanation.from_json(explanation.to_json())
    assert back.weights(CROSS).shape == (0, 1)
    assert back.maps[CROSS].shape == (2, 1, 1)


def damaged(change: str) -> str:
    record: dict[str, Any] = json.loads(by_hand(decoder_cross=counting()).to_json())
    match change:
        case "format":
            record["format"] = 2
        case "maps":
            del record["maps"]
        case "ragged":
            record["maps"]["decoder.cross"][0][0].append(0.0)
        case "text":
            record["maps"]["decoder.cross"][0][0][0] = "much"
        case "nan":
            record["maps"]["decoder.cross"][0][0][0] = float("nan")
        case "shape":
            record["source"]["pieces"].append("▁d")
            record["source"]["word_of"].append(1)
        case "word":
            record["source"]["word_of"][0] = 5
        case "log_probs":
            record["log_probs"] = [-1.0]
        case "key":
            record["sauce"] = record.pop("source")
    return json.dumps(record)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("format", "format 1 expected"),
        ("maps", "maps must be an object"),
        ("ragged", r"maps\.decoder\.cross must be an array of numbers"),
        ("text", r"maps\.decoder\.cross must be an array of numbers"),
        ("nan", r"maps\.decoder\.cross has a number that is not finite"),
        ("shape", r"decoder\.cross has shape \(2, 4, 4\); \(heads, 4, 5\) was expected"),
        ("word", "word_of must lie between -1 and 1"),
        ("log_probs", "1 log_probs for 3 target pieces and EOS"),
        ("key", "unknown key 'sauce'; the nearest is 'source'"),
    ],
)
def test_damaged_json_is_refused_by_name(change: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        Explanation.from_json(damaged(change), origin="some.json")
    assert "some.json: " in str(caught.value)


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(UserError, match="an explanation: must be JSON"):
        Explanation.from_json("{")


def test_log_probabilities_need_one_per_piece_and_eos() -> None:
    explanation = by_hand(decoder_cross=counting())
    with pytest.raises(ValueError, match="3 log_probs for 3 target pieces and EOS"):
        Explanation(explanation.source, explanation.target, explanation.maps, (-1.0, -1.0, -1.0))


LEARNT = [learn(["les pauvres ont les pommes", "été 12 ·"] * 3, kind, 300, 1) for kind in KINDS]


@pytest.mark.parametrize("learnt", LEARNT, ids=list(KINDS))
@given(text=st.text(alphabet="les pauv\t\u00a0\u2028été…漢1'▁", max_size=20))
def test_words_are_those_of_the_text(learnt: Tokenizer, text: str) -> None:
    """Counted and spelt as white space separates them, whatever the pieces; unknown words are spelt as unknown."""
    sentence = Sentence.of(learnt.encode(text), learnt)
    known = learnt.decode(learnt.encode(text)).split()
    assert list(sentence.words) == (known or [""] * len(sentence.words))
    assert len(known) == len(text.split())
