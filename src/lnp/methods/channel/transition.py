r"""The M-step for T: counts, a prior that the rows share, and how much that prior counts.

With beliefs :math:`q_i(k)` about the true label of each node of T_N, the expected counts are

.. math:: C_{kj} = \sum_{i : \tilde y_i = j} q_i(k).

How often a class keeps its label, and where the others go, are two questions: under flip noise all classes may lose as
many labels, each to another class. So a row is :math:`T_{kk} = a_k` and :math:`T_{kj} = (1 - a_k)\, b_{kj}`, with

.. math:: a_k = \frac{s\,d + C_{kk}}{s + \sum_l C_{kl}}, \qquad
          b_{kj} = \frac{1 / (c - 1) + C_{kj}}{1 + \sum_{l \ne k} C_{kl}}, \qquad
          d = \frac1c \sum_k C_{kk} / \textstyle\sum_l C_{kl},

the mode under :math:`p(a, b) \propto \prod_k a_k^{s d} (1 - a_k)^{s (1 - d)} \prod_{kj} b_{kj}^{1 / (c - 1)}`. Where
labels go each class finds out for itself; the prior is worth one label, so that nothing is impossible. How often labels
are kept is learned together: the prior's centre d is what the rows have in common, and how many labels s it is worth is
settled by its evidence, the probability of :math:`N_k = (C_{kk}, \sum_{l \ne k} C_{kl})` with a integrated out. With
:math:`m = (d, 1 - d)`

.. math:: \log p(N \mid s) = \sum_k \Big[ \log\frac{\Gamma(s)}{\Gamma(s + \sum_j N_{kj})}
          + \sum_j \log\frac{\Gamma(s\,m_j + N_{kj})}{\Gamma(s\,m_j)} \Big].

Where all classes lose as many labels s is large, which a rare class with few nodes of its own needs most. Beliefs of
networks that know little blur the counts, and blurred rows agree: so s has a limit, and the fewer labels a class has,
the lower it is (:func:`strength_limit`). Noise that loses labels to all classes alike has a T of its own
(:func:`shared_rows`).
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = [
    "LEAST",
    "STRENGTHS",
    "expected_counts",
    "is_least",
    "learn_transition",
    "log_evidence",
    "posterior_mode",
    "shared_rows",
    "strength_limit",
    "uninformed_rows",
]

STRENGTHS = (2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 160.0, 320.0, 640.0)
"""The values of s that are compared."""

ENOUGH = 150
"""Labels of T_N for each class, on average, from which on the limit of s is what the options say."""

LEAST = 0.2
"""Equal rows keep at least this share of the labels for sure: where networks know little, pure noise explains labels as
well as anything, and nothing is learned from it. Those that would keep less are not believed."""


def uninformed_rows(trusted_labels: Tensor, class_count: int) -> Tensor:
    """T before anything is known: all labels alike in the row of a class that T_C teaches, in others half are right.

    >>> uninformed_rows(torch.tensor([1]), 2).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    rows = torch.full((class_count, class_count), 1 / class_count, device=trusted_labels.device)
    taught = torch.bincount(trusted_labels, minlength=class_count) > 0
    return torch.where(taught.unsqueeze(1), rows, (rows + torch.eye(class_count, device=rows.device)) / 2)


def expected_counts(beliefs: Tensor, labels: Tensor) -> Tensor:
    """C, ``(c, c)``: how many nodes of each true class (rows) have each given label (columns), as far as one knows.

    Args:
        beliefs: q, ``(m, c)``.
        labels: Given labels, ``(m,)``.
    """
    classes = beliefs.shape[1]
    return torch.zeros(classes, classes, dtype=beliefs.dtype, device=beliefs.device).index_add_(0, labels, beliefs).T


