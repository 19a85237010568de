"""The contract between a method and the engine.

A method is a module whose parts are networks named by what they stand for, and whose state (parameters and buffers)
is everything that its predictions depend on. It says *what* to minimise, in stages; the engine knows *how*: it owns
the only epoch loop, the optimisers, the selection of an epoch, the history and the checkpoints.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lnp.errors import check_choice
from lnp.methods.batch import KINDS, Batch
from lnp.methods.config import MethodConfig
from lnp.seeds import Randomness

__all__ = ["Epoch", "LossFunction", "Members", "Method", "Optimiser", "Stage", "Terms", "Update"]

Terms = dict[str, Tensor]
"""Named parts of a loss, weights included: the loss is their sum."""

LossFunction = Callable[[Batch, Randomness], Terms]
"""From what a method sees to the named parts of its loss."""


@dataclass(frozen=True)
class Optimiser:
    """One Adam: what it moves and how far."""

    parameters: Iterable[nn.Parameter]
    learning_rate: float
    weight_decay: float


@dataclass(frozen=True)
class Update:
    """One optimiser step: the loss and the name of the optimiser that takes it."""

    loss: LossFunction
    optimiser: str = "main"


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A number of epochs with the same updates.

    Args:
        name: What the history calls it.
        epochs: How many.
        optimisers: Created anew at the start of the stage.
        updates: What happens in one epoch, in order.
        keeps_start: Whether the state before the first epoch takes part in the selection.
        selects: Whether the run's rule chooses the epoch to end with. Without it the last epoch stays, which suits a
            network that is to learn the noise and so must not be judged by right labels.
        evaluates_parts: Module names that stay in evaluation mode (no dropout, running statistics) while training.
        begin: Called once before the first epoch, for instance to estimate a matrix from the stage before.
        nodes: Which nodes the losses run over, one of :data:`lnp.methods.batch.KINDS` or "labelled" (T_N and T_C).
            Only training in parts looks at it, so as not to visit nodes in vain.
    """

    name: str
    epochs: int
    optimisers: dict[str, Optimiser]
    updates: tuple[Update, ...]
    keeps_start: bool = False
    selects: bool = True
    evaluates_parts: tuple[str, ...] = ()
    begin: Callable[[Batch, Randomness], None] | None = None
    nodes: str = "all"

    def __post_init__(self) -> None:
        check_choice("nodes", self.nodes, (*KINDS, "labelled"))


@dataclass(frozen=True)
class Members:
    """What a loss sums over the whole graph, as it is for the state at hand.

    Args:
        values: One row per node of the whole graph, ``(n, d)``, without gradient.
        labels: ``(n,)`` the class under which a node is counted, −1 where it is no member.
    """

    values: Tensor
    labels: Tensor


@dataclass(frozen=True)
class Epoch:
    """What a method learns at the end of an epoch.

    Args:
        stage: Name of the stage.
        index: Epoch within the stage, from 0.
        count: Epochs of the stage.
        probabilities: :meth:`Method.predict` after the epoch's updates, in evaluation mode.
        score: Scores any ``(n, c)`` probabilities by the run's selection rule without showing its labels; not a number
            under the rule ``last``.
        improved: Whether this epoch became the selected one.
    """

    stage: str
    index: int
    count: int
    probabilities: Tensor
    score: Callable[[Tensor], float]
    improved: bool


class Method(nn.Module, ABC):
    """A way to learn node labels when many of the given ones are wrong.

    Subclasses are final: they build their networks in ``__init__(config, batch, generator)``, from the sizes in
    ``batch`` and never from the values of its labels (those belong in losses and buffers), and keep whatever else their
    predictions depend on in buffers, so that a snapshot of ``state_dict()`` is complete.
    """

    Config: ClassVar[type[MethodConfig]]
    """The configuration's class."""
    needs_trusted: ClassVar[bool] = False
    """Whether every class must have a trusted node."""
    needs_noise_rate: ClassVar[bool] = False
    """Whether the share of wrong labels is an input."""
    in_parts: ClassVar[bool] = False
    """Whether it can be trained on parts of the graph: its losses read only the own rows of a batch, and take means and
    sums over nodes through the batch."""

    config: MethodConfig

    @abstractmethod
    def stages(self, batch: Batch) -> list[Stage]:
        """What to minimise, in order. May be empty."""

    @abstractmethod
    def predict(self, batch: Batch) -> Tensor:
        """Class probabilities of every node, ``(n, c)``; called in evaluation mode without gradient."""

    def train(self, mode: bool = True) -> Self:
        """Sets the mode of all parts, as PyTorch does, at a fraction of its time: it is asked for twice an epoch."""
        _set_mode(self, mode)
        return self

    def given_distribution(self, probabilities: Tensor) -> Tensor:
        r""":math:`P(\tilde y)` of a node's given label, from what :meth:`predict` says of its true one.

        The probabilities themselves, unless a method has a noise matrix: then :math:`\pi T`, with the T that stands
        between its predictions and the given labels in its loss, in the state that made these predictions.

        Args:
            probabilities: π, any rows of it, ``(k, c)``.
        """
        return probabilities

    def main_stage(
        self, loss: LossFunction, *, begin: Callable[[Batch, Randomness], None] | None = None, nodes: str = "all"
    ) -> Stage:
        """The stage "train" as most methods have it: one Adam over all parameters, one step a batch."""
        config = self.config
        adam = Optimiser(self.parameters(), config.learning_rate, config.weight_decay)
        return Stage(
            name="train",
            epochs=config.epochs,
            optimisers={"main": adam},
            updates=(Update(loss),),
            begin=begin,
            nodes=nodes,
        )

    def remember(self, batch: Batch) -> dict[str, Members]:
        """What :meth:`Batch.class_sums` and :meth:`Batch.extremes` are asked for, by name, over the whole graph.

        Called in evaluation mode without gradient at the start of an epoch in parts: each part then puts its own rows'
        current values in the place of the remembered ones.
        """
        return {}

    def check_parts(self) -> None:
        """Raises :class:`~lnp.errors.ConfigError` where ``in_parts`` holds, but not for this configuration."""

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        """Called after every epoch, without gradient: the place to update buffers."""

    def label_quality(self, batch: Batch, probabilities: Tensor) -> Tensor:
        """How likely each given label is right, in [0, 1]: the predicted probability of the given label.

        Not a number where there is no label.
        """
        known = batch.given >= 0
        quality = torch.full((batch.node_count,), float("nan"), device=probabilities.device)
        quality[known] = probabilities[known, batch.given[known]]
        return quality


def _set_mode(module: nn.Module, mode: bool) -> None:
    module.__dict__["training"] = mode
    for child in module._modules.values():
        if child is not None:
            _set_mode(child, mode)
