"""Attention against its definition in loops; the fused path and the explicit one; twins."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from sightline.nn.attention import Attention, MultiHead, attend, twin, watch
from sightline.nn.masks import causal, over_keys
from sightline.nn.noise import Noise
from sightline.nn.positions import Alibi
from sightline.nn.scores import Additive, Bilinear, Score, dot, make_score, scaled_dot

BATCH, HEADS, QUERIES, KEYS, DIM = 2, 3, 4, 5, 6
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]], dtype=torch.bool)


@pytest.fixture
def parts() -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys, values."""
    generator = torch.Generator().manual_seed(1)
    return tuple(torch.randn(BATCH, HEADS, length, DIM, generator=generator) for length in (QUERIES, KEYS, KEYS))  # type: ignore[return-value]


def test_attend_is_its_definition(parts: tuple[Tensor, Tensor, Tensor]) -> None:
    """Σ softmax(q·k / √d + bias) v over the keys that may be seen, one number at a time."""
    q, k, v = parts
    bias = torch.randn(1, HEADS, QUERIES, KEYS, generator=torch.Generator().manual_seed(2))
    context, weights = attend(q, k, v, over_keys(MASK), bias)
    for b, h, t in torch.cartesian_prod(torch.arange(BATCH), torch.arange(HEADS), torch.arange(QUERIES)).tolist():
        seen = MASK[b].nonzero().squeeze(1).tolist()
        energies = {s: math.exp(float(q[b, h, t] @ k[b, h, s]) / math.sqrt(DIM) + float(bias[0, h, t, s])) for s in seen}
        shares = torch.tensor([energies.get(s, 0.0) / sum(energies.values()) for s in range(KEYS)])
        torch.testing.assert_close(weights[b, h, t], shares, rtol=0, atol=1e-6)
        torch.testing.assert_close(context[b, h, t], shares @ v[b, h], rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("watched", [False, True])
def test_who_may_look_nowhere_sees_nothing_and_spoils_nothing(
    watched: bool, dtype: torch.dtype, parts: tuple[Tensor, Tensor, Tensor]
) -> None:
    """Zeros, and gradients without a NaN, on both paths."""
    q, k, v = (part.to(dtype).requires_grad_() for part in parts)
    mask = MASK.clone()
    mask[1] = False
    attention = Attention()
    seen, notebook = watch(nn.ModuleDict({"a": attention})) if watched else (nn.ModuleDict({"a": attention}), {})
    out = seen["a"](q, k, v, over_keys(mask))
    assert not out[1].any()
    assert out[0].any()
    assert not any(note[1].any() for notes in notebook.values() for note in notes)
    out.sum().backward()
    assert all(part.grad is not None and bool(part.grad.isfinite().all()) for part in (q, k, v))


@pytest.mark.parametrize("mask", [None, over_keys(MASK), causal(QUERIES, KEYS)])
@pytest.mark.parametrize("biased", [False, True])
def test_fused_and_explicit_agree(mask: Tensor | None, biased: bool, parts: tuple[Tensor, Tensor, Tensor]) -> None:
    q, k, v = parts
    bias = Alibi(HEADS).bias(q, KEYS) if biased else None
    expected, _ = attend(q, k, v, mask, bias)
    torch.testing.assert_close(Attention()(q, k, v, mask, bias), expected, rtol=0, atol=1e-5)
    seen, notebook = watch(nn.ModuleDict({"a": Attention()}))
    torch.testing.assert_close(seen["a"](q, k, v, mask, bias), expected, rtol=0, atol=1e-5)
    assert [len(notes) for notes in notebook.values()] == [1]


def test_dropout_falls_on_the_weights_but_not_on_what_is_noted(parts: tuple[Tensor, Tensor, Tensor]) -> None:
    q, k, v = parts
    seen, notebook = watch(nn.ModuleDict({"a": Attention(dropout=0.5)}))
    noise = Noise.of(1, 1, torch.arange(BATCH))
    out = seen["a"](q, k, v, noise=noise)
    ((note,),) = notebook.values()
    torch.testing.assert_close(note.sum(-1), torch.ones(BATCH, HEADS, QUERIES))
    torch.testing.assert_close(out, seen["a"].dropout.weights(note, noise) @ v)
    assert not torch.allclose(out, note @ v)


def test_scores_are_their_formulas(parts: tuple[Tensor, Tensor, Tensor]) -> None:
    q, k, _ = parts
    bilinear, additive = Bilinear(DIM), Additive(DIM)
    found = {"dot": dot(q, k), "scaled": scaled_dot(q, k)}
    found |= {"bilinear": bilinear(q, bilinear.keys(k)), "additive": additive(q, additive.keys(k))}
    w, u = bilinear.weight.weight, additive.key.weight
    for t, s in torch.cartesian_prod(torch.arange(QUERIES), torch.arange(KEYS)).tolist():
        one, other = q[1, 2, t], k[1, 2, s]
        hidden = torch.tanh(additive.query.weight @ one + additive.query.bias + u @ other)
        expected = {
            "dot": one @ other,
            "scaled": one @ other / DIM**0.5,
            "bilinear": one @ w @ other,
            "additive": additive.energy.weight[0] @ hidden,
        }
        for name, value in expected.items():
            torch.testing.assert_close(found[name][1, 2, t, s], value, rtol=1e-4, atol=1e-5)


def test_scores_go_by_their_names() -> None:
    made: list[Score] = [make_score(name, DIM) for name in ("dot", "scaled_dot", "bilinear", "additive")]
    assert made[:2] == [dot, scaled_dot]
    assert [type(score) for score in made[2:]] == [Bilinear, Additive]


def test_a_twin_shares_parameters_and_structure() -> None:
    """Also where one module stands in two places; what is set on the twin does not reach the original."""
    shared = MultiHead(8, 2)
    model = nn.ModuleList([shared, nn.Sequential(shared, nn.LayerNorm(8)), nn.ModuleDict({"none": nn.Identity()})])
    copy = twin(model)
    assert [id(p) for p in copy.parameters()] == [id(p) for p in model.parameters()]
    assert [name for name, _ in copy.named_modules(remove_duplicate=False)] == [
        name for name, _ in model.named_modules(remove_duplicate=False)
    ]
    assert copy[0] is copy[1][0] is not shared
    assert not set(map(id, copy.modules())) & set(map(id, model.modules()))
    seen, notebook = watch(model)
    assert seen[0].attention.notes is notebook["0"]
    assert shared.attention.notes is None


def test_heads_must_share_the_channels_evenly() -> None:
    with pytest.raises(ValueError, match="10 channels cannot be shared by 4 heads"):
        MultiHead(10, 4)


def test_masks() -> None:
    assert over_keys(MASK).shape == (2, 1, 1, 5)
    assert causal(1, 7) is None
    whole, cached = causal(3, 3), causal(2, 3)
    assert whole is not None
    assert cached is not None
    assert whole[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert torch.equal(cached, whole[:, :, 1:])
