r"""Which epoch to keep: a named rule, the same for every method.

==================  ===================================================================================
``val-clean``       accuracy on the true labels of the validation nodes (what published figures rest on)
``val-noisy``       accuracy on the given labels of the validation nodes
``val-given``       share of the given labels of the validation nodes that are the most likely ones to be given
``val-likelihood``  mean log-likelihood of the given labels of the validation nodes
``val-channel``     mean probability of these labels, were the method right, behind noise that is learnt beforehand
``trusted``         held-out trusted nodes only: what somebody with 25 checked labels has
``last``            the last epoch; nothing is looked at
==================  ===================================================================================

A trusted node that a method trains on is never in the set that selects.

``val-likelihood`` and ``val-given`` need no clean label. With V the validation nodes, :math:`\tilde y` their given
labels and π a method's probabilities of the true ones, the score of the first is

.. math:: \frac{1}{|V|} \sum_{i \in V} \log P(\tilde y_i), \qquad P(\tilde y_i) = (\pi_i T)_{\tilde y_i},

where T is what the method takes the noise to be (:meth:`lnp.methods.base.Method.given_distribution`), and the identity
where it has no such thing. On average over the noise it is largest where :math:`\pi T` is the distribution that the
labels were drawn from: a proper score. Where T is right and invertible that is where π is right, however many of the
labels are wrong; accuracy on given labels is blind to that as soon as a wrong label is the most likely one.
``val-given`` asks less: how often :math:`\arg\max_j (\pi_i T)_j` is the label that was given. It takes the noise into
account too, and a method that is right but too sure or not sure enough loses nothing by that. Without T it is
``val-noisy``.

Most methods have no T, and an epoch that repeats the noise suits them best by these rules as soon as most labels of a
class are wrong. ``val-channel`` gives all of them the same T (:mod:`lnp.engine.noise_channel`), learnt from T_N and T_C
before they begin, and none of it reaches the method. Its score is

.. math:: \frac{1}{|V|} \sum_{i \in V} T_{\hat y_i \tilde y_i}, \qquad \hat y_i = \arg\max_k \pi_i(k).

What counts is the class a method names, not how sure it is. A named class k where y is true adds
:math:`\sum_j T_{yj} T_{kj}` on average, which is largest for k = y as long as rows are of one length. Where a class
keeps about as many labels as it loses to another one, :math:`\arg\max_j (\pi_i T)_j` hangs on a hundredth of T; this
does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnp.errors import ConfigError, LabelError
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.graph.split import Split
from lnp.seeds import Generator

__all__ = [
    "BEHIND_NOISE",
    "SELECTIONS",
    "Selection",
    "hold_out_trusted",
    "select_last",
    "select_trusted",
    "select_validation",
]

SELECTIONS = ("val-clean", "val-noisy", "val-given", "val-likelihood", "val-channel", "trusted", "last")
"""The names of the rules."""

BEHIND_NOISE = ("val-given", "val-likelihood", "val-channel")
"""Rules that score given labels behind the noise they came through."""

SMALLEST = 1e-12
"""Lower bound of a probability under the logarithm."""


@dataclass(frozen=True, eq=False)
class Selection:
    """A rule with the nodes and labels it scores by. Methods never see those labels.

    Args:
        rule: One of :data:`SELECTIONS`.
        nodes: The nodes that select.
        labels: Their labels, true or given as the rule says.
        transition: T, ``(c, c)``, of the rule ``val-channel``; the others take what the method says, or nothing.
    """

    rule: str
    nodes: NDArray[np.int64]
    labels: NDArray[np.int64]
    transition: NDArray[np.float32] | None = None

    def score(self, probabilities: Tensor, given: Callable[[Tensor], Tensor] | None = None) -> float:
        """How good the probabilities are; larger is better; not a number for ``last``.

        A few held-out nodes make many ties in accuracy, so ``trusted`` breaks them by the mean log-probability of the
        right class, scaled to less than one node's worth of accuracy.

        Args:
            probabilities: ``(n, c)``, of the true label of every node.
            given: From rows of these to rows of P(given label), which ``val-given`` and ``val-likelihood`` ask for;
                ``None`` takes labels to be given as they are.

        >>> flipped = Selection("val-likelihood", np.array([0]), np.array([1]))
        >>> transition = torch.tensor([[0.25, 0.75], [0.0, 1.0]])
        >>> math.exp(flipped.score(torch.tensor([[1.0, 0.0]]), lambda rows: rows @ transition))
        0.75
        """
        if self.rule == "last":
            return math.nan
        rows = probabilities[torch.from_numpy(self.nodes).to(probabilities.device)]
        labels = torch.from_numpy(self.labels)
        if self.rule == "val-channel":
            named = rows.argmax(dim=1).cpu()
            # Rounded, so that what is the same but for the order of the sum is a tie.
            return round(self._known_transition()[named, labels].double().mean().item(), 12)
        if self.rule in BEHIND_NOISE and given is not None:
            rows = given(rows)
        if self.rule == "val-likelihood":
            of_given = rows.double().cpu().gather(1, labels.unsqueeze(1))
            return of_given.clamp(min=SMALLEST).log().mean().item()
        rows = rows.float().cpu()
        accuracy = (rows.argmax(dim=1) == labels).double().mean().item()
        if self.rule != "trusted":
            return accuracy
        likelihood = rows.gather(1, labels.unsqueeze(1)).clamp(min=1e-6).log().mean().item()
        return accuracy + (1 + likelihood / -math.log(1e-6)) * 0.99 / self.nodes.size

    def improves(self, score: float, best: float | None) -> bool:
        """Whether an epoch with this score replaces the best so far. Ties keep the earlier one."""
        return self.rule == "last" or best is None or score > best

    def _known_transition(self) -> Tensor:
        if self.transition is None:
            raise ConfigError(
                "Expected the rule 'val-channel' with the noise matrix to score behind, but there is none yet. "
                "lnp.engine.noise_channel.behind_channel learns it."
            )
        return torch.from_numpy(self.transition)


def select_last() -> Selection:
    """Keeps the last epoch."""
    return Selection("last", np.zeros(0, np.int64), np.zeros(0, np.int64))


def select_validation(labels: NDArray[np.int64], observed: ObservedLabels, split: Split, *, rule: str) -> Selection:
    """Scores by validation labels: ``truth.labels`` for ``val-clean``, given labels for the others."""
    nodes = split.validation[~observed.trusted[split.validation]]
    nodes = nodes[labels[nodes] != UNKNOWN]
    if nodes.size == 0:
        raise LabelError(f"Expected labelled validation nodes for the selection rule {rule!r}, but there are none.")
    return Selection(rule, nodes, labels[nodes])


def select_trusted(labels: NDArray[np.int64], held_out: NDArray[np.int64]) -> Selection:
    """The rule ``trusted``: ``labels`` of the nodes that :func:`hold_out_trusted` set aside."""
    return Selection("trusted", held_out, labels[held_out])


def hold_out_trusted(
    observed: ObservedLabels, generator: Generator, *, share: float = 1 / 3
) -> tuple[ObservedLabels, NDArray[np.int64]]:
    """Sets a share of every class's trusted nodes aside for the rule ``trusted``.

    Returns:
        The labels without the nodes set aside (their label becomes unknown), and those nodes. A class with one trusted
        node keeps it for training.
    """
    held: list[NDArray[np.int64]] = []
    for k in range(observed.class_count):
        members = observed.trusted_nodes[observed.given[observed.trusted_nodes] == k]
        count = min(members.size - 1, max(1, round(share * members.size))) if members.size else 0
        held.append(generator.permutation(members)[:count])
    nodes = np.sort(np.concatenate(held))
    if nodes.size == 0:
        raise LabelError(
            "Expected a class with at least two trusted nodes for the selection rule 'trusted', but there is none. "
            "Trust more nodes, or select by 'val-noisy' or 'last'."
        )
    given, trusted = observed.given.copy(), observed.trusted.copy()
    given[nodes], trusted[nodes] = UNKNOWN, False
    return ObservedLabels(given, trusted, class_count=observed.class_count, before=observed.before), nodes
