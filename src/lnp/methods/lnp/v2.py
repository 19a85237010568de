"""LNP-v2: clean labels generated from the graph and the noisy labels."""

from __future__ import annotations

from lnp.methods.batch import Batch
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.model import LNP

__all__ = ["LNPv2"]


class LNPv2(LNP):
    r"""Maximises :math:`P(Y_C \mid G, Y_N)` (Eqs. 5 and 6).

    .. math::
        \log P(Y_C \mid G, Y_N) &\ge E_{Q_\phi(\bar Y \mid Y_C, G, Y_N)} \log P_\varphi(Y_C \mid \bar Y, G, Y_N)
          - KL(Q_\phi(\bar Y \mid Y_C, G, Y_N) \,\|\, P_\theta(\bar Y \mid G, Y_N)) \\
        \mathcal L_2 &= -\mathcal L_{ELBO}^2 + \lambda_1\, w\,\mathcal L_{CE}(P_\varphi, Y_N)
          + \lambda_2\, \mathcal L_{CE}(P_\theta, Y_C) + \lambda_3\, \mathcal L_{Cont}(Q_\phi, P_\theta)

    The noisy labels are a condition of all three distributions, so the prior is drawn to the clean labels instead.
    """

    prior_over = "trusted"

    def condition(self, batch: Batch) -> Labelled | None:
        """Y_N."""
        return Labelled(batch.noisy, batch.noisy_labels)

    def prior_labels(self, batch: Batch) -> Labelled:
        """Y_C: what the prior makes of the noisy labels should be right."""
        return Labelled(batch.trusted, batch.trusted_labels)
