r"""The base model: a network trained on the noisy labels as if they were right, then fine-tuned on T_C.

.. math:: \min_w \; \frac{1}{|T_N|} \sum_{i \in T_N} -\log p_w(\tilde y_i \mid G)

Reference: Kipf and Welling, *Semi-supervised classification with graph convolutional networks*, ICLR 2017. The same
class with another backbone is ``h2gcn`` and ``mlp``.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Method, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import FineTunedConfig, fine_tuning_stage
from lnp.nn.softmax import softmax
from lnp.seeds import Generator, Randomness

__all__ = ["Plain", "PlainConfig"]


@dataclass(frozen=True, kw_only=True)
class PlainConfig(FineTunedConfig):
    """Options of the base model: those of every fine-tuned method."""


class Plain(Method):
    """One network, cross entropy on the given labels."""

    Config = PlainConfig
    in_parts = True
    config: PlainConfig

    def __init__(self, config: PlainConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.classifier = config.network(batch, generator)

    def stages(self, batch: Batch) -> list[Stage]:
        """Training on T_N, then fine-tuning on T_C."""
        main = self.main_stage(self.loss, nodes="noisy")
        return [main, *fine_tuning_stage(self.config, batch, {"classifier": self.classifier})]

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Mean cross entropy on T_N."""
        logits = self.classifier(batch.graph, randomness.dropout)
        return {"noisy_ce": batch.mean(cross_entropy(logits[batch.noisy], batch.noisy_labels), "noisy")}

    def predict(self, batch: Batch) -> Tensor:
        """Softmax of the network's outputs."""
        probabilities: Tensor = softmax(self.classifier(batch.graph))
        return probabilities
