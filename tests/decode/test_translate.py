"""From text to text: lines keep their order and number, long ones are cut and joined, prefixes hold, threads do not meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice

import pytest
import torch
from torch import Tensor, nn

from sightline.decode import torch_engine
from sightline.decode.options import SampleOptions, SearchOptions
from sightline.decode.translate import Candidate, Translation, Translator
from sightline.errors import UserError
from sightline.models.build import build
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.models.seq2seq import Seq2Seq
from sightline.nn.state import State
from sightline.text.learn import learn
from sightline.text.pipeline import FIRST_BYTE
from sightline.text.tokenizer import EOS, PAD, Tokenizer

WORDS = [*"abcdefg.!", "one", "two", "three", "four", "five", "six"]
TOKENIZER = learn([" ".join(WORDS)], "words", 100, min_frequency=1)
FINE = SearchOptions(beam=2)


class Echo(nn.Module):
    """Says again what it reads, each word with a probability of 0.9 or a little more, no other two words alike.

    Notes how long the sources are that come together.
    """

    def __init__(self, size: int = TOKENIZER.size) -> None:
        super().__init__()
        self.size, self.seen = size, list[list[int]]()
        self.weight = nn.Parameter(torch.zeros(1))

    def begin(self, source: Tensor) -> State:
        self.seen.append(source.ne(PAD).sum(1).tolist())
        return State(source)

    def forward(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        assert isinstance(state.fixed, Tensor)
        places = torch.arange(state.length, state.length + tokens.size(1)).clamp(max=state.fixed.size(1) - 1)
        said = state.fixed[:, places]
        said = said.where(said != PAD, EOS)
        others = torch.arange(1.0, self.size + 1) / sum(range(self.size + 1))
        probabilities = 0.1 * others + 0.9 * nn.functional.one_hot(said, self.size)
        return probabilities.log(), State(state.fixed, (), state.length + tokens.size(1))


class Says(Echo):
    """Says the same whatever it reads."""

    def __init__(self, ids: Sequence[int], size: int) -> None:
        super().__init__(size)
        self.ids = [*ids, EOS]

    def begin(self, source: Tensor) -> State:
        return State(torch.tensor(self.ids).expand(len(source), -1))


def echo(max_length: int = 100) -> Translator:
    return Translator(Echo(), (TOKENIZER, TOKENIZER), max_length)


def real(config: ModelConfig, seed: int = 0) -> Translator:
    model = build(config, TOKENIZER.size, TOKENIZER.size, seed).eval()
    assert isinstance(model, Seq2Seq)
    return Translator(model, (TOKENIZER, TOKENIZER), config.max_length)


STACK = TransformerConfig(layers=1, heads=2, hidden=24, position="learned")
TRANSFORMER = ModelConfig(STACK, STACK, dim=16, max_length=24)


def texts_of(found: Sequence[Translation]) -> list[str]:
    return [translation.text for translation in found]


def test_order_and_number_of_lines_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though lines of like length share a batch."""
    monkeypatch.setattr(torch_engine, "BATCH_TOKENS", 12)
    translator = echo()
    texts = ["a", "one two three four five", "", "b c", "   ", "a b c d", "\t", "six", "c", "five four three two one"]
    found = translator.translate(texts, FINE)
    assert texts_of(found) == [text.strip() for text in texts]
    assert [translation.source for translation in found] == texts
    batches = translator.model.seen  # type: ignore[attr-defined]
    assert len(batches) > 2
    assert all(len(lengths) * max(lengths) <= 12 for lengths in batches)


def test_an_empty_line_stays_empty_and_is_not_searched() -> None:
    translator = echo()
    assert translator.translate(["", " \u00a0\u2003"]) == [Translation("", ()), Translation(" \u00a0\u2003", ())]
    assert texts_of(translator.sample(["", "a"], SampleOptions(temperature=0.01))) == ["", "a"]
    assert translator.translate([]) == []
    assert translator.translate([""], prefixes=["a"])[0].text == ""
    assert translator.model.seen == [[2]]  # type: ignore[attr-defined]


def test_unknown_words_are_read_and_written() -> None:
    assert echo().translate(["a quark b"], FINE)[0].text == "a ⁇ b"


