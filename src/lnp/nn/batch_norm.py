r"""BatchNorm whose running statistics are right from the first step.

In training a column is normalised by the mean and variance of the batch, in evaluation by running ones,
:math:`r \leftarrow (1 - m)\, r + m\, b` with :math:`m = 0.1` in PyTorch, from a mean of 0 and a variance of 1. Rows of
features that sum to 1 give hidden layers with variances of :math:`10^{-6}`, and the first 1 is larger than that for
:math:`6 / \log_{10}(1 / 0.9) \approx 131` steps. All that time the network that is evaluated is not the one that is
trained, and the rule that selects epochs looks at the wrong one. Here step t takes

.. math:: m_t = \max(0.1,\, 1 / t),

the plain mean of the first ten batches, after which nothing of the start is left.
"""

from __future__ import annotations

from torch import Tensor, nn

__all__ = ["LEAST", "BatchNorm"]

LEAST = 0.1
"""What a batch counts for from the tenth on."""


class BatchNorm(nn.BatchNorm1d):
    """Over the columns of ``(n, d)``."""

    def forward(self, input: Tensor) -> Tensor:
        """Normalised by the batch in training, by the running statistics in evaluation."""
        if self.training:
            assert self.num_batches_tracked is not None
            self.momentum = max(LEAST, 1 / (int(self.num_batches_tracked) + 1))
        return super().forward(input)
