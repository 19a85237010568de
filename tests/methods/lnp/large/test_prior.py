"""The prior in one step against its rule as it is written."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.prior import PriorLogits
from lnp.methods.lnp.prior import inform
from lnp.nn.prototypes import WholeSums

SCALE = 5.0


@pytest.mark.parametrize("conditioned", [False, True])
def test_logits_and_gradient_are_those_of_the_rule(
    outputs: torch.Tensor, noisy: Labelled, whole: WholeSums | None, conditioned: bool
) -> None:
    upstream = torch.linspace(-1, 2, 48, dtype=torch.float64).view(12, 4).sin()
    leaf = outputs.clone().requires_grad_()
    unit = SCALE * F.normalize(leaf, dim=1)
    expected = inform(unit, noisy, 4, whole) if conditioned else unit
    (of_outputs,) = torch.autograd.grad((expected * upstream).sum(), leaf)

    large = PriorLogits(outputs, noisy if conditioned else None, SCALE, whole)
    logits, gradient = large.logits(outputs), upstream.clone()
    assert large.to_outputs_(gradient, outputs) is gradient  # in place
    for one in (gradient, of_outputs):
        one[4] *= 1e-12  # scaled up by as much where the outputs are zero
    torch.testing.assert_close(logits, expected.detach(), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(gradient, of_outputs, rtol=1e-10, atol=1e-10)
