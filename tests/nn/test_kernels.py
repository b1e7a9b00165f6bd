"""The kernels in C++ against PyTorch's operations: values and gradients, in both precisions, at awkward sizes."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from sightline.native import build, forget, library, why_not
from sightline.nn import kernels
from sightline.nn.attention import attend
from sightline.nn.layers import Residual
from sightline.nn.linear import LayerNorm, Linear
from sightline.nn.noise import Dropout, Noise

pytestmark = pytest.mark.skipif(library("kernels") is None, reason=why_not("kernels"))
DTYPES = {torch.float32: 1e-5, torch.bfloat16: 2e-2}
dtypes = pytest.mark.parametrize("dtype", DTYPES)


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype).requires_grad_()


def same(ours: Callable[..., Tensor], theirs: Callable[..., Tensor], *inputs: Tensor, tolerance: float) -> None:
    """Equal outputs, and equal gradients of all inputs under an arbitrary gradient from above."""
    outs = ours(*inputs), theirs(*inputs)
    torch.testing.assert_close(outs[0].float(), outs[1].float(), rtol=tolerance, atol=tolerance)
    up = drawn(*outs[0].shape, seed=99).detach()
    gradients = [torch.autograd.grad(out, inputs, up.to(out.dtype)) for out in outs]
    for mine, wanted in zip(*gradients, strict=True):
        assert mine.dtype == wanted.dtype
        torch.testing.assert_close(mine.float(), wanted.float(), rtol=tolerance, atol=tolerance * max(1, len(up)) ** 0.5)


@pytest.mark.parametrize("channels", [7, 16, 250, 256])
@dtypes
def test_layer_norm(channels: int, dtype: torch.dtype) -> None:
    x, weight, bias = drawn(3, 5, channels), drawn(channels, seed=1), drawn(channels, seed=2)
    with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
        assert kernels.layer_norm(x, weight, bias, 1e-5, dtype).dtype == dtype
        same(
            lambda *args: kernels.layer_norm(*args, 1e-5, dtype),
            lambda x, w, b: F.layer_norm(x, (channels,), w, b, 1e-5).to(dtype),
            x, weight, bias, tolerance=DTYPES[dtype],
        )  # fmt: skip


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("rows", [1, 40])
@dtypes
def test_linear(dtype: torch.dtype, rows: int, relu: bool) -> None:
    x, weight, bias = drawn(2, rows, 24), drawn(19, 24, seed=1), drawn(19, seed=2)

    def plain(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        out = F.linear(x, weight, bias)
        return F.relu(out) if relu else out

    with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
        same(lambda *args: kernels.linear(*args, relu), plain, x, weight, bias, tolerance=3 * DTYPES[dtype])


@pytest.mark.parametrize("kind", ["none", "padding", "causal", "blind"])
@pytest.mark.parametrize("sizes", [(1, 1, 4), (5, 7, 6), (16, 16, 16), (33, 18, 64), (31, 31, 20), (29, 61, 64)])
@dtypes
def test_attention(dtype: torch.dtype, sizes: tuple[int, int, int], kind: str) -> None:
    queries, keys, channels = sizes
    keys = queries if kind == "causal" else keys
    q = drawn(3, queries, 2, channels, dtype=dtype).detach().transpose(1, 2).requires_grad_()
    k, v = (drawn(3, 2, keys, channels, seed=seed, dtype=dtype) for seed in (1, 2))
    masks = {
        "none": None,
        "padding": torch.arange(keys) < torch.tensor([1, keys, max(1, keys // 2)])[:, None, None, None],
        "causal": torch.ones(1, 1, queries, keys, dtype=torch.bool).tril(),
        "blind": torch.arange(3)[:, None, None, None].expand(3, 1, 1, keys) != 1,  # one sentence has no key at all
    }
    same(
        lambda q, k, v: kernels.attention(q, k, v, masks[kind]),
        lambda q, k, v: attend(q.float(), k.float(), v.float(), masks[kind])[0].to(dtype),
        q, k, v, tolerance=DTYPES[dtype],
    )  # fmt: skip


@dtypes
def test_dropout_draws_what_the_definition_draws(dtype: torch.dtype) -> None:
    dropout, noise = Dropout(0.3), Noise.of(7, 11, torch.tensor([3, 1, 4])).at(2)
    dropout.site = 5
    x = drawn(3, 6, 13, dtype=dtype)
    keep = (noise.draw(5, 6, 13) >= round(0.3 * 65536) - 32768) / (1 - round(0.3 * 65536) / 65536)
    same(lambda x: dropout(x, noise), lambda x: (x.float() * keep).to(dtype), x, tolerance=DTYPES[dtype])


@dtypes
def test_dropout_on_the_way_into_a_sum(dtype: torch.dtype) -> None:
    dropout, noise = Dropout(0.3), Noise.of(7, 11, torch.tensor([3, 1, 4]))
    keep = (noise.draw(0, 6, 13) >= round(0.3 * 65536) - 32768) / (1 - round(0.3 * 65536) / 65536)
    base, x = drawn(3, 6, 13, seed=1), drawn(3, 6, 13, dtype=dtype)
    same(lambda base, x: dropout.add(base, x, noise), lambda base, x: base + x.float() * keep, base, x, tolerance=DTYPES[dtype])


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@dtypes
def test_loss_and_its_gradient_in_the_logits_place(dtype: torch.dtype, smoothing: float) -> None:
    logits, targets = drawn(9, 37, dtype=dtype), torch.arange(9) * 4
    wanted = F.cross_entropy(logits.float(), targets, reduction="none", label_smoothing=smoothing)
    (slope,) = torch.autograd.grad(wanted.sum(), logits)
    found = logits.detach().clone()
    losses = kernels.lose_(found, targets, smoothing)
    torch.testing.assert_close(losses, wanted, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found, slope, rtol=DTYPES[dtype], atol=1e-6)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_stays_so(bad: float) -> None:
    """Or a sick update would look like a sound one."""
    x = torch.ones(2, 3, 4)
    x[1, 1, 1] = bad
    weight, bias = torch.ones(4), torch.zeros(4)
    assert not kernels.layer_norm(x, weight, bias, 1e-5, x.dtype)[1, 1].isfinite().any()
    q = x[:, None].bfloat16()
    assert not kernels.attention(q, q, q, None)[1].isfinite().all()
    logits = x[1].clone()
    assert not kernels.lose_(logits, torch.tensor([0, 0, 0]), 0.1).isfinite().all()
    noise = Noise.of(1, 1, torch.tensor([1, 2]))
    assert not Dropout(0.01)(x, noise).isfinite().all()


def test_many_rows_in_several_threads_give_the_same_as_in_one() -> None:
    x, weight, bias = drawn(2000, 64), drawn(64, seed=1), drawn(64, seed=2)
    found = []
    for threads in (1, 3):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            out = kernels.layer_norm(x, weight, bias, 1e-5, x.dtype)
            found.append([out, *torch.autograd.grad(out.square().sum(), (x, weight, bias))])
        finally:
            torch.set_num_threads(before)
    for one, three in zip(*found, strict=True):
        torch.testing.assert_close(one, three, rtol=1e-4, atol=1e-3)


def test_noise_of_any_layout_draws_what_the_definition_draws() -> None:
    """A kernel is handed an address: keys must lie side by side there, one for each sentence."""
    keys = Noise.of(7, 11, torch.arange(6)).keys
    x = torch.ones(3, 4, 8)
    dropout = Dropout(0.5)
    for given, wanted in ((keys[::2], keys[[0, 2, 4]]), (keys[:1], keys[[0, 0, 0]])):
        keep = Noise(wanted).draw(0, 4, 8) >= 0
        assert dropout(x, Noise(given)).ne(0).equal(keep)


def test_targets_of_any_layout_and_none_outside_the_vocabulary() -> None:
    logits, targets = drawn(4, 9).detach(), torch.tensor([[1, 0], [2, 0], [3, 0], [8, 0]])
    wanted = F.cross_entropy(logits, targets[:, 0], reduction="none")
    torch.testing.assert_close(kernels.lose_(logits.clone(), targets[:, 0], 0.0), wanted)
    for wrong in (-1, 9):
        with pytest.raises(IndexError, match="outside the 9 words"):
            kernels.lose_(logits.clone(), torch.tensor([0, wrong, 0, 0]), 0.0)


def test_what_does_not_fit_the_kernels_takes_the_usual_way() -> None:
    x = drawn(2, 3, 8)
    for norm in (LayerNorm(8, elementwise_affine=False), LayerNorm(8, bias=False), LayerNorm(8).bfloat16()):
        norm(x.to(norm.weight.dtype) if norm.weight is not None else x).sum().backward()
    q, k = drawn(2, 2, 3, 8), drawn(2, 2, 5, 8)
    assert kernels.takes_attention(q, k, k, None)
    for v in (drawn(2, 2, 5, 16), k.bfloat16(), drawn(2, 2, 4, 8)):
        assert not kernels.takes_attention(q, k, v, None)
    assert not kernels.takes_attention(q, k, k, torch.ones(2, 2, 3, 5, dtype=torch.bool))  # a mask for each head
    assert not kernels.takes_attention(q, drawn(1, 2, 5, 8), drawn(1, 2, 5, 8), None)
    with torch.autocast("cpu", torch.float16):
        assert not kernels.ready(x)


def test_states_stay_in_fp32_under_norms_after_the_sum() -> None:
    """Whatever the kernels do: sums of many layers must not be rounded to eight bits each time."""
    residual, x = Residual(16, 0.1, "post"), drawn(2, 3, 16)
    noise = Noise.of(1, 1, torch.tensor([1, 2]))
    with torch.autocast("cpu", torch.bfloat16):
        assert residual(x, lambda y: y.bfloat16(), noise).dtype == torch.float32


def test_a_gradient_of_a_gradient_is_refused_in_words() -> None:
    x = drawn(3, 4)
    loss = kernels.layer_norm(x, drawn(4), drawn(4), 1e-5, x.dtype).square().sum()
    (slope,) = torch.autograd.grad(loss, x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


def test_modules_do_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    x = drawn(4, 20, 8)
    linear, norm = Linear(8, 6), LayerNorm(8)
    monkeypatch.setattr(kernels, "onednn_is_faster", lambda: True)
    native = [linear(x, relu=True), norm(x)]
    monkeypatch.setattr(kernels, "library", lambda name: None)
    assert not kernels.ready(x)
    for ours, theirs in zip(native, [linear(x, relu=True), norm(x)], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


def test_a_machine_without_a_compiler_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "compiler", lambda: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    forget()
    try:
        assert library("kernels") is None
        assert "no C++ compiler" in why_not("kernels")
    finally:
        forget()


def test_a_switch_turns_the_kernels_off() -> None:
    asked = "from sightline.native import why_not; print(why_not('kernels'))"
    environment = {**os.environ, build.SWITCH: "0"}
    done = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "switched off by SIGHTLINE_NATIVE=0"


def test_a_source_that_does_not_compile_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sick").mkdir()
    (tmp_path / "sick" / "a.cpp").write_text("int f( { return 1; }")
    monkeypatch.setattr(build, "SOURCES", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert library("sick") is None
    assert "could not compile" in why_not("sick")
    assert list((tmp_path / "cache" / "sightline" / "native").iterdir()) == []
    forget()


def test_another_source_is_another_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one").mkdir()
    monkeypatch.setattr(build, "SOURCES", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for number in (1, 2):
        (tmp_path / "one" / "a.cpp").write_text(f'extern "C" int number() {{ return {number}; }}')
        forget()
        found = library("one")
        assert isinstance(found, ctypes.CDLL)
        assert found.number() == number
    assert len(list((tmp_path / "cache" / "sightline" / "native").iterdir())) == 2
    forget()


def test_a_damaged_library_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.cpp").write_text('extern "C" int number() { return 5; }')
    monkeypatch.setattr(build, "SOURCES", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = build._path("one")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a library")
    forget()
    found = library("one")
    assert isinstance(found, ctypes.CDLL)
    assert found.number() == 5
    forget()


def test_a_cache_that_cannot_be_written_to_is_named_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    forget()
    told: list[str] = []
    try:
        build.prepare("kernels", told.append, "training is slower")
    finally:
        forget()
    assert "compiling" in told[0]
    assert told[1].startswith("training is slower: ")
    assert "name a folder that can be written to in XDG_CACHE_HOME" in told[1]
