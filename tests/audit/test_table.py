"""The audit as a user calls it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

import lnp
from lnp.audit.evidence import neighbour_labels
from lnp.audit.network import ChannelNetworkConfig
from lnp.audit.table import AuditTable, audit
from lnp.errors import LabelError, ModelFileError, NotFittedError
from lnp.estimator import LNPClassifier
from lnp.graph.labels import ObservedLabels, Truth


@pytest.fixture(scope="module")
def fitted():
    data = lnp.load_dataset("synthetic", nodes=120, classes=3, features=8, signal=3.0)
    generator = np.random.default_rng(0)
    given = data.truth.labels.copy()
    wrong = generator.choice(120, 30, replace=False)
    given[wrong] = (given[wrong] + 1) % 3
    given[::10] = -1
    trusted = np.zeros(120, bool)
    trusted[1:120:9] = True
    trusted &= given >= 0
    given[trusted] = data.truth.labels[trusted]
    labels = ObservedLabels(given, trusted, class_count=3)
    model = LNPClassifier(method="gcn", epochs=20, selection="last", options={"hidden": 8}).fit(data.graph, labels)
    return model, data, labels


def fields_equal(one: AuditTable, other: AuditTable) -> None:
    for field in dataclasses.fields(AuditTable):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))


@pytest.fixture(scope="module")
def table(fitted) -> AuditTable:
    model, data, labels = fitted
    return audit(model, data.graph, labels, scorer="model")


def test_one_row_for_every_label_the_most_suspect_first(fitted, table: AuditTable) -> None:
    model, data, labels = fitted
    assert sorted(table.nodes.tolist()) == np.flatnonzero(labels.given >= 0).tolist()
    assert (np.diff(table.quality) >= 0).all()
    np.testing.assert_array_equal(table.given, labels.given[table.nodes])
    np.testing.assert_array_equal(table.trusted, labels.trusted[table.nodes])
    np.testing.assert_allclose(table.probabilities, model.probabilities_[table.nodes])
    np.testing.assert_array_equal(table.neighbour_labels, neighbour_labels(data.graph, labels.given, table.nodes))
    assert (table.class_names, table.scorer) == (("0", "1", "2"), "model")
    assert ((table.quality >= 0) & (table.quality <= 1)).all()


def test_a_checked_label_is_right_and_last(table: AuditTable) -> None:
    assert (table.quality[table.trusted] == 1).all()
    assert (table.proposed[table.trusted] == table.given[table.trusted]).all()
    assert (table.confidence[table.trusted] == 1).all()
    assert table.trusted[-int(table.trusted.sum()) :].all()


def test_the_proposal_is_at_least_as_likely_as_the_label(table: AuditTable) -> None:
    assert (table.confidence >= table.quality - 1e-12).all()
    same = table.proposed == table.given
    np.testing.assert_allclose(table.confidence[same], table.quality[same])


def test_rates_are_means_over_labels_of_a_class(table: AuditTable) -> None:
    for k in range(3):
        own = (table.given == k) & ~table.trusted
        assert table.noise_rate[k] == pytest.approx((1 - table.quality[own]).mean())
    assert table.wrong_share == pytest.approx((1 - table.quality[~table.trusted]).mean())
    np.testing.assert_allclose(table.transition.sum(axis=1), 1)


def test_the_package_is_the_function_whatever_was_imported_first(fitted, table: AuditTable) -> None:
    model, data, labels = fitted
    assert lnp.audit.table.audit is audit
    fields_equal(lnp.audit(model, data.graph, labels, scorer="model"), table)


def test_plain_numbers_and_a_folder_give_the_same(fitted, table: AuditTable, tmp_path: Path) -> None:
    model, data, labels = fitted
    fields_equal(audit(model, data.graph, labels.given, trusted=labels.trusted, scorer="model"), table)
    model.save(tmp_path / "model")
    fields_equal(audit(tmp_path / "model", data.graph, labels, scorer="model"), table)


def test_the_hidden_truth_changes_nothing(fitted, monkeypatch: pytest.MonkeyPatch) -> None:
    """The truth is another for every node, the given labels are not: every number stays."""
    quick = ChannelNetworkConfig(hidden=8, epochs=4)
    monkeypatch.setattr("lnp.audit.scores.audit_network", lambda config: quick)
    model, data, labels = fitted
    before = audit(model, data.graph, labels, seed=3)
    data.truth.labels[:] = np.random.default_rng(1).permutation(data.truth.labels)
    fields_equal(audit(model, data.graph, labels, seed=3), before)
    assert before.scorer == "cross-fit"


def test_labels_may_be_others_than_those_of_training(fitted) -> None:
    model, data, labels = fitted
    few = np.where(np.arange(120) < 40, labels.given, -1)
    found = audit(model, data.graph, few, scorer="model")
    assert found.nodes.size == int((few >= 0).sum())
    assert not found.trusted.any()


def test_what_was_found_by_checking_is_kept(fitted) -> None:
    model, data, labels = fitted
    wrong = np.flatnonzero((labels.given >= 0) & ~labels.trusted & (labels.given != data.truth.labels))[:2]
    right = np.flatnonzero((labels.given >= 0) & ~labels.trusted & (labels.given == data.truth.labels))[:3]
    nodes = np.concatenate([wrong, right])
    found = audit(model, data.graph, labels.checked(nodes, data.truth.labels[nodes]), scorer="model")
    assert found.found_wrong == (2, 5)
    assert found.checks[data.truth.labels[wrong[0]], labels.given[wrong[0]]] > 0
    assert audit(model, data.graph, labels, scorer="model").found_wrong == (0, 0)


def test_all_checked(fitted) -> None:
    model, data, labels = fitted
    found = audit(model, data.graph, labels.given, trusted=labels.given >= 0)
    assert (found.quality == 1).all()
    assert np.isnan(found.noise_rate).all()
    assert np.isnan(found.wrong_share)


def test_what_cannot_be_audited(fitted, tmp_path: Path) -> None:
    model, data, labels = fitted
    with pytest.raises(LabelError, match="the truth"):
        audit(model, data.graph, Truth(labels.given, 3))
    with pytest.raises(LabelError, match="mask of their own"):
        audit(model, data.graph, labels, trusted=labels.trusted)
    with pytest.raises(LabelError, match="no node has one"):
        audit(model, data.graph, np.full(120, -1))
    with pytest.raises(LabelError, match="Expected labels for 120 nodes"):
        audit(model, data.graph, labels.given[:50])
    with pytest.raises(NotFittedError, match="Call `fit`"):
        audit(LNPClassifier(), data.graph, labels)
    with pytest.raises(ModelFileError, match="graph that the model was fitted on"):
        audit(model, lnp.load_dataset("synthetic", nodes=60, classes=3).graph, np.zeros(60, int))
    model.save(tmp_path / "model")
    with pytest.raises(NotFittedError, match="loaded without"):
        audit(LNPClassifier.load(tmp_path / "model"), data.graph, labels)


def test_torch_is_left_as_it_was(fitted, table: AuditTable) -> None:
    model = fitted[0]
    assert all(parameter.requires_grad for parameter in model.method_.parameters())
    assert torch.is_grad_enabled()
