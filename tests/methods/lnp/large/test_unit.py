"""Blocks, unit rows and class means against the plain forms."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.unit import class_means, factors_of, pass_to_members_, slices, to_outputs_
from lnp.nn.prototypes import class_prototypes

SCALE = 5.0


def test_blocks_cover_every_row_once() -> None:
    assert [(part.start, part.stop) for part in slices(8, 4)] == [(0, 3), (3, 6), (6, 8)]
    assert [(part.start, part.stop) for part in slices(2, 100)] == [(0, 1), (1, 2)]


def test_gradient_of_unit_rows_is_that_of_normalise(outputs: torch.Tensor) -> None:
    leaf = outputs.clone().requires_grad_()
    unit = SCALE * F.normalize(leaf, dim=1)
    upstream = torch.linspace(-1, 2, 48, dtype=torch.float64).view(12, 4)
    (expected,) = torch.autograd.grad((unit * upstream).sum(), leaf)
    factors = factors_of(outputs, SCALE)
    torch.testing.assert_close(outputs * factors, unit.detach())
    torch.testing.assert_close(to_outputs_(upstream.clone(), outputs * factors, factors, SCALE), expected)


def test_class_means_and_their_gradient_are_those_of_the_prototypes(outputs: torch.Tensor, trusted: Labelled) -> None:
    leaf = outputs.clone().requires_grad_()
    prototypes = class_prototypes(SCALE * F.normalize(leaf, dim=1), *trusted, 4)
    means, counts = class_means(outputs, *trusted, 4, SCALE)
    torch.testing.assert_close(means, prototypes.vectors.detach())
    assert counts.squeeze(1).tolist() == [2, 2, 1, 0]
    rows, _ = class_means(outputs[trusted.nodes], None, trusted.labels, 4, SCALE)
    torch.testing.assert_close(rows, means)

    upstream = torch.linspace(-1, 2, 16, dtype=torch.float64).view(4, 4)
    (expected,) = torch.autograd.grad((prototypes.vectors * upstream).sum(), leaf)
    gradient = torch.zeros_like(outputs)
    pass_to_members_(gradient, outputs, *trusted, upstream, counts, SCALE)
    torch.testing.assert_close(gradient, expected)
