"""Operations in C++ with their gradients: the same mathematics as their neighbours in `nn`, in one pass over memory each.

They work on a CPU, in fp32 and bf16. `ready` says whether they can take a tensor; who calls them has PyTorch's way beside.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor
from torch.autograd.function import once_differentiable

from sightline.native import library, processor

BLOCK = 512  # rows that oneDNN multiplies at a time in fp32
MOST_PAIRS = 512 * 512  # queries x keys of one head: what a thread works in stays in its cache
SUFFIX = {torch.float32: "f32", torch.bfloat16: "bf16"}


def ready(*tensors: Shaped[Tensor, "..."]) -> bool:
    """Can the kernels take these, and give what autocast asks for?"""
    fit = all(t.dtype in SUFFIX and t.device.type == "cpu" and product_dtype(t) in SUFFIX for t in tensors)
    return fit and library("kernels") is not None


def product_dtype(x: Shaped[Tensor, "..."]) -> torch.dtype:
    """What matrix products of this are made in: autocast's precision where that is on."""
    device = x.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else x.dtype


def _call(name: str, *arguments: Tensor | int | float | ctypes.Structure | None) -> None:
    kernels = library("kernels")
    assert kernels is not None
    getattr(kernels, name)(*map(_plain, arguments))


def _plain(value: Tensor | int | float | ctypes.Structure | None) -> Any:
    if isinstance(value, Tensor):
        return ctypes.c_void_p(value.data_ptr())
    if isinstance(value, ctypes.Structure):
        return ctypes.byref(value)
    if value is None:
        return ctypes.c_void_p(None)
    return ctypes.c_int64(value) if isinstance(value, int) else ctypes.c_float(value)


# --- layer norm --------------------------------------------------------------------------------------------------------------


def layer_norm(
    x: Float[Tensor, "*rows D"], weight: Float[Tensor, " D"], bias: Float[Tensor, " D"], epsilon: float, dtype: torch.dtype
) -> Float[Tensor, "*rows D"]:
    """Layer norm of an fp32 tensor, in fp32 or in the precision of the products that follow."""
    out: Tensor = _LayerNorm.apply(x, weight, bias, epsilon, dtype)  # type: ignore[no-untyped-call]
    return out


def takes_norm(x: Float[Tensor, "..."], *weights: Float[Tensor, " D"] | None) -> bool:
    """Is `layer_norm` for these?"""
    return x.requires_grad and all(t is not None and t.dtype == torch.float32 and ready(t) for t in (x, *weights))


class _LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, epsilon: float, dtype: torch.dtype) -> Tensor:
        x, channels = x.contiguous(), x.size(-1)
        rows = x.numel() // channels
        out, means, scales = torch.empty_like(x, dtype=dtype), x.new_empty(rows), x.new_empty(rows)
        _call(f"norm_forward_{SUFFIX[dtype]}", x, weight, bias, out, means, scales, rows, channels, epsilon)
        ctx.save_for_backward(x, weight, means, scales)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, means, scales = ctx.saved_tensors
        up = upstream[0].contiguous()
        dx, dw, db = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)
        name = f"norm_backward_{SUFFIX[up.dtype]}"
        _call(name, up, x, weight, means, scales, dx, dw, db, len(means), x.size(-1))
        return dx, dw, db, None, None


# --- dropout -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draw:
    """Which random numbers decide what is dropped: those of `Noise.draw` at a place, and how many of 65,536 drop."""

    keys: Int[Tensor, " B"]
    offset: int
    site: int
    threshold: int

    def arguments(self, length: int) -> tuple[Int[Tensor, " B"], int, int, int, int]:
        """As the kernels take them, for sentences of so many positions."""
        return self.keys, length, self.offset, self.site, self.threshold


def drop(x: Float[Tensor, "B T D"], draw: Draw) -> Float[Tensor, "B T D"]:
    """x with some of it dropped."""
    out: Tensor = _Drop.apply(x, draw)  # type: ignore[no-untyped-call]
    return out


def drop_add(base: Float[Tensor, "B T D"], x: Float[Tensor, "B T D"], draw: Draw) -> Float[Tensor, "B T D"]:
    """base + x with some of x dropped; base is fp32."""
    out: Tensor = _DropAdd.apply(base, x, draw)  # type: ignore[no-untyped-call]
    return out


