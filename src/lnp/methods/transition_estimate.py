r"""Estimates of the transition matrix :math:`C_{ij} = P(\text{given } j \mid \text{true } i)`.

All read the class probabilities of a network trained on the noisy labels as if they were right, which therefore stand
for :math:`P(\tilde y \mid G)`. At a node of true class i these probabilities are row i of C; what differs is how such
nodes are found.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lnp.errors import ConfigError, LabelError, check_choice, check_range
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import FineTunedConfig

__all__ = [
    "ESTIMATORS",
    "TransitionConfig",
    "confident_transition",
    "estimate_transition",
    "read_transition",
    "trusted_transition",
]

ESTIMATORS = ("estimate", "anchors", "exact")
"""``estimate``: at confident nodes; ``anchors``: at trusted nodes; ``exact``: given as an option."""


@dataclass(frozen=True, kw_only=True)
class TransitionConfig(FineTunedConfig):
    """Options of a method that corrects its loss by C.

    Args:
        estimator: Where C comes from, one of :data:`ESTIMATORS`.
        transition: C for "exact": its rows as JSON text, for instance ``[[0.8, 0.2], [0.3, 0.7]]``.
        estimate_epochs: Epochs of the network whose predictions "estimate" and "anchors" read.
        percentile: "estimate" takes the node at this percentile of the probability of class i; 100 is the maximum.
        confidence: "most", or "least": the least sure of the nodes predicted as class i.
        estimate_nodes: "outside" reads nodes outside T_N, whose labels the network cannot have memorised; "noisy" reads
            T_N; "all" reads every node.
    """

    normalisation: str = "row"
    estimator: str = "estimate"
    transition: str = ""
    estimate_epochs: int = 200
    percentile: float = 100.0
    confidence: str = "most"
    estimate_nodes: str = "outside"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("estimator", self.estimator, ESTIMATORS)
        check_choice("confidence", self.confidence, ("least", "most"))
        check_choice("estimate_nodes", self.estimate_nodes, ("all", "noisy", "outside"))
        check_range("percentile", self.percentile, 0, 100)
        if self.estimate_epochs < 0:
            raise ConfigError(f"Expected `estimate_epochs` to be at least 0, but got {self.estimate_epochs}.")
        if (self.estimator == "exact") != bool(self.transition):
            raise ConfigError(
                f"Expected `transition` to be given with the estimator 'exact' and with no other, but got "
                f"{self.transition!r} with {self.estimator!r}."
            )
        if self.transition:
            read_transition(self.transition)


def estimate_transition(config: TransitionConfig, batch: Batch, probabilities: Tensor) -> Tensor:
    """C as ``config`` wants it, from the ``(n, c)`` noisy-label ``probabilities``."""
    if config.estimator == "anchors":
        if batch.trusted.numel() == 0:
            raise LabelError(
                "Expected trusted nodes for the estimator 'anchors', but there are none. Use the estimator 'estimate'."
            )
        return trusted_transition(probabilities[batch.trusted], batch.trusted_labels, batch.class_count)
    nodes = {"outside": batch.outside_noisy, "noisy": batch.noisy}.get(config.estimate_nodes)
    rows = probabilities if nodes is None or nodes.numel() == 0 else probabilities[nodes]
    return confident_transition(rows, percentile=config.percentile, confidence=config.confidence)


def confident_transition(probabilities: Tensor, *, percentile: float = 100.0, confidence: str = "most") -> Tensor:
    r"""Row i is :math:`p(x^i)` at the node that looks most like class i: :math:`x^i = \arg\max_x p_i(x)`.

    It is right where every class has such a node of its own, which asks that most labels of each class be right.

    Args:
        probabilities: ``(k, c)`` rows to choose from.
        percentile: Instead of the maximum, the node at this percentile of :math:`p_i`, against outliers.
        confidence: "least" takes, among the nodes predicted as i, that with the smallest :math:`p_i`; a class that is
            never predicted falls back on the percentile.
    """
    count = probabilities.shape[0]
    rank = math.ceil(percentile / 100 * (count - 1))
    chosen = probabilities.argsort(dim=0, stable=True)[rank]
    if confidence == "least":
        own = probabilities.argmax(dim=1, keepdim=True) == torch.arange(probabilities.shape[1]).to(probabilities.device)
        least = probabilities.masked_fill(~own, torch.inf).argmin(dim=0)
        chosen = torch.where(own.any(dim=0), least, chosen)
    return probabilities[chosen]


def trusted_transition(probabilities: Tensor, labels: Tensor, class_count: int, *, smoothing: float = 0.0) -> Tensor:
    r"""Row i is the mean of p over the trusted nodes of class i (gold loss correction).

    .. math:: C_{ij} = \frac{a/c + \sum_{x \in T_C : y = i} p_j(x)}{a + |\{x \in T_C : y = i\}|}

    Args:
        probabilities: ``(k, c)`` noisy-label probabilities of the trusted nodes.
        labels: Their true labels, ``(k,)``.
        class_count: The number of classes c.
        smoothing: The Dirichlet count a; few trusted nodes make rough rows. A class without trusted nodes gets the
            row :math:`e_i`.
    """
    members = (labels.unsqueeze(0) == torch.arange(class_count, device=labels.device).unsqueeze(1)).to(probabilities)
    counts = members.sum(dim=1, keepdim=True)
    rows = (members @ probabilities + smoothing / class_count) / (counts + smoothing).clamp(min=1e-12)
    return torch.where(counts > 0, rows, torch.eye(class_count).to(rows))


def read_transition(text: str, class_count: int | None = None) -> Tensor:
    """C from its JSON text, checked to be square, of the right size, and to have rows that sum to 1.

    >>> read_transition("[[0.75, 0.25], [0.5, 0.5]]").tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    try:
        matrix = torch.tensor(json.loads(text), dtype=torch.float64)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"Expected `transition` to be rows of numbers as JSON, but got {text!r}.") from error
    if matrix.ndim != 2 or set(matrix.shape) != {class_count or matrix.shape[0]}:
        wanted = "as many columns as rows" if class_count is None else f"{class_count} rows of {class_count} numbers"
        raise ConfigError(f"Expected `transition` to have {wanted}, but got shape {tuple(matrix.shape)}.")
    sums = matrix.sum(dim=1)
    if not ((matrix >= 0).all() and torch.allclose(sums, torch.ones_like(sums), atol=1e-3)):
        raise ConfigError(
            "Expected the rows of `transition` to be probabilities that sum to 1, but got rows with the sums "
            f"{[round(s, 4) for s in sums.tolist()]} and the smallest entry {matrix.min().item():g}."
        )
    return (matrix / sums.unsqueeze(1)).float()
