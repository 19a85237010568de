r"""The trusted nodes alone: what the noisy labels must beat to be worth having.

.. math:: \min_w \; \frac{1}{|T_C|} \sum_{i \in T_C} -\log p_w(y_i \mid G)
"""

from __future__ import annotations

from dataclasses import dataclass

from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.methods.one_network import OneNetwork
from lnp.seeds import Randomness

__all__ = ["CleanOnly", "CleanOnlyConfig"]


@dataclass(frozen=True, kw_only=True)
class CleanOnlyConfig(MethodConfig):
    """Options of training on T_C alone: those of every method."""

    normalisation: str = "row"


class CleanOnly(OneNetwork):
    """One network, cross entropy on T_C; the noisy labels are never read."""

    Config = CleanOnlyConfig
    in_parts = True
    needs_trusted = True
    config: CleanOnlyConfig

    def stages(self, batch: Batch) -> list[Stage]:
        """One stage on T_C."""
        return [self.main_stage(self.loss, nodes="trusted")]

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Mean cross entropy on T_C."""
        logits = self.classifier(batch.graph, randomness.dropout)
        return {"trusted_ce": batch.mean(cross_entropy(logits[batch.trusted], batch.trusted_labels), "trusted")}
