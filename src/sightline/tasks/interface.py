"""What the training loop asks of a task."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from sightline.nn.noise import Noise


class Task(Protocol):
    """Numbered samples, an order to take them in, and a loss."""

    @property
    def fingerprint(self) -> str:
        """Of all samples: weights trained on some are not trained on with others in their place."""
        ...

    def batches(self, epoch: int) -> int:
        """How many batches this epoch has."""
        ...

    def rows(self, epoch: int, index: int) -> NDArray[np.int64]:
        """The samples of one batch."""
        ...

    def tokens(self, rows: NDArray[np.int64]) -> int:
        """How many tokens these samples are to be predicted in: what the loss of an update is divided by."""
        ...

    def shares(self, rows: NDArray[np.int64], count: int) -> list[NDArray[np.int64]]:
        """These samples in at most so many parts of about equal work, none of them empty."""
        ...

    def loss(self, model: nn.Module, rows: NDArray[np.int64], epoch: int, noise: Noise | None) -> Float[Tensor, ""]:
        """Summed over tokens."""
        ...

    def origins(self, rows: NDArray[np.int64]) -> list[str]:
        """Where these samples came from, as file:line."""
        ...
