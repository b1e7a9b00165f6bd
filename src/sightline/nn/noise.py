"""Dropout whose random numbers are a function of (seed, update, sample, position, place in the network, channel).

Nothing depends on where a sentence stands in its batch, on how the batch is split or on a generator's hidden state, so a
resumed, a distributed and an accumulated run draw the same numbers. There is no training mode: noise given, dropout done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from sightline.nn import kernels

# splitmix64 (Steele, Lea & Flood 2014): an increment and two multipliers, written as signed 64-bit numbers.
GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)
MIX_A = 0xBF58476D1CE4E5B9 - (1 << 64)
MIX_B = 0x94D049BB133111EB - (1 << 64)
LANES = 4  # 16-bit draws in one 64-bit number


def _gamma(count: int) -> int:
    """`count` increments, as a signed 64-bit number."""
    return (count * GOLDEN + (1 << 63)) % (1 << 64) - (1 << 63)


def _shifted(x: Tensor, bits: int) -> Tensor:
    return (x >> bits) & ((1 << (64 - bits)) - 1)  # torch shifts signed numbers arithmetically


def mix(x: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
    """splitmix64's finaliser: every input bit reaches every output bit."""
    x = (x ^ _shifted(x, 30)) * MIX_A
    x = (x ^ _shifted(x, 27)) * MIX_B
    return x ^ _shifted(x, 31)


@dataclass(frozen=True, slots=True)
class Noise:
    """Which random numbers a pass draws: a key per sentence, and the position its first token stands at."""

    keys: Int[Tensor, " B"]
    offset: int = 0

    @staticmethod
    def of(seed: int, update: int, samples: Int[Tensor, " B"]) -> Noise:
        """The noise of these samples in this update of the run with this seed."""
        base = mix(mix(torch.tensor(seed, dtype=torch.int64) + GOLDEN) + update)
        return Noise(mix(base.to(samples.device) ^ (samples * GOLDEN)))

    def at(self, offset: int) -> Noise:
        """The same noise for tokens that begin at another position."""
        return replace(self, offset=offset)

    def fork(self, label: int) -> Noise:
        """Independent noise for another part of the model: encoder and decoder see different numbers."""
        return replace(self, keys=mix(self.keys + _gamma(label + 1)))

    def draw(self, site: int, length: int, channels: int) -> Int[Tensor, "B {length} {channels}"]:
        """Uniform 16-bit integers in [-32768, 32767]."""
        device = self.keys.device
        positions = torch.arange(self.offset, self.offset + length, device=device)
        rows = mix(mix(self.keys[:, None] + _gamma(site + 1)) + positions[None, :] * GOLDEN)
        columns = torch.arange(1, -(-channels // LANES) + 1, device=device) * GOLDEN
        return mix(rows[..., None] + columns).view(torch.int16)[..., :channels]


def noise_at(noise: Noise | None, offset: int) -> Noise | None:
    """`noise.at(offset)`, where there is any."""
    return None if noise is None else noise.at(offset)


class Dropout(nn.Module):
    """Inverted dropout. `site` tells the places of one network apart; `number_sites` sets it."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        if not 0 <= rate < 1:
            raise ValueError(f"a dropout rate lies in [0, 1), not {rate}")
        self.rate, self.site = rate, 0

    def forward(self, x: Float[Tensor, "B T D"], noise: Noise | None) -> Float[Tensor, "B T D"]:
        if noise is None or self.rate == 0:
            return x
        if kernels.ready(x):
            return kernels.drop(x, self._draw(noise, x))
        return x * self._keep(noise.draw(self.site, x.size(1), x.size(2)), x.dtype)

    def add(self, base: Float[Tensor, "B T D"], x: Float[Tensor, "B T D"], noise: Noise | None) -> Float[Tensor, "B T D"]:
        """base + dropout(x), the end of every residual connection."""
        if noise is None or self.rate == 0 or base.dtype != torch.float32 or not kernels.ready(x, base):
            plain: Tensor = base + self(x, noise)
            return plain
        return kernels.drop_add(base, x, self._draw(noise, x))

    def _draw(self, noise: Noise, x: Tensor) -> kernels.Draw:
        keys = noise.keys.expand(len(x)).contiguous()
        return kernels.Draw(keys, noise.offset, self.site, self._threshold)

    def weights(self, x: Float[Tensor, "B H T S"], noise: Noise | None) -> Float[Tensor, "B H T S"]:
        """Dropout of attention weights. Heads vary fastest, so that a longer row of keys leaves the first draws alone."""
        if noise is None or self.rate == 0:
            return x
        heads, queries, keys = x.shape[1:]
        draws = torch.unflatten(noise.draw(self.site, queries, keys * heads), -1, (keys, heads))
        return x * self._keep(draws.permute(0, 3, 1, 2), x.dtype)

    @property
    def _threshold(self) -> int:
        return round(self.rate * 65536)

    def _keep(self, draws: Tensor, dtype: torch.dtype) -> Tensor:
        keep = draws >= self._threshold - 32768
        return keep.to(dtype).mul_(65536 / (65536 - self._threshold))


def number_sites(model: nn.Module) -> None:
    """Give every dropout of a model its own number, in the order of the module tree."""
    for site, module in enumerate(m for m in model.modules() if isinstance(m, Dropout)):
        module.site = site
