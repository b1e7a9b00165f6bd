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
    """Mean 0 and deviation 1, then weight and bias; the result in the precision of the products that follow."""

    def forward(self, x: Float[Tensor, "*rows D"]) -> Float[Tensor, "*rows D"]:
        if x.requires_grad and kernels.ready(x, self.weight) and x.dtype == self.weight.dtype:
            return kernels.layer_norm(x, self.weight, self.bias, self.eps)
        return super().forward(x)
