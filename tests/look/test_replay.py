"""What replay hands over is what the model saw: against the definition, against single steps, alone and in company."""

from __future__ import annotations

import math
import threading
from typing import cast

import numpy as np
import pytest
import torch
from torch import nn

from sightline.look import replay as module
from sightline.look.replay import Maps, Pair, join, kind_of, replay, replay_batch, replay_many
from sightline.models.build import build
from sightline.models.config import DecoderConfig, EncoderConfig, ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig
from sightline.models.config import TransformerConfig as T
from sightline.models.seq2seq import Seq2Seq
from sightline.nn.attention import Attention, watch
from sightline.nn.state import Memory, State
from sightline.tasks.translation import make_batch
from sightline.text.tokenizer import BOS, EOS, PAD

VOCABULARY = 40
PAIRS: list[Pair] = [
    ([10, 11, 12, 13, 14, 15, 16], [20, 21, 22]),
    ([10, 17], [23, 24, 25, 26, 27]),
    ([], [28]),
    ([18, 19, 30], []),
    ([31, 32, 33, 34], [35, 36, 37]),
]


def stack(**changes: object) -> T:
    return T(**({"layers": 2, "heads": 2, "hidden": 32} | changes))  # type: ignore[arg-type]


def made(encoder: EncoderConfig, decoder: DecoderConfig, seed: int = 0) -> Seq2Seq:
    model = build(ModelConfig(encoder, decoder, dim=16, max_length=32), VOCABULARY, VOCABULARY, seed)
    return cast(Seq2Seq, model)


R, D = RecurrentEncoderConfig, RecurrentDecoderConfig
MODELS: dict[str, tuple[EncoderConfig, DecoderConfig]] = {
    "post-norm": (stack(), stack()),
    "pre-norm, rotary": (stack(norm="pre", position="rotary"), stack(norm="pre", position="rotary")),
    "alibi": (stack(position="alibi"), stack(position="alibi")),
    "relative": (stack(position="relative"), stack(position="relative")),
    "learned": (stack(position="learned"), stack(position="learned", heads=4, layers=1)),
    "lstm, bilinear": (R(), D()),
    "gru, additive": (R(cell="gru", layers=1), D(cell="gru", score="additive", layers=1)),
    "input feeding": (R(bidirectional=False), D(input_feeding=True, score="dot")),
    "mixed": (stack(), D(input_feeding=True)),
}


@pytest.fixture(params=list(MODELS))
def model(request: pytest.FixtureRequest) -> Seq2Seq:
    return made(*MODELS[request.param])


def assert_same(found: Maps, wanted: Maps, tolerance: float = 1e-6) -> None:
    assert (found.source_ids, found.target_ids) == (wanted.source_ids, wanted.target_ids)
    assert found.weights.keys() == wanted.weights.keys()
    for name in wanted.weights:
        np.testing.assert_allclose(found.weights[name], wanted.weights[name], rtol=0, atol=tolerance)


def test_names_and_sizes_of_a_transformer() -> None:
    maps = replay(made(stack(), stack(layers=3)), [10, 11, 12], [20, 21])
    assert {name: array.shape for name, array in maps.weights.items()} == {
        "encoder.layers.0.attend": (2, 4, 4),
        "encoder.layers.1.attend": (2, 4, 4),
        "decoder.layers.0.attend": (2, 3, 3),
        "decoder.layers.0.cross": (2, 3, 4),
        "decoder.layers.1.attend": (2, 3, 3),
        "decoder.layers.1.cross": (2, 3, 4),
        "decoder.layers.2.attend": (2, 3, 3),
        "decoder.layers.2.cross": (2, 3, 4),
    }
    assert all(array.dtype == np.float32 for array in maps.weights.values())


@pytest.mark.parametrize("feeds", [False, True])
def test_names_and_sizes_of_a_recurrent_model(feeds: bool) -> None:
    maps = replay(made(R(), D(input_feeding=feeds)), [10, 11, 12], [20, 21])
    assert {name: array.shape for name, array in maps.weights.items()} == {"decoder.cross": (1, 3, 4)}


