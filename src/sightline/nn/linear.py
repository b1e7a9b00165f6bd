"""Linear layers and layer norm: PyTorch's modules, with the same weights and names, on kernels that are faster on a CPU."""

from __future__ import annotations

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from sightline.nn import kernels


class Linear(nn.Linear):
    """x Wᵀ + b."""

    def forward(self, x: Float[Tensor, "*rows K"], relu: bool = False) -> Float[Tensor, "*rows N"]:
        """With a ReLU behind it if asked, which then costs nothing of its own."""
        if kernels.takes_linear(x, self.weight):
            return kernels.linear(x, self.weight, self.bias, relu)
        out = super().forward(x)
        return F.relu(out) if relu else out


class LayerNorm(nn.LayerNorm):
    """Mean 0 and deviation 1, then weight and bias. On the way into products it comes in their precision."""

    def forward(self, x: Float[Tensor, "*rows D"], into_products: bool = False) -> Float[Tensor, "*rows D"]:
        if not kernels.takes_norm(x, self.weight, self.bias):
            return super().forward(x)
        return kernels.layer_norm(x, self.weight, self.bias, self.eps, kernels.product_dtype(x) if into_products else x.dtype)
