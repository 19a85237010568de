from __future__ import annotations

import numpy as np
import pytest

from lnp.engine.selection import hold_out_trusted
from lnp.engine.set_aside import set_aside
from lnp.errors import ConfigError, LabelError
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.seeds import Seeds


def test_last_trains_on_everything(toy_task) -> None:
    parts = set_aside(toy_task.observed, "last", Seeds(0))
    assert parts.observed is toy_task.observed
    np.testing.assert_array_equal(parts.train, toy_task.observed.noisy_nodes)
    assert parts.selection.nodes.size == 0


def test_trusted_nodes_set_aside_reach_no_method(toy_task) -> None:
    observed = toy_task.observed
    parts = set_aside(observed, "trusted", Seeds(3))
    rest, held_out = hold_out_trusted(observed, Seeds(3).generator("held-out"))
    np.testing.assert_array_equal(parts.selection.nodes, held_out)
    np.testing.assert_array_equal(parts.selection.labels, toy_task.truth.labels[held_out])
    batch = full_batch(toy_task.graph, parts.observed, parts.train)
    expected = full_batch(toy_task.graph, rest, observed.noisy_nodes)
    for name in ("given", "noisy", "trusted"):
        np.testing.assert_array_equal(getattr(batch, name), getattr(expected, name))
    assert (batch.given[held_out] == -1).all()
    np.testing.assert_array_equal(parts.observed.given, observed.given)  # but an audit still sees their labels


@pytest.mark.parametrize("rule", ["val-noisy", "val-given", "val-likelihood", "val-channel"])
def test_rules_by_given_labels_keep_a_fifth_of_every_class_from_training(rule: str) -> None:
    given = np.repeat([0, 1, 2, -1], [100, 50, 200, 30])
    trusted = np.zeros(380, bool)
    trusted[[0, 100, 150]] = True
    observed = ObservedLabels(given, trusted, class_count=3)
    parts = set_aside(observed, rule, Seeds(0))
    nodes = parts.selection.nodes
    assert parts.selection.rule == rule
    np.testing.assert_array_equal(np.union1d(parts.train, nodes), observed.noisy_nodes)
    assert np.intersect1d(parts.train, nodes).size == 0
    np.testing.assert_array_equal(parts.selection.labels, given[nodes])
    np.testing.assert_allclose(np.bincount(given[nodes]), 0.2 * np.array([99, 49, 199]), atol=1)
    batch_given = np.asarray(full_batch(_graph(380), parts.observed, parts.train).given)
    assert (batch_given[nodes] == -1).all()
    other = set_aside(observed, rule, Seeds(1)).selection.nodes
    assert not np.array_equal(nodes, other)


def test_bad_rules(toy_task) -> None:
    with pytest.raises(ConfigError, match=r"got 'val-clean', which needs the true labels of validation nodes"):
        set_aside(toy_task.observed, "val-clean", Seeds(0))
    with pytest.raises(ConfigError, match=r"Expected `selection` to be one of last, trusted, .*, but got 'best'"):
        set_aside(toy_task.observed, "best", Seeds(0))
    nobody = ObservedLabels(toy_task.observed.given, class_count=3)
    with pytest.raises(LabelError, match="at least two trusted nodes for the selection rule 'trusted'"):
        set_aside(nobody, "trusted", Seeds(0))


def _graph(count: int):
    from lnp.graph.graph import Graph

    return Graph.from_edges(np.zeros((2, 0), int), np.ones((count, 1)), class_count=3)
