r"""Both label sets at once: a reference that spends the trusted nodes without any noise model.

.. math:: \min_w \; \frac{1}{|T_N|} \sum_{i \in T_N} -\log p_w(\tilde y_i \mid G)
          + \frac{g}{|T_C|} \sum_{i \in T_C} -\log p_w(y_i \mid G)
"""

from __future__ import annotations

from dataclasses import dataclass

from lnp.errors import check_range
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.methods.one_network import OneNetwork
from lnp.seeds import Randomness

__all__ = ["Joint", "JointConfig"]


@dataclass(frozen=True, kw_only=True)
class JointConfig(MethodConfig):
    """Options of joint training.

    Args:
        trusted_weight: g, the weight of the mean over T_C.
    """

    normalisation: str = "row"
    trusted_weight: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("trusted_weight", self.trusted_weight, 0, 1e6)


class Joint(OneNetwork):
    """One network, cross entropy on T_N and T_C."""

    Config = JointConfig
    in_parts = True
    config: JointConfig

    def stages(self, batch: Batch) -> list[Stage]:
        """One stage on both sets."""
        return [self.main_stage(self.loss, nodes="labelled")]

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Mean cross entropy on T_N, and g times that on T_C if there is any."""
        logits = self.classifier(batch.graph, randomness.dropout)
        terms = {"noisy_ce": batch.mean(cross_entropy(logits[batch.noisy], batch.noisy_labels), "noisy")}
        if batch.trusted.numel() or batch.across is not None:  # a part without trusted nodes adds 0
            trusted = cross_entropy(logits[batch.trusted], batch.trusted_labels)
            terms["trusted_ce"] = self.config.trusted_weight * batch.mean(trusted, "trusted")
        return terms
