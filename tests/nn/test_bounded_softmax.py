"""Bounded softmax is softmax, and its sums are those of logsumexp."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.nn.bounded_softmax import bounded_softmax


@pytest.mark.parametrize("bound", [5.0, 1000.0])
def test_bounded_softmax_gives_probabilities_and_log_sums(bound: float) -> None:
    logits = torch.from_numpy(np.random.default_rng(0).uniform(-bound, bound, size=(50, 6)))
    probabilities, masses = bounded_softmax(logits, bound)
    torch.testing.assert_close(probabilities, logits.softmax(dim=1))
    torch.testing.assert_close(masses, logits.logsumexp(dim=1, keepdim=True))
