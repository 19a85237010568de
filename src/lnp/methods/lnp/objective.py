r"""The loss of LNP, term by term.

.. math::
    \mathcal L_1 &= -\mathcal L_{ELBO}^1 + \lambda_1\, w\,\mathcal L_{CE}(P_\varphi, Y_N)
      + \lambda_2\, \mathcal L_{CE}(P_\theta, Y_N) + \lambda_3\, \mathcal L_{Cont}(Q_\phi, P_\theta) \\
    \mathcal L_2 &= -\mathcal L_{ELBO}^2 + \lambda_1\, w\,\mathcal L_{CE}(P_\varphi, Y_N)
      + \lambda_2\, \mathcal L_{CE}(P_\theta, Y_C) + \lambda_3\, \mathcal L_{Cont}(Q_\phi, P_\theta)

with :math:`-\mathcal L_{ELBO} = -E_Q \log P_\varphi(Y_C \mid \cdot) + KL(Q_\phi \| P_\theta)`. Each term is a mean over
its nodes. What differs between the versions is what the three networks condition on and the labels of the
:math:`\lambda_2` term, and both are arguments here.
"""

from __future__ import annotations

from torch import Tensor

from lnp.losses.contrastive import contrastive_loss, sampled_contrastive_loss
from lnp.losses.cross_entropy import cross_entropy
from lnp.losses.kl import kl_divergence
from lnp.methods.base import Terms
from lnp.methods.batch import Batch
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.decoder import Decoded
from lnp.methods.lnp.embedding import Labelled
from lnp.nn.softmax import softmax
from lnp.seeds import Generator

__all__ = ["negative_elbo", "objective"]


def negative_elbo(config: LNPConfig, batch: Batch, posterior: Tensor, decoded: Decoded, prior: Tensor) -> Terms:
    """-ELBO as its two terms (Eqs. 3 and 5). The clean labels are those of the initial T_C."""
    clean = Labelled(batch.trusted, batch.trusted_labels)
    if config.expectation == "exact":
        losses = -decoded.expected_log_likelihood(clean)
    else:
        losses = cross_entropy(decoded.logits[clean.nodes], clean.labels)
    if config.kl_nodes == "outside-noisy":
        posterior, prior = posterior[batch.outside_noisy], prior[batch.outside_noisy]
    else:
        posterior, prior = batch.own_rows(posterior), batch.own_rows(prior)
    first, second = (posterior, prior) if config.kl_direction == "QP" else (prior, posterior)
    return {
        "reconstruction": batch.mean(losses, "trusted"),
        "kl": batch.mean(kl_divergence(first, second), config.kl_nodes),
    }


def objective(
    config: LNPConfig,
    batch: Batch,
    posterior: Tensor,
    decoded: Decoded,
    prior: Tensor,
    prior_labels: Labelled,
    weights: Tensor,
    generator: Generator,
    *,
    prior_over: str,
) -> Terms:
    r"""All terms with their weights (Eqs. 4 and 6).

    Args:
        config: λ1, λ2, λ3 and the options.
        batch: What the method sees.
        posterior: Logits of Q.
        decoded: The decoder's outputs.
        prior: Logits of the prior.
        prior_labels: Y_N in v1, Y_C in v2.
        weights: w, one number per node of T_N.
        generator: Draws the negatives of the contrastive loss, from the batch's own nodes.
        prior_over: Whose labels ``prior_labels`` are: "noisy" in v1, "trusted" in v2.
    """
    terms = negative_elbo(config, batch, posterior, decoded, prior)
    if config.lambda_1 > 0:
        losses = cross_entropy(decoded.logits[batch.noisy], batch.noisy_labels)
        terms["weighted_ce"] = config.lambda_1 * batch.mean(weights * losses, "noisy")
    if config.lambda_2 > 0:
        losses = cross_entropy(prior[prior_labels.nodes], prior_labels.labels)
        terms["prior_ce"] = config.lambda_2 * batch.mean(losses, prior_over)
    if config.lambda_3 > 0:
        first, second = softmax(batch.own_rows(posterior)), softmax(batch.own_rows(prior))
        population = batch.population
        if config.negatives > 0:
            losses = sampled_contrastive_loss(
                first, second, config.tau, config.negatives, generator, population=population
            )
        else:
            losses = contrastive_loss(first, second, config.tau, population=population)
        terms["contrastive"] = config.lambda_3 * batch.mean(losses, "all")
    return terms
