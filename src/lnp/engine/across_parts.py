r"""What a part knows of the whole graph: values of the start of the epoch, its own rows renewed.

At the start of an epoch the method is computed on the whole graph in evaluation mode, and sums over the members of
every class are kept. A part then puts what its own members give now in the place of what they gave then,

.. math:: \sum_{\text{whole}} - \sum_{\text{own, then}} + \sum_{\text{own, now}},

and the gradient goes through the last sum. With one part of all nodes that is the sum of a full batch, gradient
included. With many, the values of other parts are at most one epoch old.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from lnp.methods.base import Members
from lnp.methods.batch import Batch

__all__ = ["AcrossParts", "WholeGraph"]


@dataclass(frozen=True)
class _Sums:
    members: Members
    sums: Tensor
    counts: Tensor


class WholeGraph:
    """What all parts of an epoch share.

    Args:
        whole: The whole graph.
        parts: How many parts the epoch has.
        remembered: What :meth:`lnp.methods.base.Method.remember` gave.
    """

    def __init__(self, whole: Batch, parts: int, remembered: Mapping[str, Members]) -> None:
        self.node_count = whole.node_count
        self.parts = parts
        self.counts = {
            "all": whole.node_count,
            "noisy": whole.noisy.numel(),
            "trusted": whole.trusted.numel(),
            "outside-noisy": whole.node_count - whole.noisy.numel(),
        }
        self.sums = {
            name: _Sums(members, *_class_sums(members, None, whole.class_count)) for name, members in remembered.items()
        }


class AcrossParts:
    """How one part learns what is true of the whole.

    Args:
        whole: What is known of it.
        own: Node numbers of the part's own nodes and of those that visit.
        trusted_weights: For each trusted node of the part, one over the number of parts that it is in; ``None``: one.
    """

    def __init__(self, whole: WholeGraph, own: Tensor, trusted_weights: Tensor | None = None) -> None:
        self.whole = whole
        self.own = own
        self.trusted_weights = trusted_weights
        self.node_count = whole.node_count

    def mean(self, values: Tensor, over: str) -> Tensor:
        """The sum over the part's nodes of the kind, times the number of parts over the number of all such nodes.

        Every node is in one part of an epoch, or is weighted so that it counts once: the mean over the parts is the
        mean over the nodes.
        """
        if over == "trusted" and self.trusted_weights is not None:
            values = values * self.trusted_weights
        return values.sum() * (self.whole.parts / max(1, self.whole.counts[over]))

    def class_sums(self, name: str, sums: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """The sums of the whole graph, in which the part's own members are up to date."""
        known = self.whole.sums[name]
        then, count = _class_sums(known.members, self.own, counts.numel())
        return (known.sums - then).to(sums.dtype) + sums, known.counts - count + counts

    def extremes(self, name: str, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """The extremes of the part's own members now and of all others then."""
        members = self.whole.sums[name].members
        others = members.labels >= 0
        others[self.own] = False
        values = members.values[others]
        if values.numel() == 0:
            return low, high
        return torch.minimum(low, values.min()), torch.maximum(high, values.max())


def _class_sums(members: Members, rows: Tensor | None, class_count: int) -> tuple[Tensor, Tensor]:
    """Sums in double precision, so that what is subtracted later leaves nothing behind."""
    values = members.values if rows is None else members.values[rows]
    labels = members.labels if rows is None else members.labels[rows]
    inside = (labels >= 0).nonzero().squeeze(1)
    labels, values = labels[inside], values[inside].double()
    sums = values.new_zeros(class_count, values.shape[1]).index_add_(0, labels, values)
    return sums, torch.bincount(labels, minlength=class_count)
