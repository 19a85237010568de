r"""The loss: minus the log-likelihood of everything that is given.

.. math:: \mathcal L(\theta, T) = -\frac{1}{|T_N|} \sum_{i \in T_N} \log \sum_k \pi_i(k)\, T_{k \tilde y_i}
          \; - \; \lambda \sum_{i \in T_C} v_i \log \pi_i(y_i),
          \qquad \pi_i = P_\theta(y_i \mid G)

A trusted node's channel is the identity, so its sum over k has one term left: cross entropy is the same likelihood.
The weights v sum to 1 and give every class of T_C the same share. T_C is no sample of the graph: it is chosen class by
class, or grows by the labels that looked most wrong, and how many nodes of a class were checked says nothing about how
large the class is. Where all classes have as many, :math:`v_i = 1 / |T_C|`, and at :math:`\lambda = |T_C| / |T_N|` a
trusted label weighs as much as another; they are few, and the only ones that say which class is which, so λ is larger.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lnp.losses.cross_entropy import cross_entropy
from lnp.losses.marginal_likelihood import negative_log_marginal
from lnp.methods.base import Terms
from lnp.methods.batch import Batch
from lnp.methods.channel.config import ChannelConfig

__all__ = ["MANY", "PER_TRUSTED", "expected_cross_entropy", "light", "negative_log_likelihood", "trusted_weight"]

MANY = 900
"""From so many labels in T_N on λ is what the options say; it was chosen on graphs with 900 to 3,000 of them."""


PER_TRUSTED = 50
"""Labels of T_N for each one of T_C from which on :func:`light` is less than 1: as many as the graphs have on which λ
was chosen."""


def light(batch: Batch) -> float:
    r""":math:`\min(1,\, 50\,|T_C| / |T_N|)`: a factor with which λ says what *one* trusted label weighs.

    λ weighs T_C as a whole. Where T_N is a thousand times as large that gives every trusted label the say of thousands,
    and what is peculiar to these few nodes, or to how many were chosen of each class, is learnt as if it were the rule.
    """
    return min(1.0, PER_TRUSTED * batch.trusted.numel() / max(1, batch.noisy.numel()))


def trusted_weight(config: ChannelConfig, batch: Batch) -> float:
    r"""λ in training: the option, times :math:`900 / |T_N|` where T_N is smaller.

    The fewer labels there are that may be wrong, the less can be found out about how they go wrong, and the more of
    what is known comes from T_C. Not so where T_C lacks a class, which more weight on the others would push aside.
    """
    if not batch.trusts_every_class:
        return config.trusted_weight
    return config.trusted_weight * max(1.0, MANY / max(1, batch.noisy.numel()))


def negative_log_likelihood(
    logits: Tensor, batch: Batch, nodes: Tensor, transition: Tensor | None, *, trusted_weight: float
) -> Terms:
    """The two terms; one without nodes is left out.

    Args:
        logits: Z of all nodes.
        batch: What the method sees.
        nodes: The nodes of T_N to learn from.
        transition: T; ``None`` takes labels as they are, which is the identity without its cost.
        trusted_weight: λ.
    """
    # Rows of both terms are picked at once: the gradient of a pick fills a matrix of the size of Z.
    everyone = nodes is batch.noisy
    picked = batch.labelled if everyone else torch.cat([nodes, batch.trusted])
    noisy, trusted = torch.split(logits.index_select(0, picked), [nodes.numel(), batch.trusted.numel()])
    terms: Terms = {}
    if nodes.numel() > 0:
        given = batch.noisy_labels if everyone else batch.given[nodes]
        losses = cross_entropy(noisy, given) if transition is None else negative_log_marginal(noisy, given, transition)
        terms["marginal"] = losses.mean()
    return terms | _trusted_term(trusted, batch, trusted_weight)


def expected_cross_entropy(logits: Tensor, batch: Batch, beliefs: Tensor, *, trusted_weight: float) -> Terms:
    r"""The M-step for :math:`\theta`: :math:`-\frac{1}{|T_N|} \sum_i \sum_k q_i(k) \log \pi_i(k)`, and the term of T_C.

    With q the posterior of the same network it has the gradient of the likelihood.

    Args:
        logits: Z of all nodes.
        batch: What the method sees.
        beliefs: q of the nodes of T_N, ``(m, c)``.
        trusted_weight: λ.
    """
    expected = -(beliefs * logits[batch.noisy].log_softmax(dim=1)).sum(dim=1).mean()
    return {"posterior_ce": expected} | _trusted_term(logits[batch.trusted], batch, trusted_weight)


def _trusted_term(logits: Tensor, batch: Batch, weight: float) -> Terms:
    """The term of T_C; ``logits`` are those of its nodes."""
    if batch.trusted.numel() == 0 or weight == 0:
        return {}
    losses = cross_entropy(logits, batch.trusted_labels)
    return {"trusted_ce": weight * (losses / batch.trusted_divisors).sum()}
