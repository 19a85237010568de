"""Where the epoch loop gets its batches from: the whole graph at once, parts of it, or a share of many processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import torch
from torch import Tensor, nn

from lnp.methods.base import Method
from lnp.methods.batch import Batch
from lnp.seeds import Randomness

__all__ = ["Feed", "FullFeed", "OneProcess", "as_feed", "predict"]


class Feed(Protocol):
    """A graph in batches.

    Attributes:
        batch: The whole graph: for sizes, for the start of a stage, and for the end of an epoch.
    """

    batch: Batch

    def epoch(self, method: Method, randomness: Randomness, nodes: str = "all") -> Iterator[Batch]:
        """The batches of one epoch, in order. Every node of the kind ``nodes`` is an own node of exactly one.

        Args:
            method: What is trained; its state is that of the start of the epoch when the first batch is asked for.
            randomness: Where draws come from.
            nodes: Which nodes the losses of the stage run over (:attr:`lnp.methods.base.Stage.nodes`).
        """
        ...

    def predict(self, method: Method) -> Tensor:
        """``(n, c)`` probabilities of every node in evaluation mode, never sampled."""
        ...

    def reduce_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Called after every backward pass, before the step."""
        ...

    def synchronise(self, method: Method) -> None:
        """Called after the last step of an epoch, before prediction."""
        ...


class OneProcess:
    """What a feed has to do where there is one process: nothing."""

    def reduce_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Gradients are what they are."""

    def synchronise(self, method: Method) -> None:
        """Nobody else has anything to say."""


class FullFeed(OneProcess):
    """The whole graph as the only batch of an epoch."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    def epoch(self, method: Method, randomness: Randomness, nodes: str = "all") -> Iterator[Batch]:
        """One batch."""
        yield self.batch

    def predict(self, method: Method) -> Tensor:
        """One pass over the whole graph."""
        return predict(method, self.batch)


def as_feed(batch: Batch | Feed) -> Feed:
    """A batch is a feed of one batch."""
    return FullFeed(batch) if isinstance(batch, Batch) else batch


@torch.no_grad()
def predict(method: Method, batch: Batch) -> Tensor:
    """Class probabilities of every node in evaluation mode."""
    method.eval()
    return method.predict(batch)
