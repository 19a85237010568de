r"""LPM: labels spread from trusted nodes judge the given ones, and a small network learns how to mix the two.

In every epoch, with M the believed nodes and z the classifier's logits:

1. the labels of M spread over the edges, weighted by the likeness of z (:mod:`lnp.nn.edge_similarity`):
   :math:`Z \leftarrow S Z,\; Z_M \leftarrow Y_M`, K times, then a softmax of every row;
2. the classifier takes a step on the cross entropy of the *agreeing* nodes, those of T_N where Z names the given label,
   and of T_C;
3. for the other nodes of T_N the aggregator g chooses a target between the given and the spread label,

   .. math::
       \lambda_i = g\bigl(\mathrm{CE}(z_i, \tilde y_i),\, \mathrm{KL}(p_i \,\|\, Z_i)\bigr), \qquad
       \hat y_i = \lambda_i\, \tilde y_i + (1 - \lambda_i)\, Z_i,

   and learns by a meta-gradient: a copy of the classifier takes one step of gradient descent on
   :math:`\mathrm{KL}(\hat y \,\|\, p)`, and g moves so that the copy's cross entropy on M falls;
4. the classifier itself takes a step towards the targets of the improved g.

Reference: Xia et al., *Towards robust graph neural networks against label noise*, 2021. What differs here: the inner
step is plain gradient descent with its own step size (a first step of Adam is nearly the sign of the gradient, which
passes nothing on); the classifier is the common backbone; M stays T_C unless ``grow`` is set, because one wrong label
in M spreads and is never questioned again; a node that no label reaches agrees with none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lnp.errors import ConfigError, check_choice, check_range
from lnp.losses.cross_entropy import cross_entropy
from lnp.losses.kl import kl_divergence, kl_divergence_of_probabilities
from lnp.methods.base import Optimiser, Stage, Terms, Update
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.methods.one_network import OneNetwork
from lnp.nn.diffusion import diffuse
from lnp.nn.edge_similarity import EdgeSimilarity
from lnp.nn.linear import Linear
from lnp.nn.softmax import softmax
from lnp.seeds import Generator, Randomness

__all__ = ["LPM", "PUBLISHED", "Aggregator", "LPMConfig", "aggregator_inputs", "mixed_targets"]


@dataclass(frozen=True, kw_only=True)
class LPMConfig(MethodConfig):
    r"""Options of LPM. Two steps per epoch with soft targets need a larger step and less decay than plain training.

    Args:
        steps: K, how often labels move on to neighbours.
        grow: Whether agreeing nodes join T_C in M, as published. They then spread their labels and guide g, and as M is
            set back to its labels in every step they agree for ever after.
        learn_trusted: Whether T_C takes part in the classifier's first step.
        divergence: What the classifier's own step on the mixed targets minimises: "target-first" is
            :math:`\mathrm{KL}(\hat y \| p)` as in the meta step, "prediction-first" :math:`\mathrm{KL}(p \| \hat y)` as
            in public code.
        through_inputs: Whether the inner step also differentiates :math:`\lambda` through the inputs of g, as in public
            code.
        inner_learning_rate: Step size of the copy; it scales the meta-gradient against the penalty on g.
        aggregator_hidden: Width of g.
        aggregator_learning_rate: Step size of g.
        aggregator_weight_decay: L2 penalty on g.
    """

    learning_rate: float = 0.05
    weight_decay: float = 5e-5
    steps: int = 50
    grow: bool = False
    learn_trusted: bool = True
    divergence: str = "target-first"
    through_inputs: bool = False
    inner_learning_rate: float = 1.0
    aggregator_hidden: int = 64
    aggregator_learning_rate: float = 1e-3
    aggregator_weight_decay: float = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("divergence", self.divergence, ("prediction-first", "target-first"))
        check_range("aggregator_learning_rate", self.aggregator_learning_rate, 0, 10)
        check_range("aggregator_weight_decay", self.aggregator_weight_decay, 0, 10)
        check_range("inner_learning_rate", self.inner_learning_rate, 0, 1e6)
        for name in ("steps", "aggregator_hidden"):
            if getattr(self, name) < 1:
                raise ConfigError(f"Expected `{name}` to be at least 1, but got {getattr(self, name)}.")


PUBLISHED: dict[str, object] = {
    "grow": True,
    "learn_trusted": False,
    "divergence": "prediction-first",
    "through_inputs": True,
    "hidden": 16,
    "learning_rate": 0.01,
    "weight_decay": 5e-4,
    "aggregator_learning_rate": 4e-4,
}
"""The options of public code, as far as they are options here."""


class Aggregator(nn.Module):
    """g: two numbers for each node in, the share of the given label in (0, 1) out."""

    def __init__(self, hidden: int, generator: Generator) -> None:
        super().__init__()
        self.inner = Linear(2, hidden, generator)
        self.outer = Linear(hidden, 1, generator)

    def forward(self, inputs: Tensor) -> Tensor:
        """The shares λ, ``(k, 1)`` for ``(k, 2)`` inputs."""
        shares: Tensor = self.outer(self.inner(inputs).relu()).sigmoid()
        return shares


class _Division(NamedTuple):
    """What the first step of an epoch leaves to the others: Z as logits, and the nodes where it disagrees."""

    spread: Tensor
    disagreeing: Tensor
    inputs: Tensor | None = None


class LPM(OneNetwork):
    """Classifier f and aggregator g, three optimiser steps per epoch."""

    Config = LPMConfig
    config: LPMConfig
    needs_trusted = True
    believed: Tensor

    def __init__(self, config: LPMConfig, batch: Batch, generator: Generator) -> None:
        super().__init__(config, batch, generator)
        self.aggregator = Aggregator(config.aggregator_hidden, generator)
        self.edges = EdgeSimilarity(batch.graph.graph, batch.graph.device)
        self.register_buffer("believed", torch.zeros(batch.node_count, dtype=torch.bool))
        self.believed[batch.trusted.cpu()] = True
        self._division: _Division | None = None

    def stages(self, batch: Batch) -> list[Stage]:
        """One stage; an epoch is a step on the agreeing nodes, one of g, and one on the mixed targets."""
        config = self.config
        return [
            Stage(
                name="train",
                epochs=config.epochs,
                optimisers={
                    "classifier": Optimiser(self.classifier.parameters(), config.learning_rate, config.weight_decay),
                    "aggregator": Optimiser(
                        self.aggregator.parameters(), config.aggregator_learning_rate, config.aggregator_weight_decay
                    ),
                },
                updates=(
                    Update(self.agreeing_loss, "classifier"),
                    Update(self.meta_loss, "aggregator"),
                    Update(self.mixed_loss, "classifier"),
                ),
            )
        ]

    def agreeing_loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Spreads the labels of M, sorts T_N by them, and returns the mean cross entropy on the agreeing nodes."""
        logits = self.classifier(batch.graph, randomness.dropout)
        spread, named = self.spread_labels(batch, logits.detach())
        agrees = named[batch.noisy] == batch.noisy_labels
        agreeing = batch.noisy[agrees]
        self._division = _Division(spread, batch.noisy[~agrees])
        if self.config.grow:
            self.believed.zero_()
            self.believed[torch.cat([batch.trusted, agreeing])] = True
        nodes = torch.cat([batch.trusted, agreeing]) if self.config.learn_trusted else agreeing
        if nodes.numel() == 0:
            return {}
        return {"agreeing_ce": cross_entropy(logits[nodes], batch.given[nodes]).mean()}

    def spread_labels(self, batch: Batch, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Z before its softmax, and the class it names for every node: -1 where no label arrives.

        Args:
            batch: The graph and its labels.
            logits: z, ``(n, c)``, from which edges get their weights.
        """
        seeds = F.one_hot(batch.given.clamp(min=0), batch.class_count).to(logits.dtype) * self.believed.unsqueeze(1)
        matrix = self.edges.matrix(logits)
        spread = diffuse(matrix, seeds, alpha=1.0, steps=self.config.steps, fixed=self.believed)
        top, named = spread.max(dim=1)
        return spread, torch.where(top > 0, named, -1)

    def meta_loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Mean cross entropy on M of a classifier that took a step towards the mixed targets; its gradient is g's."""
        assert self._division is not None
        spread, nodes, _ = self._division
        if nodes.numel() == 0:
            return {}
        state = {name: value.detach().clone() for name, value in self.classifier.state_dict().items()}
        weights = {name: state.pop(name) for name, _ in self.classifier.named_parameters()}

        def inner_loss(weights: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
            # Buffers (statistics of BatchNorm) are copied inside, where changing them is nobody else's business.
            copied = {name: value.clone() for name, value in state.items()}
            outputs = torch.func.functional_call(self.classifier, weights | copied, (batch.graph, randomness.dropout))
            logits = outputs[nodes]
            inputs = aggregator_inputs(logits, batch.given[nodes], spread[nodes])
            chosen = inputs if self.config.through_inputs else inputs.detach()
            targets = mixed_targets(self.aggregator(chosen), batch.given[nodes], spread[nodes])
            return kl_divergence_of_probabilities(targets, logits.softmax(dim=1)).mean(), inputs.detach()

        gradient, inputs = torch.func.grad(inner_loss, has_aux=True)(weights)
        self._division = _Division(spread, nodes, inputs)
        moved = {name: weights[name] - self.config.inner_learning_rate * gradient[name] for name in weights}
        logits = torch.func.functional_call(self.classifier, moved | state, (batch.graph, randomness.dropout))
        return {"meta_ce": cross_entropy(logits[self.believed], batch.given[self.believed]).mean()}

    def mixed_loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Mean divergence between predictions and mixed targets on the nodes that do not agree."""
        assert self._division is not None
        spread, nodes, inputs = self._division
        self._division = None
        if inputs is None:
            return {}
        with torch.no_grad():
            targets = mixed_targets(self.aggregator(inputs), batch.given[nodes], spread[nodes])
        predicted = softmax(self.classifier(batch.graph, randomness.dropout)[nodes])
        pair = (predicted, targets) if self.config.divergence == "prediction-first" else (targets, predicted)
        return {"mixed_kl": kl_divergence_of_probabilities(*pair).mean()}


def aggregator_inputs(logits: Tensor, labels: Tensor, spread: Tensor) -> Tensor:
    """What g reads of each node: how badly the classifier fits the given label, and how badly the spread one."""
    return torch.stack([cross_entropy(logits, labels), kl_divergence(logits, spread)], dim=1)


def mixed_targets(shares: Tensor, labels: Tensor, spread: Tensor) -> Tensor:
    """λ of the given label, 1 - λ of the spread one: rows of probabilities.

    Args:
        shares: λ, ``(k, 1)``.
        labels: The given labels, ``(k,)``.
        spread: Z as logits, ``(k, c)``.
    """
    given = F.one_hot(labels, spread.shape[1]).to(spread.dtype)
    return shares * given + (1 - shares) * spread.softmax(dim=1)
