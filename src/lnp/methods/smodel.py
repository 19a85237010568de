r"""S-model: forward correction with a matrix that is learned together with the network.

.. math:: \min_{w, B} \; \frac{1}{|T_N|} \sum_{i \in T_N} -\log \big(p_w(G_i)^\top C\big)_{\tilde y_i},
          \qquad C = \mathrm{softmax}_{\text{rows}}(B)

B starts at the logarithm of the uniform matrix with a small error. It is stored as that start plus an offset, so that
weight decay pulls C back to where it began and not to pure noise. The network is then fine-tuned on T_C without C.

Reference: Goldberger and Ben-Reuven, *Training deep neural-networks using a noise adaptation layer*, ICLR 2017 (the
"simple" model).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lnp.errors import check_range
from lnp.losses.correction import forward_correction
from lnp.methods.base import Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import FineTunedConfig
from lnp.methods.one_network import FineTunedNetwork
from lnp.seeds import Generator, Randomness

__all__ = ["SModel", "SModelConfig"]


@dataclass(frozen=True, kw_only=True)
class SModelConfig(FineTunedConfig):
    """Options of the S-model.

    Args:
        start_error: Share of wrong labels in the matrix that C starts from, spread evenly over the other classes.
    """

    normalisation: str = "row"
    start_error: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("start_error", self.start_error, 1e-6, 1 - 1e-6)


class SModel(FineTunedNetwork):
    """A network behind a learned noise layer."""

    Config = SModelConfig
    in_parts = True
    config: SModelConfig
    start: Tensor

    def __init__(self, config: SModelConfig, batch: Batch, generator: Generator) -> None:
        super().__init__(config, batch, generator)
        c = batch.class_count
        uniform = torch.full((c, c), config.start_error / (c - 1)).fill_diagonal_(1 - config.start_error)
        self.register_buffer("start", uniform.log())
        self.offset = nn.Parameter(torch.zeros(c, c))

    @property
    def transition(self) -> Tensor:
        """C = softmax of every row of B."""
        return (self.start + self.offset).softmax(dim=1)

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Mean forward-corrected cross entropy on T_N."""
        logits = self.classifier(batch.graph, randomness.dropout)[batch.noisy]
        losses = forward_correction(logits, batch.noisy_labels, self.transition)
        return {"forward_ce": batch.mean(losses, "noisy")}

    def given_distribution(self, probabilities: Tensor) -> Tensor:
        r""":math:`p^\top C` with C as learned so far.

        Fine-tuning changes p, not what the noise does to a label, so C stays in place then.
        """
        return probabilities @ self.transition.detach()
