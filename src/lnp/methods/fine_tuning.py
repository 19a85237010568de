r"""Fine-tuning on the trusted nodes, for methods that do not otherwise use them.

After the main stage, whose selected weights are w₀, a fresh Adam minimises plain cross entropy on T_C:

.. math:: \min_w \; \frac{1}{|T_C|} \sum_{i \in T_C} -\log p_w(y_i \mid G)

and the best of w₀, w₁, … under the run's selection rule is kept, so that the rule never prefers the state before.
Statistics of BatchNorm stay as they are: 25 rows are too few to re-estimate them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from lnp.errors import ConfigError, check_range
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Optimiser, Stage, Terms, Update
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.seeds import Randomness

__all__ = ["FineTunedConfig", "fine_tuning_stage"]


@dataclass(frozen=True, kw_only=True)
class FineTunedConfig(MethodConfig):
    """Options of a method that is fine-tuned on T_C.

    Args:
        fine_tune_epochs: Epochs on T_C after the main stage; 0 leaves T_C unused.
        fine_tune_learning_rate: Step size on T_C.
    """

    fine_tune_epochs: int = 100
    fine_tune_learning_rate: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("fine_tune_learning_rate", self.fine_tune_learning_rate, 0, 10)
        if self.fine_tune_epochs < 0:
            raise ConfigError(f"Expected `fine_tune_epochs` to be at least 0, but got {self.fine_tune_epochs}.")


def fine_tuning_stage(
    config: FineTunedConfig,
    batch: Batch,
    networks: dict[str, nn.Module],
    logits: Callable[[Batch, Randomness], list[Tensor]] | None = None,
) -> list[Stage]:
    """The stage as a list: empty when it is switched off or nobody is trusted.

    Args:
        config: Epochs and step size.
        batch: What the method sees.
        networks: The parts to move, by their name in the method.
        logits: One ``(n, c)`` tensor per classifier to fine-tune; the networks' own outputs where it is left out.
    """
    if config.fine_tune_epochs == 0 or batch.trusted.numel() == 0:
        return []

    def loss(batch: Batch, randomness: Randomness) -> Terms:
        if logits is not None:
            outputs = logits(batch, randomness)
        else:
            outputs = [network(batch.graph, randomness.dropout) for network in networks.values()]
        losses = [batch.mean(cross_entropy(z[batch.trusted], batch.trusted_labels), "trusted") for z in outputs]
        return {"trusted_ce": sum(losses[1:], losses[0])}

    norms = tuple(
        f"{name}.{inner}" if inner else name
        for name, network in networks.items()
        for inner, module in network.named_modules()
        if isinstance(module, nn.BatchNorm1d)
    )
    parameters = [p for network in networks.values() for p in network.parameters()]
    return [
        Stage(
            name="fine-tuning",
            epochs=config.fine_tune_epochs,
            optimisers={"main": Optimiser(parameters, config.fine_tune_learning_rate, config.weight_decay)},
            updates=(Update(loss),),
            keeps_start=True,
            evaluates_parts=norms,
            nodes="trusted",
        )
    ]
