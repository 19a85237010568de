r"""A score on validation nodes that tells what to expect on other nodes of which fewer, or more, have twins.

With V the nodes that select, U those to be predicted, and :math:`V_1, V_0` the nodes of V with and without a twin among
the training nodes (:mod:`lnp.graph.twins`), the score is

.. math:: p \cdot s(V_1) + (1 - p) \cdot s(V_0), \qquad p = \text{share of nodes with a twin in } U,

where s is the score of the selection rule. It is s(V) where V and U have as many twins. No label of U enters.

By node order, half of Chameleon's validation nodes have a twin in training and a third of its test nodes; networks are
right on nine in ten of the former and on four in ten of the others. Choosing by s(V) chooses who learns by heart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lnp.engine.selection import Selection
from lnp.experiments.protocol import Task
from lnp.graph.twins import have_twin

__all__ = ["MatchedScore", "match_twins"]

FEWEST = 30
"""Nodes of a kind below which their score says too little to be multiplied; also keeps ``trusted`` as it is."""


@dataclass(frozen=True)
class MatchedScore:
    """Scores of parts of the nodes that select, each with its weight.

    Args:
        parts: (weight, the rule with the nodes of the part); weights sum to one.
    """

    parts: tuple[tuple[float, Selection], ...]

    def score(self, probabilities: Tensor, given: Callable[[Tensor], Tensor] | None = None) -> float:
        """As :meth:`lnp.engine.selection.Selection.score`."""
        return sum(weight * part.score(probabilities, given) for weight, part in self.parts)


def match_twins(task: Task) -> MatchedScore:
    """The score of a task's rule, matched to its test nodes; the rule's own where a kind of node is too rare in it."""
    selection, train = task.selection, task.split.train
    twins = have_twin(task.graph, selection.nodes, train)
    if min(twins.sum(), (~twins).sum()) < FEWEST:
        return MatchedScore(((1.0, selection),))
    share = float(have_twin(task.graph, task.split.test, train).mean())
    return MatchedScore(((share, _part(selection, twins)), (1 - share, _part(selection, ~twins))))


def _part(selection: Selection, kept: NDArray[np.bool_]) -> Selection:
    return replace(selection, nodes=selection.nodes[kept], labels=selection.labels[kept])
