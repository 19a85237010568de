"""Predictions in one pass against posterior and decoder as they are written."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from lnp.methods.lnp.decoder import Decoded, mix_given_labels
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.posterior import Rules
from lnp.methods.lnp.large.predict import predicted
from lnp.methods.lnp.posterior import fuse
from lnp.nn.prototypes import WholeSums, class_prototypes

SCALE = 5.0


@pytest.mark.parametrize("conditioned", [False, True])
def test_equals_posterior_and_decoder_one_after_the_other(
    outputs: torch.Tensor,
    trusted: Labelled,
    noisy: Labelled,
    given: torch.Tensor,
    whole: WholeSums | None,
    conditioned: bool,
) -> None:
    condition = noisy if conditioned else None
    second = outputs.flip(0).cos()
    units = [SCALE * F.normalize(values, dim=1) for values in (outputs, second)]
    prototypes = [class_prototypes(unit, *trusted, 4, whole) for unit in units]
    mixture = fuse(units[0], prototypes[0], trusted, condition).logits.softmax(dim=1)
    if condition is not None:
        mixture = mix_given_labels(mixture, condition)
    expected = Decoded(units[1], prototypes[1].vectors, mixture).logits.softmax(dim=1)

    inputs = torch.zeros(12, 1, dtype=torch.float64)
    if condition is not None:
        inputs[condition.nodes] = 1
    rules = Rules.of(given, trusted, condition, "trusted", outputs)
    found = predicted(outputs, second, trusted, rules, inputs, SCALE, None if whole is None else (whole, whole))
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
