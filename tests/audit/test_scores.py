"""Who judges, and how."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lnp.audit.calibration import quality_calibration_error
from lnp.audit.cross_fit import cross_fit
from lnp.audit.network import ChannelNetworkConfig
from lnp.audit.posterior import label_posterior
from lnp.audit.scores import SCORERS, check_scorer, in_the_light_of_checks, networks_to_train, score_labels
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.errors import UnknownNameError
from lnp.graph.labels import ObservedLabels
from lnp.methods.base import Method
from lnp.methods.batch import full_batch
from lnp.methods.gcn import Plain, PlainConfig
from lnp.metrics.detection import noise_detection
from lnp.seeds import Seeds


class Knowing(Plain):
    """A method with an opinion of its own about labels."""

    def label_quality(self, batch, probabilities):
        return torch.linspace(0, 1, batch.node_count)


class KnowingItsChannel(Knowing):
    """The same with a channel that it has learned."""

    def __init__(self, config, batch, generator) -> None:
        super().__init__(config, batch, generator)
        self.register_buffer("transition", torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.9, 0.1], [0.2, 0.2, 0.6]]))


def setting(toy_task, kind: type[Method] = Plain):
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    method = kind(PlainConfig(hidden=8), batch, Seeds(0).generator("initialisation"))
    truth = torch.from_numpy(toy_task.truth.labels)
    return batch, method, torch.eye(3)[truth], truth[batch.noisy]


def test_a_perfect_model_finds_every_wrong_label(toy_task) -> None:
    batch, method, perfect, truth = setting(toy_task)
    scores = score_labels("model", method, batch, perfect, Seeds(0))
    wrong = (batch.noisy_labels != truth).numpy()
    assert wrong.any()
    found = noise_detection(scores.quality, wrong)
    assert (found.ap, found.auroc) == (1.0, 1.0)
    np.testing.assert_array_equal(scores.posterior.argmax(axis=1), truth.numpy())


def test_model_is_bayes_rule_with_the_models_probabilities(toy_task) -> None:
    batch, method, perfect, _ = setting(toy_task)
    soft = 0.7 * perfect + 0.1
    scores = score_labels("model", method, batch, soft, Seeds(0))
    given = batch.noisy_labels.numpy()
    expected = label_posterior(soft[batch.noisy].double().numpy(), given, scores.transition)
    np.testing.assert_allclose(scores.posterior, expected)
    np.testing.assert_allclose(scores.quality, expected[np.arange(given.size), given])


def test_a_method_with_its_own_quality_is_heard(toy_task) -> None:
    batch, method, perfect, _ = setting(toy_task, Knowing)
    scores = score_labels("model", method, batch, perfect, Seeds(0))
    np.testing.assert_allclose(scores.quality, torch.linspace(0, 1, 60)[batch.noisy].double().numpy())


def test_the_channel_of_such_a_method_is_used(toy_task) -> None:
    batch, method, perfect, _ = setting(toy_task, KnowingItsChannel)
    soft = 0.7 * perfect + 0.1
    scores = score_labels("model", method, batch, soft, Seeds(0))
    np.testing.assert_allclose(scores.transition, method.transition.double())
    expected = label_posterior(soft[batch.noisy].double().numpy(), batch.noisy_labels.numpy(), scores.transition)
    np.testing.assert_allclose(scores.posterior, expected)


def test_nothing_to_score_where_all_is_checked(toy_task) -> None:
    labels = ObservedLabels(toy_task.truth.labels, np.ones(60, bool), class_count=3)
    batch = full_batch(toy_task.graph, labels, np.arange(60))
    method = Plain(PlainConfig(hidden=8), batch, Seeds(0).generator("initialisation"))
    for scorer in SCORERS:
        scores = score_labels(scorer, method, batch, torch.full((60, 3), 1 / 3), Seeds(0))
        assert scores.quality.size == 0
        np.testing.assert_array_equal(scores.transition, np.eye(3))
        assert networks_to_train(scorer, labels) == 0


def test_networks_are_counted_as_they_are_trained(toy_task) -> None:
    batch, method, perfect, _ = setting(toy_task)
    for scorer, expected in (("cross-fit", 38), ("model", 0), ("cleanlab", 4)):
        assert networks_to_train(scorer, toy_task.observed) == expected
    done: list[int] = []
    score_labels("cleanlab", method, batch, perfect, Seeds(0), lambda: done.append(1))
    assert len(done) == 4


def test_an_unknown_scorer_lists_the_choices() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'cleanlab'\\? Choices: cleanlab, cross-fit, model"):
        check_scorer("cleanlap")


def test_checked_labels_show_mistakes_that_networks_have_learnt() -> None:
    """A third of the nodes has the features of another class, and its label: features foretell all mistakes."""
    seeds = Seeds(5)
    data = synthetic(SyntheticConfig(nodes=600, classes=3, features=8, signal=3.5), seeds.generator("graph"))
    truth, generator = data.truth.labels, np.random.default_rng(6)
    looks = np.where(generator.random(600) < 0.33, (truth + generator.integers(1, 3, 600)) % 3, truth)
    models = [generator.choice(np.flatnonzero(truth == k)) for k in looks]
    graph = replace(data.graph, features=data.graph.features[models])
    observed = ObservedLabels(looks, class_count=3)
    nodes = generator.choice(600, 60, replace=False)
    observed = observed.checked(nodes, truth[nodes])
    batch = full_batch(graph, observed, observed.noisy_nodes)
    right = observed.given[observed.noisy_nodes] == truth[observed.noisy_nodes]
    config = ChannelNetworkConfig(hidden=16, epochs=30)
    alone = cross_fit(batch, config, Seeds(0), before=observed.before)
    told = in_the_light_of_checks(alone, batch, observed.before)
    assert alone.earlier.size == 60
    errors = [quality_calibration_error(scores.quality, right) for scores in (alone, told)]
    assert errors[0] > 0.25
    assert errors[1] < errors[0] / 2
    assert abs(told.quality.mean() - right.mean()) < 0.1
    ranks = [noise_detection(scores.quality, ~right).auroc for scores in (alone, told)]
    assert ranks[0] == pytest.approx(ranks[1], abs=1e-3)
    assert abs(np.trace(told.transition) / 3 - right.mean()) < 0.12