def _dropped(x: Tensor, dtype: torch.dtype, draw: Draw) -> Tensor:
    x = x.contiguous()
    out = torch.empty_like(x, dtype=dtype)
    name = f"drop_{SUFFIX[x.dtype]}_{SUFFIX[dtype]}"
    _call(name, x, out, x.numel() // x.size(-1), x.size(-1), *draw.arguments(x.size(-2)))
    return out


class _Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, draw: Draw) -> Tensor:
        ctx.draw = draw
        return _dropped(x, x.dtype, draw)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        return _dropped(upstream[0], upstream[0].dtype, ctx.draw), None


class _DropAdd(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, base: Tensor, x: Tensor, draw: Draw) -> Tensor:
        ctx.draw, ctx.dtype = draw, x.dtype
        base, x = base.contiguous(), x.contiguous()
        out, channels = torch.empty_like(base), x.size(-1)
        _call(f"drop_add_{SUFFIX[x.dtype]}", x, base, out, x.numel() // channels, channels, *draw.arguments(x.size(-2)))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        return upstream[0], _dropped(upstream[0], ctx.dtype, ctx.draw), None


# --- linear layers -----------------------------------------------------------------------------------------------------------


def linear(
    x: Float[Tensor, "*rows K"], weight: Float[Tensor, "N K"], bias: Float[Tensor, " N"], relu: bool = False
) -> Float[Tensor, "*rows N"]:
    """x Wᵀ + b, with a ReLU behind it if asked."""
    out: Tensor = _Linear.apply(x, weight, bias, relu, product_dtype(x))  # type: ignore[no-untyped-call]
    return out


def takes_linear(x: Float[Tensor, "..."], weight: Float[Tensor, "N K"]) -> bool:
    """Is `linear` the faster way for these?"""
    if not ready(x, weight) or weight.dtype != torch.float32:
        return False
    rows = x.numel() // x.size(-1)
    return x.requires_grad or (product_dtype(x) == torch.float32 and rows >= BLOCK and onednn_is_faster())


@functools.cache
def onednn_is_faster() -> bool:
    """Of fp32 products: MKL takes narrower vectors than the processor has where that is not from its own maker.

    A fact of the machine and not of a stopwatch, because a run that goes on must round as it did.
    """
    capable = torch.backends.cpu.get_cpu_capability() == "AVX512" and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return capable and "GenuineIntel" not in processor()


def _onednn(a: Tensor, b: Tensor) -> Tensor:
    """a bᵀ. A new shape is compiled anew and takes megabytes for good, so it must be one of few."""
    out: Tensor = torch.ops.mkldnn._linear_pointwise(a, b, None, "none", [], "")
    return out


def multiply(a: Float[Tensor, "M K"], b: Float[Tensor, "N K"], out: Float[Tensor, "M N"] | None = None) -> Float[Tensor, "M N"]:
    """a bᵀ, in fp32 by the faster library: a block of rows at a time, so that the shapes are always the same."""
    out = a.new_empty(len(a), len(b)) if out is None else out
    by_blocks = a.dtype == torch.float32 and len(a) >= BLOCK and ready(a) and onednn_is_faster()
    whole = len(a) // BLOCK * BLOCK if by_blocks else 0
    for start in range(0, whole, BLOCK):
        out[start : start + BLOCK] = _onednn(a[start : start + BLOCK], b)
    if whole < len(a):
        torch.mm(a[whole:], b.t(), out=out[whole:])
    return out


def multiply_over_rows(a: Float[Tensor, "M N"], b: Float[Tensor, "M K"]) -> Float[Tensor, "N K"]:
    """aᵀ b in fp32, likewise: the gradient of a weight."""
    if a.dtype != torch.float32 or len(a) < BLOCK or not ready(a) or not onednn_is_faster():
        return (a.t() @ b).float()
    whole = len(a) // BLOCK * BLOCK
    total = a[whole:].t() @ b[whole:]
    for start in range(0, whole, BLOCK):
        total += _onednn(a[start : start + BLOCK].t(), b[start : start + BLOCK].t())
    return total


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, relu: bool, dtype: torch.dtype) -> Tensor:
        rows, narrow = x.to(dtype).reshape(-1, x.size(-1)), weight.to(dtype)
        exact = dtype == torch.float32
        out = multiply(rows, narrow).add_(bias) if exact else torch.addmm(bias.to(dtype), rows, narrow.t())
        if relu:
            out.relu_()
        ctx.save_for_backward(rows, narrow, out if relu else None)
        ctx.x = x.shape, x.dtype
        return out.view(*x.shape[:-1], -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        rows, narrow, activated = ctx.saved_tensors
        shape, dtype = ctx.x
        up = upstream[0].to(rows.dtype).reshape(len(rows), -1).contiguous()
        bias = torch.empty(up.size(1), dtype=torch.float32)
        suffix = SUFFIX[up.dtype]
        if activated is None:
            _call(f"sum_columns_{suffix}", up, bias, *up.shape)
        else:
            passed = torch.empty_like(up)
            _call(f"gate_columns_{suffix}", up, activated, passed, bias, *up.shape)
            up = passed
        dx = multiply(up, narrow.t()).to(dtype).view(shape) if ctx.needs_input_grad[0] else None
        return dx, multiply_over_rows(up, rows), bias, None, None


# --- attention ---------------------------------------------------------------------------------------------------------------


class _Shape(ctypes.Structure):
    """`Shape` of native/kernels/attention.cpp."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("batch", "heads", "queries", "keys", "channels")),
        *((name, ctypes.c_int64 * 3) for name in ("q", "k", "v", "out", "dq", "dk", "dv")),
        *((name, ctypes.c_int64) for name in ("mask_batch", "mask_query")),
        ("scale", ctypes.c_float),
    ]


def takes_attention(
    q: Float[Tensor, "B H T d"], k: Float[Tensor, "..."], v: Float[Tensor, "..."], mask: Bool[Tensor, "..."] | None
) -> bool:
    """Is `attention` for these, and the faster way? Very long sentences repay the larger products of PyTorch's way."""
    alike = k.shape == v.shape and q.dtype == k.dtype == v.dtype and q.shape[:2] == k.shape[:2] and q.size(-1) == k.size(-1)
    fits = alike and q.size(-2) * k.size(-2) <= MOST_PAIRS
    over_keys = mask is None or (mask.dtype == torch.bool and mask.size(1) == 1 and mask.size(-1) == k.size(-2))
    return q.requires_grad and fits and over_keys and ready(q, k, v)


def attention(
    q: Float[Tensor, "B H T d"], k: Float[Tensor, "B H S d"], v: Float[Tensor, "B H S d"], mask: Bool[Tensor, "#B 1 #T S"] | None
) -> Float[Tensor, "B H T d"]:
    """softmax(q kᵀ / √d) v; the weights are never kept."""
    out: Tensor = _Attention.apply(q, k, v, mask)  # type: ignore[no-untyped-call]
    return out


def _empty_like(x: Tensor) -> Tensor:
    """(B, H, T, d) as it comes out of a projection: the heads of a position lie side by side."""
    batch, heads, positions, channels = x.shape
    return x.new_empty(batch, positions, heads, channels).transpose(1, 2)


def _side_by_side(x: Tensor) -> Tensor:
    return x if x.stride(-1) == 1 else x.contiguous()


def _shape(q: Tensor, k: Tensor, v: Tensor, out: Tensor, gradients: Sequence[Tensor], mask: Tensor | None) -> _Shape:
    (batch, heads, queries, channels), keys = q.shape, k.size(2)
    strides = [tuple(each.stride())[:3] for each in (q, k, v, out, *gradients)]
    strides += [(0, 0, 0)] * (7 - len(strides))
    steps = (0, 0) if mask is None else (mask.stride(0) * (len(mask) > 1), mask.stride(2) * (mask.size(2) > 1))
    return _Shape(batch, heads, queries, keys, channels, *strides, *steps, channels**-0.5)


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = map(_side_by_side, (q, k, v))
        mask = None if mask is None else _side_by_side(mask)
        out = _empty_like(q)
        _call(f"attention_forward_{SUFFIX[q.dtype]}", q, k, v, mask, out, _shape(q, k, v, out, (), mask))
        ctx.save_for_backward(q, k, v, mask)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, mask = ctx.saved_tensors
        up = _side_by_side(upstream[0])
        made = [_empty_like(each) for each in (q, k, v)]
        _call(f"attention_backward_{SUFFIX[q.dtype]}", up, q, k, v, mask, *made, _shape(q, k, v, up, made, mask))
        return *made, None


# --- loss --------------------------------------------------------------------------------------------------------------------


def lose_(logits: Float[Tensor, "N V"], targets: Int[Tensor, " N"], smoothing: float) -> Float[Tensor, " N"]:
    """The cross-entropy of each row; the logits become their own gradient."""
    if len(targets) and not 0 <= int(targets.min()) <= int(targets.max()) < logits.size(1):
        raise IndexError(f"a target lies outside the {logits.size(1)} words")
    losses = torch.empty(len(logits), dtype=torch.float32)
    targets = targets.to(torch.int64).contiguous()
    _call(f"loss_{SUFFIX[logits.dtype]}", logits, targets, losses, *logits.shape, float(smoothing))
    return losses
