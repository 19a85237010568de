"""The posterior in one step against the rules as they are written."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.posterior import PosteriorLogits, Rules
from lnp.methods.lnp.posterior import fuse
from lnp.nn.prototypes import WholeSums, class_prototypes

SCALE = 5.0


@pytest.mark.parametrize("conditioned", [False, True])
@pytest.mark.parametrize("grown_as", ["trusted", "noisy"])
def test_logits_and_gradient_are_those_of_the_rules(
    outputs: torch.Tensor,
    trusted: Labelled,
    noisy: Labelled,
    given: torch.Tensor,
    whole: WholeSums | None,
    conditioned: bool,
    grown_as: str,
) -> None:
    condition = noisy if conditioned else None
    upstream = torch.linspace(-1, 2, 48, dtype=torch.float64).view(12, 4).sin()

    def plain(values: torch.Tensor) -> torch.Tensor:
        unit = SCALE * F.normalize(values, dim=1)
        return fuse(unit, class_prototypes(unit, *trusted, 4, whole), trusted, condition, grown_as=grown_as).logits

    leaf = outputs.clone().requires_grad_()
    expected = plain(leaf)
    (of_outputs,) = torch.autograd.grad((expected * upstream).sum(), leaf)

    large = PosteriorLogits(outputs, trusted, Rules.of(given, trusted, condition, grown_as, outputs), SCALE, whole)
    logits, gradient = large.logits(outputs), upstream.clone()
    assert large.to_outputs_(gradient, outputs) is gradient  # in place
    for one in (gradient, of_outputs):
        one[4] *= 1e-12  # scaled up by as much where the outputs are zero
    torch.testing.assert_close(logits, expected.detach(), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(gradient, of_outputs, rtol=1e-10, atol=1e-10)


def test_some_cosines_are_kept_from_falling_below_zero_and_some_are_not(
    outputs: torch.Tensor, trusted: Labelled, noisy: Labelled
) -> None:
    """So the comparison above goes through both branches."""
    unit = F.normalize(outputs, dim=1)
    vectors = class_prototypes(unit, *trusted, 4).vectors
    cosines = F.cosine_similarity(unit[noisy.nodes], vectors[noisy.labels], dim=1)
    assert (cosines < 0).any()
    assert (cosines > 0).any()