def test_a_long_text_is_cut_at_sentence_ends_and_joined() -> None:
    translator = echo(max_length=6)  # five words and the end mark
    text = "A b c .  One two three .\nD e !"
    known = learn([text], "words", 100, min_frequency=1)
    translator.tokenizers, translator.model = (known, known), Echo(known.size)
    (found,) = translator.translate([text], FINE)
    assert found.text == text
    assert sorted(translator.model.seen[0]) == [4, 5, 5]


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    translator = echo(max_length=4)
    text = "a b c d e f g one two three"
    assert translator.translate([text, "a b"], FINE)[0].text == text
    assert max(map(max, translator.model.seen)) <= 4  # type: ignore[attr-defined]


def test_a_text_as_long_as_the_model_reads_is_not_cut() -> None:
    translator = echo(max_length=6)
    translator.translate(["a . b . c", "a . b . c d"], FINE)
    assert sorted(length for lengths in translator.model.seen for length in lengths) == [3, 5, 6]  # type: ignore[attr-defined]


def test_scores_of_a_text_in_parts() -> None:
    """Log-probabilities add up, scores are averaged, and the n-th candidate is made of the n-th of each part."""
    options = SearchOptions(beam=3, n_best=3, length_penalty=0.5)
    (whole,) = echo(max_length=5).translate(["a b c . one two"], options)
    parts = echo(max_length=5).translate(["a b c .", "one two"], options)
    assert len(whole.candidates) == 3
    for place, candidate in enumerate(whole.candidates):
        own = [part.candidates[place] for part in parts]
        assert candidate.text == " ".join(each.text for each in own)
        assert candidate.log_probability == pytest.approx(sum(each.log_probability for each in own))
        assert candidate.score == pytest.approx(sum(each.score for each in own) / 2)
    assert [c.score for c in parts[0].candidates] == sorted((c.score for c in parts[0].candidates), reverse=True)


def test_the_candidates_of_one_text_are_unlike() -> None:
    (found,) = echo().translate(["a b c"], SearchOptions(beam=5, n_best=5))
    assert len({candidate.text for candidate in found.candidates}) == 5
    assert found.text == found.candidates[0].text == "a b c"
    assert isinstance(found.candidates[0], Candidate)


def test_prefixes() -> None:
    """Each text has its own or none."""
    found = echo().translate(["a b c", "one two", "f g"], FINE, prefixes=["d e", "", "  "])
    assert texts_of(found) == ["d e c", "one two", "f g"]


def test_a_prefix_begins_the_first_part_only() -> None:
    assert echo(max_length=5).translate(["a b c . one two three ."], FINE, prefixes=["d"])[0].text == "d b c . one two three ."


def test_a_prefix_longer_than_the_translation_would_be() -> None:
    options = SearchOptions(beam=2, max_ratio=0.0, max_extra=1)
    assert echo().translate(["a"], options, prefixes=["one two three"])[0].text == "one two three"


def test_prefixes_must_be_as_many_as_texts_and_short_enough() -> None:
    with pytest.raises(ValueError, match="1 prefixes for 2 texts"):
        echo().translate(["a", "b"], prefixes=["a"])
    with pytest.raises(UserError, match="text 2: its prefix has 6 pieces, this model writes at most 5; shorten it"):
        echo(max_length=6).translate(["a", "b"], prefixes=["", "a b c d e f"])
    assert echo(max_length=6).translate(["a"], FINE, prefixes=["a b c d e"])[0].text == "a b c d e"


@pytest.mark.parametrize("position", ["learned", "sinusoidal"])
def test_nothing_is_written_beyond_what_the_model_can_read_again(position: str) -> None:
    """A model that finds no end would leave its learned positions."""
    stack = TransformerConfig(layers=1, heads=2, hidden=24, position=position)  # type: ignore[arg-type]
    translator = real(ModelConfig(stack, stack, dim=16, max_length=12, tie="target"))
    assert isinstance(translator.model, Seq2Seq)
    with torch.no_grad():
        translator.model.head.weight[EOS] -= 10 * translator.model.head.weight.abs().max()
    tokens = [TOKENIZER.encode(text) for text in texts_of(translator.translate(["a b c d e f g"] * 2, FINE))]
    assert all(len(ids) <= 11 for ids in tokens)
    assert all(len(TOKENIZER.encode(found.text)) <= 11 for found in translator.sample(["a b c d e f g"]))


def spelling(ids: Sequence[int], tokenizer: Tokenizer) -> Translator:
    return Translator(Says(ids, tokenizer.size), (tokenizer, tokenizer), 100)


