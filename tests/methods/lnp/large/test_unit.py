"""Blocks, unit rows and class means against the plain forms."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.unit import ClassMeans, factors_of, slices, to_outputs_
from lnp.nn.prototypes import WholeSums, class_prototypes

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


def test_class_means_and_their_gradient_are_those_of_the_prototypes(
    outputs: torch.Tensor, trusted: Labelled, whole: WholeSums | None
) -> None:
    leaf = outputs.clone().requires_grad_()
    prototypes = class_prototypes(SCALE * F.normalize(leaf, dim=1), *trusted, 4, whole)
    means = ClassMeans(outputs, trusted, SCALE, whole)
    torch.testing.assert_close(means.vectors, prototypes.vectors.detach())
    assert means.counts.squeeze(1).tolist() == ([2, 2, 1, 0] if whole is None else [3, 2, 3, 3])

    upstream = torch.linspace(-1, 2, 16, dtype=torch.float64).view(4, 4)
    (expected,) = torch.autograd.grad((prototypes.vectors * upstream).sum(), leaf)
    for _ in range(2):  # as often as asked
        gradient = torch.zeros_like(outputs)
        means.pass_to_members_(gradient, outputs, upstream)
        torch.testing.assert_close(gradient, expected)
