from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch

from lnp.errors import ConfigError
from lnp.graph.labels import ObservedLabels
from lnp.methods.base import Method, MethodConfig
from lnp.methods.batch import full_batch
from lnp.methods.gcn import Plain, PlainConfig
from lnp.nn.gcn import GCN
from lnp.nn.h2gcn import H2GCN
from lnp.nn.mlp import MLP
from lnp.seeds import Seeds


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("backbone", "gat", "`backbone` to be one of gcn, h2gcn, mlp, but got 'gat'"),
        ("normalisation", "one-hop", "`normalisation` to be one of row, symmetric, but got 'one-hop'"),
        ("initialisation", "zeros", "`initialisation` to be one of fan-out, glorot, but got 'zeros'"),
        ("dropout", 1.0, r"`dropout` to be in \[0, 0.95\], but got 1.0"),
        ("dropout", math.nan, "`dropout` to be in .* but got nan"),
        ("learning_rate", -0.1, "`learning_rate` to be in .* but got -0.1"),
        ("weight_decay", math.inf, "`weight_decay` to be in .* but got inf"),
        ("hidden", 0, "`hidden` to be at least 1, but got 0"),
        ("layers", 0, "`layers` to be at least 1, but got 0"),
        ("epochs", -1, "`epochs` to be at least 0, but got -1"),
    ],
)
def test_options_outside_their_range_are_named(option: str, value: object, message: str) -> None:
    with pytest.raises(ConfigError, match=f"Expected {message}"):
        MethodConfig(**{option: value})


def test_every_option_reaches_the_network() -> None:
    def network(**options: object) -> torch.nn.Module:
        return MethodConfig(**options).network(4, 2, Seeds(0).generator("initialisation"))

    assert isinstance(network(), GCN)
    assert isinstance(network(backbone="mlp"), MLP)
    assert isinstance(network(backbone="h2gcn"), H2GCN)
    built = network(hidden=7, layers=3, dropout=0.25, normalisation="row", initialisation="fan-out")
    assert [tuple(layer.weight.shape) for layer in built.layers] == [(4, 7), (7, 7), (7, 2)]
    assert (built.dropout, built.normalisation) == (0.25, "row")
    assert built.layers[0].bias.any()  # glorot starts with zeros there
    assert network(backbone="h2gcn", self_in_two_hop=True).two_hop == "two-hop-with-self"


def test_every_option_is_documented_and_configurations_are_frozen() -> None:
    for field in dataclasses.fields(MethodConfig):
        assert f"{field.name}: " in MethodConfig.__doc__
    with pytest.raises(dataclasses.FrozenInstanceError):
        MethodConfig().epochs = 3  # type: ignore[misc]


def test_label_quality_is_the_probability_of_the_given_label(tiny_graph) -> None:
    observed = ObservedLabels([0, 1, 2, 0, 1, -1, -1], np.arange(7) == 4, class_count=3)
    batch = full_batch(tiny_graph, observed, np.array([0, 1, 2]))
    method = Plain(PlainConfig(hidden=2), batch, Seeds(0).generator("initialisation"))
    table = torch.arange(21.0).reshape(7, 3).softmax(dim=0)
    quality = method.label_quality(batch, table)
    expected = [table[0, 0], table[1, 1], table[2, 2], math.nan, table[4, 1], math.nan, math.nan]
    np.testing.assert_array_equal(quality.numpy(), np.array([float(v) for v in expected], np.float32))


def test_the_contract_cannot_be_instantiated() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Method()  # type: ignore[abstract]
