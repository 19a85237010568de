"""The prior in one step against its rule as it is written."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.prior import prior_logits
from lnp.methods.lnp.prior import inform

SCALE = 5.0


@pytest.mark.parametrize("conditioned", [False, True])
def test_logits_and_gradient_are_those_of_the_rule(outputs: torch.Tensor, noisy: Labelled, conditioned: bool) -> None:
    at = torch.tensor([1, 2, 11, 2])
    upstream = torch.linspace(-1, 2, 48, dtype=torch.float64).view(12, 4).sin()

    def plain(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        unit = SCALE * F.normalize(values, dim=1)
        logits = inform(unit, noisy, 4) if conditioned else unit
        return logits, logits[at]

    def large(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return prior_logits(values, noisy if conditioned else None, at, SCALE)

    found = []
    for function in (plain, large):
        leaf = outputs.clone().requires_grad_()
        logits, rows = function(leaf)
        (gradient,) = torch.autograd.grad((logits * upstream).sum() + (rows * upstream[:4]).sum(), leaf)
        gradient[4] *= 1e-12  # scaled up by as much where the outputs are zero
        found.append((logits.detach(), rows.detach(), gradient))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
