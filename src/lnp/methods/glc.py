r"""GLC, gold loss correction: the trusted nodes measure the noise, and the loss is corrected by what they measure.

1. A first network learns the noisy labels as if they were right.
2. Row i of C is the mean of its predictions over the trusted nodes of class i.
3. A fresh network learns both sets, the noisy one through C:

.. math:: \min_w \; \frac{1}{|T_C| + |T_N|} \Big[ g \sum_{i \in T_C} -\log p_w(y_i \mid G)
          + \sum_{i \in T_N} -\log \big(p_w(G_i)^\top C\big)_{\tilde y_i} \Big]

C may have any shape, so noise that makes the wrong class the majority is undone, as long as C is invertible.

Reference: Hendrycks et al., *Using trusted data to train deep networks on labels corrupted by severe noise*, NeurIPS
2018.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from lnp.errors import ConfigError, check_range
from lnp.losses.correction import forward_correction
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Method, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.methods.transition_estimate import trusted_transition
from lnp.methods.two_phase import TwoPhase
from lnp.seeds import Generator, Randomness

__all__ = ["GLC", "GLCConfig"]


@dataclass(frozen=True, kw_only=True)
class GLCConfig(MethodConfig):
    """Options of gold loss correction.

    Args:
        estimate_epochs: Epochs of the first network.
        smoothing: Dirichlet count added to every row of C, shared by its entries; 0 is the plain mean.
        trusted_weight: g, the weight of a trusted node against a noisy one; 1 in the paper, where they are not so few.
    """

    normalisation: str = "row"
    estimate_epochs: int = 200
    smoothing: float = 0.0
    trusted_weight: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("smoothing", self.smoothing, 0, 1e6)
        check_range("trusted_weight", self.trusted_weight, 0, 1e6)
        if self.estimate_epochs < 0:
            raise ConfigError(f"Expected `estimate_epochs` to be at least 0, but got {self.estimate_epochs}.")


class GLC(Method):
    """A network behind a noise layer that the trusted nodes measured."""

    Config = GLCConfig
    needs_trusted = True
    config: GLCConfig

    def __init__(self, config: GLCConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.phases = TwoPhase(config, batch, generator)

    def stages(self, batch: Batch) -> list[Stage]:
        """A first network for C, then a second one on both sets."""
        return self.phases.stages(
            self.config, self.loss, estimate=self._estimate, estimate_epochs=self.config.estimate_epochs
        )

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Forward correction on T_N and cross entropy on T_C, over the number of nodes in both."""
        logits = self.phases.logits(batch, randomness)
        trusted = cross_entropy(logits[batch.trusted], batch.trusted_labels)
        noisy = forward_correction(logits[batch.noisy], batch.noisy_labels, self.phases.transition)
        count = trusted.numel() + noisy.numel()
        return {"trusted_ce": self.config.trusted_weight * trusted.sum() / count, "forward_ce": noisy.sum() / count}

    def predict(self, batch: Batch) -> Tensor:
        """Probabilities of the true label, without C."""
        return self.phases.predict(batch)

    def given_distribution(self, probabilities: Tensor) -> Tensor:
        r""":math:`p^\top C`; C is the identity while the first network predicts, which learns the given labels."""
        return probabilities @ self.phases.transition

    def _estimate(self, batch: Batch, probabilities: Tensor) -> Tensor:
        rows, labels = probabilities[batch.trusted], batch.trusted_labels
        return trusted_transition(rows, labels, batch.class_count, smoothing=self.config.smoothing)
