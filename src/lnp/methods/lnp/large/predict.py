"""The decoder's probabilities of many nodes in evaluation: one pass from the outputs of two networks."""

from __future__ import annotations

import torch
from torch import Tensor

from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.labelled import mixed
from lnp.methods.lnp.large.posterior import Anchors, Rules
from lnp.methods.lnp.large.unit import ClassMeans, factors_of, slices
from lnp.nn.bounded_softmax import bounded_softmax
from lnp.nn.prototypes import WholeSums

__all__ = ["predicted"]


def predicted(
    posterior: Tensor,
    decoder: Tensor,
    trusted: Labelled,
    rules: Rules,
    counts: Tensor,
    scale: float,
    whole: tuple[WholeSums, WholeSums] | None = None,
) -> Tensor:
    """``(n, c)`` probabilities, without gradient; they take the place of the decoder's outputs.

    Args:
        posterior: f of the posterior's network.
        decoder: f of the decoder's network; overwritten.
        trusted: Y_C with the nodes that joined it.
        rules: Which rule each node follows in the posterior.
        counts: 1 where the given label is an input of the decoder, 0 elsewhere, ``(n, 1)``.
        scale: s.
        whole: Where the rows are those of a part of the graph: turn sums over the posterior's and the decoder's members
            into those of the whole.
    """
    of_posterior, of_decoder = whole or (None, None)
    anchors = Anchors(ClassMeans(posterior, trusted, scale, of_posterior))
    means = ClassMeans(decoder, trusted, scale, of_decoder).vectors
    for rows in slices(*posterior.shape):
        unit = posterior[rows] * factors_of(posterior[rows], scale)
        logits = torch.empty_like(unit)
        anchors.block(unit, rules.given[rows], rules.share[rows], logits)
        mixture = mixed(bounded_softmax(logits, scale)[0], rules.given[rows], counts[rows])[0]
        outputs = decoder[rows]
        logits = torch.addcmul(mixture @ means, outputs, factors_of(outputs, scale)).mul_(0.5)
        outputs.copy_(bounded_softmax(logits, scale)[0])
    return decoder
