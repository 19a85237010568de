r"""APL: an active and a passive loss, both tolerant of noise, added.

.. math:: \min_w \; \frac{1}{|T_N|} \sum_{i \in T_N} a\,L_{\mathrm{active}}(z_i, \tilde y_i)
          + b\,L_{\mathrm{passive}}(z_i, \tilde y_i)

then fine-tuned on T_C with cross entropy. Under uniform noise below (c − 1)/c the sum has the same minimiser as on
clean labels.

Reference: Ma et al., *Normalized loss functions for deep learning with noisy labels*, ICML 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

from lnp.errors import check_choice, check_range
from lnp.losses.active_passive import (
    mean_absolute_error,
    normalised_cross_entropy,
    normalised_focal,
    reverse_cross_entropy,
)
from lnp.methods.base import Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import FineTunedConfig
from lnp.methods.one_network import FineTunedNetwork
from lnp.seeds import Randomness

__all__ = ["APL", "APLConfig"]


@dataclass(frozen=True, kw_only=True)
class APLConfig(FineTunedConfig):
    """Options of APL.

    On graphs the active loss needs the larger weight, and both a weak weight decay, or the network underfits.

    Args:
        active: "nce" (normalised cross entropy) or "nfl" (normalised focal loss).
        passive: "rce" (reverse cross entropy) or "mae" (absolute error); the first is 9.21 times the second.
        active_weight: a.
        passive_weight: b.
        gamma: The focal power of "nfl".
        detach_focal: Treat the focal factors as constants, as the authors' code does.
    """

    normalisation: str = "row"
    weight_decay: float = 5e-5
    active: str = "nce"
    passive: str = "rce"
    active_weight: float = 10.0
    passive_weight: float = 0.1
    gamma: float = 0.5
    detach_focal: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("active", self.active, ("nce", "nfl"))
        check_choice("passive", self.passive, ("mae", "rce"))
        check_range("active_weight", self.active_weight, 0, 1e6)
        check_range("passive_weight", self.passive_weight, 0, 1e6)
        check_range("gamma", self.gamma, 0, 100)


class APL(FineTunedNetwork):
    """One network, an active plus a passive loss on the given labels."""

    Config = APLConfig
    in_parts = True
    config: APLConfig

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """The weighted means of both losses on T_N."""
        config = self.config
        logits, labels = self.classifier(batch.graph, randomness.dropout)[batch.noisy], batch.noisy_labels
        if config.active == "nce":
            active = normalised_cross_entropy(logits, labels)
        else:
            active = normalised_focal(logits, labels, gamma=config.gamma, detach_focal=config.detach_focal)
        passive = (reverse_cross_entropy if config.passive == "rce" else mean_absolute_error)(logits, labels)
        return {
            "active": config.active_weight * batch.mean(active, "noisy"),
            "passive": config.passive_weight * batch.mean(passive, "noisy"),
        }
