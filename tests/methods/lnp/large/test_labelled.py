"""The decoder on labelled nodes against the decoder as it is written."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.lnp.decoder import Decoded, mix_given_labels
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.labelled import labelled_loss
from lnp.nn.prototypes import WholeSums, class_prototypes
from lnp.seeds import Seeds

SCALE = 5.0


@pytest.mark.parametrize("conditioned", [False, True])
def test_losses_predictions_and_gradients_are_those_of_the_decoder(
    outputs: torch.Tensor, given: torch.Tensor, noisy: Labelled, whole: WholeSums | None, conditioned: bool
) -> None:
    rows = torch.cat([noisy.nodes, torch.tensor([1, 5, 8])])
    labels, members = given[rows], torch.tensor([6, 7, 8, 1])
    count = 6 if conditioned else 0
    q = torch.from_numpy(Seeds(6).generator("posterior").normal(size=(9, 4))).softmax(dim=1)
    upstream = torch.linspace(-1, 2, 9, dtype=torch.float64)

    def plain(values: torch.Tensor, mixture: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        unit = SCALE * F.normalize(values, dim=1)
        prototypes = class_prototypes(unit, members, labels[members], 4, whole).vectors
        mixture = mix_given_labels(mixture, Labelled(torch.arange(count), labels[:count]))
        logits = Decoded(unit, prototypes, mixture).logits
        return cross_entropy(logits, labels), logits.softmax(dim=1)

    def large(values: torch.Tensor, mixture: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        inputs = torch.zeros(9, 1, dtype=torch.float64)
        inputs[:count] = 1
        return labelled_loss(values, mixture, labels, inputs, Labelled(members, labels[members]), SCALE, whole)

    found = []
    for function in (plain, large):
        leaves = outputs[rows].clone().requires_grad_(), q.clone().requires_grad_()
        losses, predictions = function(*leaves)
        of_outputs, of_q = torch.autograd.grad((losses * upstream).sum(), leaves)
        found.append((losses.detach(), predictions.detach(), of_outputs, of_q))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
