"""The options that every method has: which network, how large, and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass

from lnp.errors import ConfigError, check_choice, check_range
from lnp.methods.batch import Batch
from lnp.nn.backbone import Backbone, BackboneSpec
from lnp.nn.linear import INITIALISATIONS
from lnp.nn.propagation import propagation_name
from lnp.nn.registry import BACKBONES, build_backbone
from lnp.seeds import Generator

__all__ = ["MethodConfig"]


@dataclass(frozen=True, kw_only=True)
class MethodConfig:
    """Options that every method has.

    Args:
        backbone: "gcn", "h2gcn", "mlp" or "sign".
        hidden: Width h of the hidden layers.
        layers: Number of layers (GCN, MLP), rounds (H2GCN) or hops (SIGN).
        dropout: Share of hidden entries dropped in training.
        normalisation: "symmetric" or "row" propagation (GCN, SIGN).
        loop_weight: λ of A + λ I + μ K, what a node counts beside one neighbour (GCN, SIGN).
        similar_weight: μ, what the nodes with the most similar features count together beside one neighbour, 0 for
            nothing (GCN, SIGN).
        diffusion_steps: Averages over neighbours behind the network, so that outputs reach further than its layers, 0
            for none (GCN, H2GCN, MLP).
        links_width: Width of a path from a node's row of A, which says who its neighbours are, 0 for none (GCN, H2GCN,
            MLP).
        initialisation: "glorot", or "fan-out" as in the released LNP code.
        self_in_two_hop: H2GCN with a node in its own two-hop set, as in public code.
        epochs: Epochs of the main stage.
        learning_rate: Step size of Adam.
        weight_decay: L2 penalty on all parameters.
    """

    backbone: str = "gcn"
    hidden: int = 64
    layers: int = 2
    dropout: float = 0.5
    normalisation: str = "symmetric"
    loop_weight: float = 1.0
    similar_weight: float = 0.0
    diffusion_steps: int = 0
    links_width: int = 0
    initialisation: str = "glorot"
    self_in_two_hop: bool = False
    epochs: int = 200
    learning_rate: float = 0.01
    weight_decay: float = 5e-4

    def __post_init__(self) -> None:
        check_choice("backbone", self.backbone, BACKBONES)
        check_choice("normalisation", self.normalisation, ("symmetric", "row"))
        check_choice("initialisation", self.initialisation, INITIALISATIONS)
        check_range("loop_weight", self.loop_weight, 1e-3, 1e3)
        check_range("similar_weight", self.similar_weight, 0, 1e3)
        if self.similar_weight > 0 and self.backbone not in ("gcn", "sign"):
            raise ConfigError(
                f"Expected `similar_weight` to be 0 with the backbone {self.backbone}, which has no place for links "
                f"between similar nodes, but got {self.similar_weight}. Use gcn or sign."
            )
        check_range("diffusion_steps", self.diffusion_steps, 0, 1000)
        check_range("links_width", self.links_width, 0, 4096)
        for name in ("diffusion_steps", "links_width"):
            if getattr(self, name) > 0 and self.backbone == "sign":
                raise ConfigError(
                    f"Expected `{name}` to be 0 with the backbone sign, whose rows are read without their links, but "
                    f"got {getattr(self, name)}. Use gcn, h2gcn or mlp."
                )
        check_range("dropout", self.dropout, 0, 0.95)
        check_range("learning_rate", self.learning_rate, 0, 10)
        check_range("weight_decay", self.weight_decay, 0, 10)
        for name in ("hidden", "layers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"Expected `{name}` to be at least 1, but got {getattr(self, name)}.")
        if self.epochs < 0:
            raise ConfigError(f"Expected `epochs` to be at least 0, but got {self.epochs}.")

    @property
    def propagation(self) -> str:
        """The name of S (see :mod:`lnp.nn.propagation`)."""
        return propagation_name(self.normalisation, self.loop_weight, self.similar_weight)

    def network(self, batch: Batch, generator: Generator, *, extra: int = 0) -> Backbone:
        """A fresh backbone of this configuration, from the features of a graph to its classes.

        Args:
            batch: For its sizes.
            generator: Draws the initial weights.
            extra: Further columns that will stand beside the features.
        """
        spec = BackboneSpec(
            inputs=batch.graph.features.shape[1] + extra,
            outputs=batch.class_count,
            nodes=batch.node_count,
            hidden=self.hidden,
            layers=self.layers,
            dropout=self.dropout,
            normalisation=self.normalisation,
            loop_weight=self.loop_weight,
            similar_weight=self.similar_weight,
            diffusion_steps=self.diffusion_steps,
            links_width=self.links_width,
            initialisation=self.initialisation,
            self_in_two_hop=self.self_in_two_hop,
        )
        return build_backbone(self.backbone, spec, generator)
