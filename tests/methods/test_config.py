"""The options that every method has: their ranges, what they build, and where they have no place."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch

from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.config import MethodConfig
from lnp.methods.registry import make_config
from lnp.nn.gcn import GCN
from lnp.nn.h2gcn import H2GCN
from lnp.nn.mlp import MLP
from lnp.seeds import Seeds


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("backbone", "gat", "`backbone` to be one of gcn, h2gcn, mlp, sign, but got 'gat'"),
        ("normalisation", "one-hop", "`normalisation` to be one of row, symmetric, but got 'one-hop'"),
        ("initialisation", "zeros", "`initialisation` to be one of fan-out, glorot, but got 'zeros'"),
        ("dropout", 1.0, r"`dropout` to be in \[0, 0.95\], but got 1.0"),
        ("dropout", math.nan, "`dropout` to be in .* but got nan"),
        ("learning_rate", -0.1, "`learning_rate` to be in .* but got -0.1"),
        ("weight_decay", math.inf, "`weight_decay` to be in .* but got inf"),
        ("hidden", 0, "`hidden` to be at least 1, but got 0"),
        ("layers", 0, "`layers` to be at least 1, but got 0"),
        ("epochs", -1, "`epochs` to be at least 0, but got -1"),
        ("similar_weight", -1.0, "`similar_weight` to be in .* but got -1.0"),
    ],
)
def test_options_outside_their_range_are_named(option: str, value: object, message: str) -> None:
    with pytest.raises(ConfigError, match=f"Expected {message}"):
        MethodConfig(**{option: value})


def test_every_option_reaches_the_network(tiny_graph: Graph) -> None:
    observed = ObservedLabels(np.full(7, -1), np.zeros(7, bool), class_count=3)
    batch = full_batch(tiny_graph, observed, np.arange(7))

    def network(**options: object) -> torch.nn.Module:
        return MethodConfig(**options).network(batch, Seeds(0).generator("initialisation"))

    assert isinstance(network(), GCN)
    assert isinstance(network(backbone="mlp"), MLP)
    assert isinstance(network(backbone="h2gcn"), H2GCN)
    shape = {"hidden": 7, "layers": 3, "dropout": 0.25, "initialisation": "fan-out"}
    built = network(**shape, normalisation="row", loop_weight=3, similar_weight=0.5)
    assert [tuple(layer.weight.shape) for layer in built.layers] == [(2, 7), (7, 7), (7, 3)]
    assert (built.dropout, built.propagation) == (0.25, "row+3~0.5")
    assert built.layers[0].bias.any()  # glorot starts with zeros there
    assert network(backbone="h2gcn", self_in_two_hop=True).two_hop == "two-hop-with-self"
    linked = network(backbone="mlp", links_width=5, dropout=0.25)
    assert isinstance(linked.backbone, MLP)
    assert (tuple(linked.links.inner.weight.shape), linked.links.rate) == ((7, 5), 0.25)  # a row for each node
    spread = network(diffusion_steps=10, normalisation="row", loop_weight=3)
    assert isinstance(spread.backbone, GCN)
    assert (spread.steps, spread.propagation) == (10, "row+3")


@pytest.mark.parametrize("option", ["links_width", "diffusion_steps"])
def test_what_needs_the_links_is_refused_where_there_is_no_place_for_it(option: str) -> None:
    with pytest.raises(ConfigError, match=rf"`{option}` to be 0 with the backbone sign, .* but got 8. Use gcn"):
        MethodConfig(backbone="sign", **{option: 8})
    with pytest.raises(ConfigError, match=rf"`{option}`.*-1"):
        MethodConfig(**{option: -1})


def test_the_channel_has_variants_instead() -> None:
    with pytest.raises(ConfigError, match=r"`links_width` to be 0, but got 8: here .* variant 'links'"):
        make_config("lnp-channel", {"links_width": 8})
    with pytest.raises(ConfigError, match=r"`diffusion_steps` to be 0, but got 8: here .* `smoothing_steps`"):
        make_config("lnp-channel", {"diffusion_steps": 8})


@pytest.mark.parametrize("backbone", ["h2gcn", "mlp"])
def test_similar_nodes_are_refused_where_a_backbone_has_no_place_for_them(backbone: str) -> None:
    with pytest.raises(ConfigError, match=f"to be 0 with the backbone {backbone}, .* but got 1.0. Use gcn or sign"):
        MethodConfig(backbone=backbone, similar_weight=1.0)
    for method in ("nrgnn", "rtgnn"):
        with pytest.raises(ConfigError, match="learns its links"):
            make_config(method, {"similar_weight": 1.0})


def test_every_option_is_documented_and_configurations_are_frozen() -> None:
    for field in dataclasses.fields(MethodConfig):
        assert f"{field.name}: " in MethodConfig.__doc__
    with pytest.raises(dataclasses.FrozenInstanceError):
        MethodConfig().epochs = 3  # type: ignore[misc]
