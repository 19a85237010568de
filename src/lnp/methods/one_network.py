"""What methods with one classifier have in common: its softmax is what they predict."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor

from lnp.methods.base import Method, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.methods.fine_tuning import FineTunedConfig, fine_tuning_stage
from lnp.nn.softmax import softmax
from lnp.seeds import Generator, Randomness

__all__ = ["FineTunedNetwork", "OneNetwork"]


class OneNetwork(Method):
    """A classifier and nothing else that is asked.

    Attributes:
        classifier: The network whose answers are predictions.
    """

    def __init__(self, config: MethodConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.classifier = config.network(batch, generator)

    def predict(self, batch: Batch) -> Tensor:
        """Softmax of the classifier's outputs."""
        probabilities: Tensor = softmax(self.classifier(batch.graph))
        return probabilities


class FineTunedNetwork(OneNetwork):
    """A classifier that learns from T_N in its own way, and then from T_C as it is."""

    config: FineTunedConfig

    @abstractmethod
    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """What the main stage minimises."""

    def stages(self, batch: Batch) -> list[Stage]:
        """Training on T_N, then fine-tuning on T_C."""
        return [self.main_stage(self.loss, nodes="noisy"), *self.fine_tuning(batch)]

    def fine_tuning(self, batch: Batch) -> list[Stage]:
        """The stage on T_C as a list, empty where there is none."""
        return fine_tuning_stage(self.config, batch, {"classifier": self.classifier})