def test_a_model_without_attention_has_no_cross_map() -> None:
    assert replay(made(R(), D(score="none")), [10, 11], [20]).weights == {}
    mixed = replay(made(stack(), D(score="none")), [10, 11], [20]).weights
    assert [kind_of(name) for name in mixed] == ["encoder", "encoder"]


def test_first_layer_against_the_definition() -> None:
    """softmax(q kᵀ / √d) written out for every head of the first encoder layer and of the first decoder layer's past."""
    model = made(stack(position="none"), stack(position="none"))
    maps = replay(model, [10, 11, 12], [20, 21])
    for name, ids in (("encoder", [10, 11, 12, EOS]), ("decoder", [BOS, 20, 21])):
        side = getattr(model, name)
        x = side.embedding.table.weight[ids] * 4.0  # √16
        attend = side.layers[0].attend
        q = attend.query(x)
        k = x @ attend.key_value.weight[:16].t() + attend.key_value.bias[:16]
        for head in range(2):
            part = slice(8 * head, 8 * head + 8)
            scores = q[:, part] @ k[:, part].t() / math.sqrt(8)
            if name == "decoder":
                scores = scores + torch.full_like(scores, -torch.inf).triu(1)
            wanted = scores.softmax(-1).detach().numpy()
            np.testing.assert_allclose(maps.weights[f"{name}.layers.0.attend"][head], wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("pair", [PAIRS[0], PAIRS[1], PAIRS[3]])
def test_equals_what_each_step_saw(model: Seq2Seq, pair: Pair) -> None:
    source, target = pair
    seen, notebook = watch(model)
    with torch.no_grad():
        state = seen.begin(torch.tensor([[*source, EOS]]))
        for token in [BOS, *target]:
            _, state = seen(torch.tensor([[token]]), state)
    maps = replay(model, source, target)
    assert maps.weights.keys() == notebook.keys()
    for name, notes in notebook.items():
        assert name.startswith("encoder") or len(notes) == len(target) + 1
        np.testing.assert_allclose(maps.weights[name], join(notes)[0].numpy(), rtol=0, atol=1e-6)


def test_a_batch_equals_its_sentences_alone(model: Seq2Seq) -> None:
    for maps, pair in zip(replay_batch(model, PAIRS), PAIRS, strict=True):
        assert_same(maps, replay(model, *pair))


def test_rows_sum_to_one_and_nobody_looks_ahead(model: Seq2Seq) -> None:
    for maps in replay_batch(model, PAIRS):
        for name, array in maps.weights.items():
            assert array.min() >= 0
            np.testing.assert_allclose(array.sum(-1), 1, rtol=0, atol=1e-6)
            if kind_of(name) == "decoder":
                assert not np.triu(array, 1).any()


def test_padding_gets_exactly_zero_before_it_is_trimmed(model: Seq2Seq) -> None:
    batch = make_batch([source for source, _ in PAIRS], [target for _, target in PAIRS])
    seen, notebook = watch(model)
    with torch.no_grad():
        seen.features(batch.inputs, seen.begin(batch.source))
    padding = batch.source == PAD
    assert padding.any()
    for name, notes in notebook.items():
        if kind_of(name) != "decoder":
            columns = padding[:, None, None, :].expand_as(join(notes))
            assert not join(notes)[columns].any()


def test_the_model_is_left_as_it_was(model: Seq2Seq) -> None:
    """Replay touches a twin: same parameters, and the original's outputs do not change by a bit."""
    batch = make_batch([source for source, _ in PAIRS], [target for _, target in PAIRS])

    def outputs() -> torch.Tensor:
        with torch.no_grad():
            found, _ = model(batch.inputs, model.begin(batch.source))
        return found

    before, weights = outputs(), {name: p.clone() for name, p in model.named_parameters()}
    replay_batch(model, PAIRS)
    assert torch.equal(outputs(), before)
    assert all(torch.equal(p, weights[name]) for name, p in model.named_parameters())
    assert all(m.notes is None for m in model.modules() if isinstance(m, Attention))
    assert all(p.grad is None for p in model.parameters())
    seen, _ = watch(model)
    assert [id(p) for p in seen.parameters()] == [id(p) for p in model.parameters()]
    with torch.no_grad():
        watched, _ = seen(batch.inputs, seen.begin(batch.source))
    torch.testing.assert_close(watched, before, rtol=0, atol=2e-6)


def test_autocast_outside_does_not_coarsen_it() -> None:
    model = made(stack(), stack())
    wanted = replay(model, *PAIRS[0])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = replay(model, *PAIRS[0])
    assert_same(found, wanted, 0)


def test_two_threads_do_not_mix_their_notes() -> None:
    model = made(stack(), stack())
    wanted = [replay(model, *pair) for pair in PAIRS]
    found: dict[int, list[Maps]] = {}

    def work(number: int) -> None:
        found[number] = [replay(model, *PAIRS[number]) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(2):
        for maps in found[number]:
            assert_same(maps, wanted[number])


@pytest.mark.parametrize("batch_tokens", [1, 8, 13, 1000])
def test_many_keep_their_order(batch_tokens: int) -> None:
    model = made(stack(), stack(layers=1))
    pairs = [PAIRS[number % len(PAIRS)] for number in range(17)]
    found = list(replay_many(model, iter(pairs), batch_tokens))
    assert len(found) == len(pairs)
    for maps, pair in zip(found, pairs, strict=True):
        assert_same(maps, replay(model, *pair))


def test_many_of_none() -> None:
    assert list(replay_many(made(R(), D()), [])) == []


def test_many_fill_batches_up_to_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    original = module.replay_batch

    def spy(model: Seq2Seq, pairs: list[Pair]) -> list[Maps]:
        sizes.append(len(pairs) * max(max(map(len, pair)) + 1 for pair in pairs))
        return original(model, pairs)

    monkeypatch.setattr(module, "replay_batch", spy)
    rng = np.random.default_rng(0)
    pairs: list[Pair] = [([10] * int(rng.integers(1, 10)), [11] * int(rng.integers(1, 10))) for _ in range(300)]
    list(replay_many(made(R(layers=1), D(layers=1)), pairs, batch_tokens=100))
    assert max(sizes) <= 100
    real = sum(max(map(len, pair)) + 1 for pair in pairs)
    assert sum(sizes) < 1.15 * real  # sorted by length, there is little padding
    assert len(sizes) < 1.3 * real / 100


@pytest.mark.parametrize("kind", ["post-norm", "input feeding"])
def test_no_map_is_held_twice(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notes of a large batch are its largest tensors: they go as soon as they are joined."""
    notebooks: list[dict[str, list[torch.Tensor]]] = []
    original = module.watch

    def spy(model: Seq2Seq) -> tuple[Seq2Seq, dict[str, list[torch.Tensor]]]:
        seen, notebook = original(model)
        notebooks.append(notebook)
        return seen, notebook

    monkeypatch.setattr(module, "watch", spy)
    assert replay(made(*MODELS[kind]), *PAIRS[0]).weights
    assert [notes for notes in notebooks[0].values() if notes] == []
    whole = torch.ones(1, 2, 3, 4)
    assert join([whole]) is whole


class Peeker(nn.Module):
    """A decoder that looks at the source under a name that says it looks at the target."""

    def __init__(self) -> None:
        super().__init__()
        self.attend = Attention()

    def start(self, memory: Memory | None, noise: object = None) -> State:
        assert memory is not None
        return State(memory.states)

    def forward(self, tokens: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        k = cast(torch.Tensor, state.fixed)[:, None]
        return self.attend(k[:, :, : tokens.size(1)], k, k)[:, 0], state


def test_a_map_of_the_wrong_size_is_an_error() -> None:
    model = made(stack(), stack())
    model.decoder = Peeker()
    with pytest.raises(ValueError, match=r"decoder.attend noted \(2, 4\) weights per head where \(2, 2\)"):
        replay(model, [10, 11, 12], [20])
