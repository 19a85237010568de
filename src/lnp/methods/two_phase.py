r"""Two networks with the transition matrix between them: the skeleton of every loss correction.

1. *estimate*: one network learns the noisy labels as if they were right, so that it stands for
   :math:`P(\tilde y \mid G)`; its last epoch stays, because a rule that prefers right labels would stop it before it
   has learned the noise;
2. from its predictions, in evaluation mode, C is read once;
3. *train*: a fresh network, which stands for :math:`P(y \mid G)`, learns through C.

Both networks are drawn when the method is built, so that a resumed run has the same second network.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import LossFunction, Optimiser, Stage, Terms, Update
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.nn.softmax import softmax
from lnp.seeds import Generator, Randomness

__all__ = ["TwoPhase"]


class TwoPhase(nn.Module):
    """The networks, C, and which of the networks speaks.

    Attributes:
        noisy_classifier: Predicts given labels.
        classifier: Predicts true labels.
        transition: C, the identity before it is estimated.
        corrected: Whether C has been estimated; from then on ``classifier`` predicts.
    """

    transition: Tensor
    corrected: Tensor

    def __init__(self, config: MethodConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.noisy_classifier = config.network(batch, generator)
        self.classifier = config.network(batch, generator)
        self.register_buffer("transition", torch.eye(batch.class_count))
        self.register_buffer("corrected", torch.tensor(False))

    def stages(
        self,
        config: MethodConfig,
        loss: LossFunction,
        *,
        estimate: Callable[[Batch, Tensor], Tensor],
        estimate_epochs: int,
        known: Tensor | None = None,
    ) -> list[Stage]:
        """The stages "estimate" and "train".

        Args:
            config: Epochs of the second stage, and the step size and weight decay of both.
            loss: What the second network minimises; it reads ``transition``.
            estimate: From what the method sees and the ``(n, c)`` probabilities of the first network to C.
            estimate_epochs: Epochs of the first stage.
            known: C where nothing is to be estimated; the first stage is left out.
        """

        def begin(batch: Batch, randomness: Randomness) -> None:
            if known is not None:
                self.transition.copy_(known)
            else:
                with torch.no_grad():
                    self.transition.copy_(estimate(batch, softmax(self.noisy_classifier(batch.graph))))
            self.corrected.fill_(True)

        def optimisers(network: nn.Module) -> dict[str, Optimiser]:
            return {"main": Optimiser(network.parameters(), config.learning_rate, config.weight_decay)}

        first = Stage(
            name="estimate",
            epochs=estimate_epochs,
            optimisers=optimisers(self.noisy_classifier),
            updates=(Update(self._noisy_loss),),
            selects=False,
            nodes="noisy",
        )
        second = Stage(
            name="train",
            epochs=config.epochs,
            optimisers=optimisers(self.classifier),
            updates=(Update(loss),),
            begin=begin,
            nodes="labelled",
        )
        return [second] if known is not None else [first, second]

    def logits(self, batch: Batch, randomness: Randomness) -> Tensor:
        """Outputs of the second network in training."""
        outputs: Tensor = self.classifier(batch.graph, randomness.dropout)
        return outputs

    def predict(self, batch: Batch) -> Tensor:
        """Class probabilities: of the first network until C is known, of the second from then on."""
        network = self.classifier if self.corrected else self.noisy_classifier
        probabilities: Tensor = softmax(network(batch.graph))
        return probabilities

    def _noisy_loss(self, batch: Batch, randomness: Randomness) -> Terms:
        logits = self.noisy_classifier(batch.graph, randomness.dropout)
        return {"noisy_ce": batch.mean(cross_entropy(logits[batch.noisy], batch.noisy_labels), "noisy")}
