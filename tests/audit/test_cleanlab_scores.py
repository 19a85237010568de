"""The rival, as its own package says it."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

from lnp.audit.cleanlab_scores import cleanlab_scores, plain_probabilities, require_cleanlab
from lnp.audit.network import ChannelNetworkConfig
from lnp.errors import ConfigError
from lnp.methods.batch import full_batch
from lnp.seeds import Seeds

pytest.importorskip("cleanlab")


def example(classes: int = 3, count: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    true = generator.integers(0, classes, count)
    given = np.where(generator.random(count) < 0.25, (true + 1) % classes, true)
    probabilities = 0.8 * np.eye(classes)[true] + 0.2 * generator.dirichlet(np.ones(classes), count)
    return probabilities, given, true


def test_quality_is_self_confidence() -> None:
    probabilities, given, _ = example()
    scores = cleanlab_scores(probabilities, given)
    np.testing.assert_allclose(scores.quality, probabilities[np.arange(given.size), given], rtol=1e-6)
    np.testing.assert_array_equal(scores.posterior, probabilities)


def test_the_channel_has_true_classes_in_its_rows() -> None:
    probabilities, given, _ = example(count=3000)
    transition = cleanlab_scores(probabilities, given).transition
    np.testing.assert_allclose(transition.sum(axis=1), 1)
    np.testing.assert_allclose(transition, 0.75 * np.eye(3) + 0.25 * np.eye(3)[[1, 2, 0]], atol=0.05)


def test_classes_that_nobody_was_given_are_no_obstacle() -> None:
    probabilities, given, _ = example()
    wider = np.concatenate([probabilities[:, :1], np.zeros((given.size, 1)), probabilities[:, 1:]], axis=1)
    moved = np.where(given >= 1, given + 1, given)
    scores = cleanlab_scores(wider, moved)
    np.testing.assert_allclose(scores.quality, cleanlab_scores(probabilities, given).quality)
    assert scores.transition[1].tolist() == [0, 1, 0, 0]


def test_probabilities_are_out_of_fold_and_of_given_labels(toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    found = plain_probabilities(batch, ChannelNetworkConfig(hidden=8, epochs=30), Seeds(0))
    assert found.shape == (batch.noisy.numel(), 3)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)
    truth = toy_task.truth.labels[batch.noisy.numpy()]
    assert (found.argmax(axis=1) == truth).mean() > 0.5


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def absent(name: str, *arguments, **options):
        if name.split(".")[0] == "cleanlab":
            raise ImportError(name)
        return load(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ConfigError, match=r"lnp\[audit\]"):
        require_cleanlab()