def shared_rows(counts: Tensor, *, least: float = 0.0) -> Tensor:
    """m: the matrix with one probability on its diagonal, the mean over the rows of C, and another elsewhere.

    Args:
        counts: C, ``(c, c)``.
        least: At least this share of the labels is kept for sure; the rest may be drawn at random from all classes.

    >>> shared_rows(torch.tensor([[9.0, 1.0], [3.0, 7.0]]).double()).round(decimals=4).tolist()
    [[0.8, 0.2], [0.2, 0.8]]
    """
    classes = counts.shape[0]
    if classes == 1:
        return torch.ones_like(counts)
    kept = (counts.diagonal() / counts.sum(dim=1).clamp(min=1e-12)).mean()
    kept = kept.clamp(max(1e-3, least + (1 - least) / classes if least > 0 else 0.0), 1 - 1e-3)
    rest = (1 - kept) / (classes - 1)
    return rest.expand(classes, classes) + (kept - rest) * torch.eye(classes, dtype=counts.dtype, device=counts.device)


def is_least(rows: Tensor) -> bool:
    """Whether equal rows keep no more than :data:`LEAST`, as few labels as :func:`shared_rows` was told to let them.

    >>> is_least(shared_rows(torch.tensor([[5.0, 5.0], [5.0, 5.0]]), least=LEAST))
    True
    """
    return len(rows) > 1 and float(rows[0, 0] - rows[0, 1]) < LEAST + 1e-5


def log_evidence(counts: Tensor, pseudo: Tensor) -> Tensor:
    r""":math:`\log p(N)` with every row integrated out under Dirichlet distributions.

    Args:
        counts: N, one row of them for each class.
        pseudo: :math:`s\,m`, of the same shape or with further indices in front; one value for each of those.
    """
    rows = torch.lgamma(pseudo.sum(dim=-1)) - torch.lgamma(pseudo.sum(dim=-1) + counts.sum(dim=-1))
    entries = torch.lgamma(pseudo + counts) - torch.lgamma(pseudo)
    return (rows + entries.sum(dim=-1)).sum(dim=-1)


def posterior_mode(counts: Tensor, pseudo: Tensor) -> Tensor:
    r"""The rows P of the largest :math:`\sum_{kj} (N_{kj} + s\,m_{kj}) \log P_{kj}`.

    >>> posterior_mode(torch.tensor([[6.0, 2.0], [0.0, 0.0]]).double(), torch.ones(2, 2)).round(decimals=4).tolist()
    [[0.7, 0.3], [0.5, 0.5]]
    """
    total = counts + pseudo
    return total / total.sum(dim=1, keepdim=True)


def strength_limit(largest: float, labels: int, classes: int) -> float:
    r"""The largest s: as the options say, times :math:`(m / 150)^2` where m, the labels a class has, is less than 150.

    A prior that counts for 60 labels leaves nothing to learn from 20, and it is the more believed the less is known. It
    always counts for one, so that no row is without a T.

    >>> [round(strength_limit(60.0, labels, 7), 2) for labels in (14, 140, 525, 1083)]
    [1.0, 1.07, 15.0, 60.0]
    """
    return max(1.0, largest * min(1.0, labels / classes / ENOUGH) ** 2)


def learn_transition(counts: Tensor, *, largest_strength: float = max(STRENGTHS)) -> Tensor:
    """T from C: how often each class keeps its label, and where the others go.

    Args:
        counts: C, ``(c, c)``.
        largest_strength: No s above this is used. Where the rows seem to agree only because nothing is known yet, more
            would tie them together for good.
    """
    classes = counts.shape[0]
    if classes == 1:
        return torch.ones_like(counts)
    elsewhere = ~torch.eye(classes, dtype=torch.bool, device=counts.device)
    lost = counts[elsewhere].view(classes, classes - 1)
    kept = torch.stack([counts.diagonal(), lost.sum(dim=1)], dim=1)
    mean = shared_rows(counts)[0, 0]
    centre = torch.stack([mean, 1 - mean])
    strengths = torch.tensor(STRENGTHS, dtype=counts.dtype, device=counts.device)
    strength = strengths[log_evidence(kept, strengths.view(-1, 1, 1) * centre).argmax()]
    shares = posterior_mode(kept, strength.clamp(max=largest_strength) * centre)
    places = posterior_mode(lost, torch.full_like(lost, 1 / (classes - 1)))
    rows = torch.diag(shares[:, 0])
    rows[elsewhere] = (shares[:, 1:] * places).flatten()
    return rows
