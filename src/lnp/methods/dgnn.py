r"""D-GNN: backward loss correction, which is unbiased where C is right.

.. math:: \min_w \; \frac{1}{|T_N|} \sum_{i \in T_N} \sum_j (C^{-1})_{\tilde y_i j} \, \big(-\log p_w(j \mid G_i)\big)

with C estimated by a first network (:mod:`lnp.methods.transition_estimate`), then fine-tuned on T_C without C. The mean
is over nodes; public code takes it over nodes and classes, which makes the loss c times too small.

References: NT, Choong and Murata, *Learning graph neural networks with noisy labels*, ICLR 2019 workshop; Patrini et
al., CVPR 2017.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnp.errors import check_choice, check_range
from lnp.losses.correction import REMEDIES, backward_correction, bounded_inverse, forward_correction
from lnp.methods.base import Method, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import fine_tuning_stage
from lnp.methods.transition_estimate import TransitionConfig, estimate_transition, read_transition
from lnp.methods.two_phase import TwoPhase
from lnp.seeds import Generator, Randomness

__all__ = ["DGNN", "DGNNConfig"]


@dataclass(frozen=True, kw_only=True)
class DGNNConfig(TransitionConfig):
    """Options of D-GNN.

    Args:
        correction: "backward", or "compound": backward plus forward.
        clip: Predicted probabilities are kept in ``[clip, 1 - clip]``, which bounds the loss from below.
        max_condition: Largest condition number of C that is inverted as it is.
        ill_conditioned: Above it, "shrink" C towards the identity or take the "pseudo-inverse".
    """

    correction: str = "backward"
    clip: float = 1e-5
    max_condition: float = 20.0
    ill_conditioned: str = "shrink"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("correction", self.correction, ("backward", "compound"))
        check_choice("ill_conditioned", self.ill_conditioned, REMEDIES)
        check_range("clip", self.clip, 1e-12, 0.1)
        check_range("max_condition", self.max_condition, 1, 1e12)


class DGNN(Method):
    """A network whose loss is multiplied by the inverse of an estimated noise matrix.

    Attributes:
        inverse: :math:`C^{-1}`, the identity before C is estimated.
    """

    Config = DGNNConfig
    in_parts = True
    config: DGNNConfig
    inverse: Tensor

    def __init__(self, config: DGNNConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.known = read_transition(config.transition, batch.class_count) if config.transition else None
        self.phases = TwoPhase(config, batch, generator)
        self.register_buffer("inverse", torch.eye(batch.class_count))
        if self.known is not None:
            self.inverse.copy_(self._invert(self.known))

    def stages(self, batch: Batch) -> list[Stage]:
        """A first network for C, a second one with the corrected loss, then fine-tuning on T_C."""
        config = self.config
        main = self.phases.stages(
            config,
            self.loss,
            estimate=self._estimate,
            estimate_epochs=config.estimate_epochs,
            known=self.known,
        )
        return [*main, *fine_tuning_stage(config, batch, {"phases.classifier": self.phases.classifier})]

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Mean corrected cross entropy on T_N."""
        logits, labels = self.phases.logits(batch, randomness)[batch.noisy], batch.noisy_labels
        losses = backward_correction(logits, labels, self.inverse, clip=self.config.clip)
        terms = {"backward_ce": batch.mean(losses, "noisy")}
        if self.config.correction == "compound":
            losses = forward_correction(logits, labels, self.phases.transition)
            terms["forward_ce"] = batch.mean(losses, "noisy")
        return terms

    def predict(self, batch: Batch) -> Tensor:
        """Probabilities of the true label, without C."""
        return self.phases.predict(batch)

    def given_distribution(self, probabilities: Tensor) -> Tensor:
        r""":math:`p^\top C`; C is the identity while the first network predicts, which learns the given labels.

        It is C as estimated also where the loss inverts a tamer matrix in its place: that is a matter of the inverse,
        which is not needed here. Fine-tuning changes p, not what the noise does to a label, so C stays in place then.
        """
        return probabilities @ self.phases.transition

    def _estimate(self, batch: Batch, probabilities: Tensor) -> Tensor:
        transition = estimate_transition(self.config, batch, probabilities)
        self.inverse.copy_(self._invert(transition))
        return transition

    def _invert(self, transition: Tensor) -> Tensor:
        config = self.config
        return bounded_inverse(transition, max_condition=config.max_condition, remedy=config.ill_conditioned)
