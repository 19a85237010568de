"""What every backbone offers: node embeddings from a graph. Backbones know nothing of labels or noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.propagation import propagation_name
from lnp.seeds import Generator

__all__ = ["Backbone", "BackboneSpec", "EvaluatesNetworks"]


@dataclass(frozen=True, kw_only=True)
class BackboneSpec:
    """The shape of a backbone.

    Args:
        inputs: d, the number of features.
        outputs: c, the number of classes (in LNP the width of H, too).
        hidden: Width of the hidden layers.
        layers: Number of layers (GCN, MLP) or rounds (H2GCN).
        dropout: Share of hidden entries dropped in training.
        normalisation: "symmetric" or "row" propagation (GCN, SIGN).
        loop_weight: λ, what a node counts beside one neighbour (GCN, SIGN).
        similar_weight: μ, what nodes with similar features count together beside one neighbour (GCN, SIGN).
        diffusion_steps: Averages over neighbours behind the network (:mod:`lnp.nn.with_diffusion`), 0 for none.
        links_width: Width of the path from a node's row of A (:mod:`lnp.nn.with_links`), 0 for none.
        nodes: n, where there is such a path: it has a weight for each of them.
        initialisation: How weights start; see :mod:`lnp.nn.linear`.
        self_in_two_hop: H2GCN with each node in its own two-hop set, as in public code.
    """

    inputs: int
    outputs: int
    hidden: int = 64
    layers: int = 2
    dropout: float = 0.5
    normalisation: str = "symmetric"
    loop_weight: float = 1.0
    similar_weight: float = 0.0
    diffusion_steps: int = 0
    links_width: int = 0
    nodes: int = 0
    initialisation: str = "glorot"
    self_in_two_hop: bool = False

    @property
    def propagation(self) -> str:
        """The name of S (see :mod:`lnp.nn.propagation`)."""
        return propagation_name(self.normalisation, self.loop_weight, self.similar_weight)


class Backbone(nn.Module, ABC):
    """A network from a graph to one vector per node. In evaluation mode the generator is not used."""

    propagates: ClassVar[bool] = True
    """Whether a node's output depends on its neighbours; without it rows are independent of each other."""

    def __call__(self, graph: GraphTensors, *arguments: Any, **options: Any) -> Tensor:
        """Runs the network; in evaluation mode a graph may have a way of its own to do so."""
        if isinstance(graph, EvaluatesNetworks) and not self.training and not options:
            return graph.evaluate(self)
        outputs: Tensor = super().__call__(graph, *arguments, **options)
        return outputs

    @abstractmethod
    def embed(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The hidden vectors that the last linear map reads, ``(n, hidden)``."""

    @abstractmethod
    def forward(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The outputs, ``(n, c)``: logits of a classifier, or H in LNP."""

    def dropout_source(self, generator: Generator | None) -> Generator | None:
        """The generator in training mode (where it must be given), ``None`` in evaluation mode."""
        if self.training and generator is None:
            raise ValueError("A network in training mode needs a generator for dropout; call eval() to predict.")
        return generator if self.training else None


class EvaluatesNetworks(ABC):
    """A graph that computes the outputs of networks itself, in less memory for instance."""

    @abstractmethod
    def evaluate(self, network: Backbone) -> Tensor:
        """The outputs of a network in evaluation mode, ``(n, c)``."""
