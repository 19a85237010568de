r"""Forward loss correction: predictions pass through the noise before they meet the given labels.

.. math:: \min_w \; \frac{1}{|T_N|} \sum_{i \in T_N} -\log \big(p_w(G_i)^\top C\big)_{\tilde y_i}

with C estimated by a first network (:mod:`lnp.methods.transition_estimate`), then fine-tuned on T_C without C.

Reference: Patrini et al., *Making deep neural networks robust to label noise: a loss correction approach*, CVPR 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from torch import Tensor

from lnp.losses.correction import forward_correction
from lnp.methods.base import Method, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import fine_tuning_stage
from lnp.methods.transition_estimate import TransitionConfig, estimate_transition, read_transition
from lnp.methods.two_phase import TwoPhase
from lnp.seeds import Generator, Randomness

__all__ = ["Forward", "ForwardConfig"]


@dataclass(frozen=True, kw_only=True)
class ForwardConfig(TransitionConfig):
    """Options of forward correction: where C comes from."""


class Forward(Method):
    """A network behind a noise layer that is estimated once and then fixed."""

    Config = ForwardConfig
    in_parts = True
    config: ForwardConfig

    def __init__(self, config: ForwardConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.known = read_transition(config.transition, batch.class_count) if config.transition else None
        self.phases = TwoPhase(config, batch, generator)

    def stages(self, batch: Batch) -> list[Stage]:
        """A first network for C, a second one through C, then fine-tuning on T_C."""
        config = self.config
        main = self.phases.stages(
            config,
            self.loss,
            estimate=partial(estimate_transition, config),
            estimate_epochs=config.estimate_epochs,
            known=self.known,
        )
        return [*main, *fine_tuning_stage(config, batch, {"phases.classifier": self.phases.classifier})]

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Mean forward-corrected cross entropy on T_N."""
        logits = self.phases.logits(batch, randomness)[batch.noisy]
        losses = forward_correction(logits, batch.noisy_labels, self.phases.transition)
        return {"forward_ce": batch.mean(losses, "noisy")}

    def predict(self, batch: Batch) -> Tensor:
        """Probabilities of the true label, without C."""
        return self.phases.predict(batch)

    def given_distribution(self, probabilities: Tensor) -> Tensor:
        r""":math:`p^\top C`; C is the identity while the first network predicts, which learns the given labels.

        Fine-tuning changes p, not what the noise does to a label, so C stays in place then.
        """
        return probabilities @ self.phases.transition
