"""LNP-v1: clean labels generated from the graph alone."""

from __future__ import annotations

from lnp.methods.batch import Batch
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.model import LNP

__all__ = ["LNPv1"]


class LNPv1(LNP):
    r"""Maximises :math:`P(Y_C \mid G)` (Eqs. 2 to 4).

    .. math::
        P(Y_C \mid G) &= \int P_\varphi(Y_C \mid \bar Y, G)\, P_\theta(\bar Y \mid G)\, d\bar Y \\
        \log P(Y_C \mid G) &\ge E_{Q_\phi(\bar Y \mid Y_C, G)} \log P_\varphi(Y_C \mid \bar Y, G)
          - KL(Q_\phi(\bar Y \mid Y_C, G) \,\|\, P_\theta(\bar Y \mid G)) \\
        \mathcal L_1 &= -\mathcal L_{ELBO}^1 + \lambda_1\, w\,\mathcal L_{CE}(P_\varphi, Y_N)
          + \lambda_2\, \mathcal L_{CE}(P_\theta, Y_N) + \lambda_3\, \mathcal L_{Cont}(Q_\phi, P_\theta)

    The noisy labels are no condition of any distribution. They enter through the loss: the prior is drawn to all of
    Y_N, the decoder to the part of it that it finds believable.
    """

    prior_over = "noisy"

    def condition(self, batch: Batch) -> Labelled | None:
        """Nothing but the graph and Y_C."""
        return None

    def prior_labels(self, batch: Batch) -> Labelled:
        """Y_N: the prior learns what the given labels look like."""
        return Labelled(batch.noisy, batch.noisy_labels)
