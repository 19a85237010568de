r"""The base model: a network trained on the noisy labels as if they were right, then fine-tuned on T_C.

.. math:: \min_w \; \frac{1}{|T_N|} \sum_{i \in T_N} -\log p_w(\tilde y_i \mid G)

Reference: Kipf and Welling, *Semi-supervised classification with graph convolutional networks*, ICLR 2017. The same
class with another backbone is ``h2gcn`` and ``mlp``.
"""

from __future__ import annotations

from dataclasses import dataclass

from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import FineTunedConfig
from lnp.methods.one_network import FineTunedNetwork
from lnp.seeds import Randomness

__all__ = ["Plain", "PlainConfig"]


@dataclass(frozen=True, kw_only=True)
class PlainConfig(FineTunedConfig):
    """Options of the base model: those of every fine-tuned method."""


class Plain(FineTunedNetwork):
    """One network, cross entropy on the given labels."""

    Config = PlainConfig
    in_parts = True
    config: PlainConfig

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Mean cross entropy on T_N."""
        logits = self.classifier(batch.graph, randomness.dropout)
        return {"noisy_ce": batch.mean(cross_entropy(logits[batch.noisy], batch.noisy_labels), "noisy")}