@pytest.mark.parametrize("line_break", ["\n", "\r", "\u2028", "\x85", "\x0b"])
def test_a_line_break_that_a_model_spells_does_not_break_the_line(line_break: str) -> None:
    tokenizer = learn(["a b"], "chars", 300, min_frequency=1)
    ids = [*tokenizer.encode("a"), *(FIRST_BYTE + byte for byte in line_break.encode()), *tokenizer.encode("b")]
    assert line_break in tokenizer.decode(ids)
    found = spelling(ids, tokenizer).translate(["a", "b"], FINE)
    assert [len(text.splitlines()) for text in texts_of(found)] == [1, 1]
    kept = spelling(ids, tokenizer).translate(["a\nb"], FINE)  # who asks in lines is answered in lines
    assert len(kept[0].text.splitlines()) == 2


def test_a_stream_is_translated_as_it_comes() -> None:
    """Without end, in order, reading no further than a chunk ahead."""
    taken: list[int] = []

    def endless() -> Iterator[str]:
        for number in count():
            taken.append(number)
            yield WORDS[number % 7]

    found = list(islice(echo().stream(endless(), FINE, chunk=3), 7))
    assert texts_of(found) == [WORDS[number % 7] for number in range(7)]
    assert taken[-1] < 9
    assert list(echo().stream([], FINE)) == []


def test_a_stream_is_what_translate_gives() -> None:
    translator, texts = real(TRANSFORMER), [" ".join(WORDS[number : number + 3]) for number in range(10)]
    assert texts_of(list(translator.stream(texts, FINE, chunk=4))) == texts_of(translator.translate(texts, FINE))


@pytest.mark.parametrize(
    "config",
    [TRANSFORMER, ModelConfig(RecurrentEncoderConfig(), RecurrentDecoderConfig(input_feeding=True), dim=16, max_length=24)],
)
def test_threads_share_a_translator(config: ModelConfig) -> None:
    translator = real(config)
    jobs = [[" ".join(WORDS[place : place + 1 + number]) for place in range(5)] for number in range(4)]
    options = SearchOptions(beam=3, n_best=2, max_ratio=1.0, max_extra=2)
    alone = [translator.translate(job, options) for job in jobs]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert list(pool.map(lambda job: translator.translate(job, options), jobs)) == alone


def test_what_is_drawn_for_a_text_depends_on_its_place_alone() -> None:
    """Not on how the texts before it are cut, nor on those after it."""
    translator = real(TRANSFORMER)
    translator.max_length = 8
    options = SampleOptions(count=3, max_ratio=1.0, max_extra=2)

    def said(translation: Translation) -> list[str]:
        return [candidate.text for candidate in translation.candidates]

    long = "a b c . d e f g . one two three . four five six ."
    short = translator.sample(["a", "one two three", "b c"], options)
    cut = translator.sample([long, "one two three"], options)
    assert said(cut[1]) == said(short[1])
    assert said(translator.sample(["one two three"], options)[0]) != said(short[1])
    assert len(cut[0].candidates) == 3


def test_draws_differ_between_chunks_and_agree_with_one_go() -> None:
    translator = Translator(Echo(), (TOKENIZER, TOKENIZER), 32)
    options = SampleOptions(count=2, temperature=3.0)
    texts = ["one two three four five six"] * 6
    whole = translator.sample(texts, options)
    in_chunks = [*translator.sample(texts[:4], options), *translator.sample(texts[4:], options, first=4)]
    assert whole == in_chunks
    assert len({translation.text for translation in whole}) > 1


def test_a_candidate_has_the_pieces_that_were_read_and_written() -> None:
    (found,) = Translator(Echo(), (TOKENIZER, TOKENIZER), 32).translate(["  one two  "], FINE)
    ids = tuple(TOKENIZER.encode("one two"))
    assert found.candidates[0].parts == ((ids, ids),)


def test_a_large_vocabulary_and_beam_make_smaller_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_engine, "BATCH_CHOICES", 4 * FINE.beam * TOKENIZER.size)
    model = Echo()
    found = Translator(model, (TOKENIZER, TOKENIZER), 32).translate(["one two"] * 10, FINE)
    assert [len(batch) for batch in model.seen] == [4, 4, 2]
    assert {translation.text for translation in found} == {"one two"}
