from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import torch

from lnp.errors import ConfigError, LabelError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.transition_estimate import (
    TransitionConfig,
    confident_transition,
    estimate_transition,
    read_transition,
    trusted_transition,
)

NOISE = torch.tensor([[0.7, 0.3, 0.0], [0.1, 0.6, 0.3], [0.2, 0.0, 0.8]])
MAJORITY_WRONG = torch.tensor([[0.2, 0.8, 0.0], [0.0, 0.2, 0.8], [0.8, 0.0, 0.2]])


def clean_posterior(count=200, *, anchors=True, seed=0):
    """P(y | x) of nodes that are mixtures of three classes; with one pure node for each class."""
    table = torch.from_numpy(np.random.default_rng(seed).dirichlet([0.8] * 3, size=count)).float()
    return torch.cat([table, torch.eye(3)]) if anchors else table


def test_perfect_posterior_with_anchor_points_returns_c():
    torch.testing.assert_close(confident_transition(clean_posterior() @ NOISE), NOISE, atol=1e-6, rtol=0)


def test_majority_wrong_noise_comes_out_permuted():
    # The node surest of class 1 is a pure node of class 0, and so on: the documented limit of the estimator.
    estimate = confident_transition(clean_posterior() @ MAJORITY_WRONG)
    torch.testing.assert_close(estimate, MAJORITY_WRONG[[2, 0, 1]], atol=1e-6, rtol=0)


def test_percentile_passes_over_outliers():
    rows = torch.full((101, 2), 0.5)
    rows[:, 0] = torch.linspace(0, 1, 101)
    rows[:, 1] = 1 - rows[:, 0]
    estimate = confident_transition(rows, percentile=97)
    torch.testing.assert_close(estimate, torch.tensor([[0.97, 0.03], [0.03, 0.97]]), atol=1e-6, rtol=0)


def test_least_confident_takes_the_weakest_of_its_class():
    rows = torch.tensor([[0.9, 0.1, 0.0], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.6, 0.2]])
    estimate = confident_transition(rows, confidence="least")
    assert estimate[0].tolist() == rows[1].tolist()
    assert estimate[1].tolist() == rows[3].tolist()
    assert estimate[2, 2] == rows[:, 2].max()  # never predicted: the surest node there is


def test_trusted_rows_are_means_and_absent_classes_unit():
    p = torch.tensor([[0.6, 0.4, 0.0], [0.8, 0.0, 0.2], [0.1, 0.9, 0.0]])
    estimate = trusted_transition(p, torch.tensor([0, 0, 1]), 3)
    torch.testing.assert_close(estimate, torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.9, 0.0], [0.0, 0.0, 1.0]]))


def test_smoothing_adds_a_dirichlet_count():
    p = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    estimate = trusted_transition(p, torch.tensor([0, 0, 1]), 2, smoothing=2.0)
    torch.testing.assert_close(estimate, torch.tensor([[3 / 4, 1 / 4], [1 / 3, 2 / 3]]))


@pytest.mark.parametrize("noise", [NOISE, MAJORITY_WRONG])
def test_trusted_estimate_tends_to_c_as_trusted_nodes_grow(noise):
    generator = np.random.default_rng(0)
    errors = []
    for count in (5, 500, 50_000):
        # Predictions that scatter around the right noisy posterior: Dirichlet with mean C[y].
        rows = [generator.dirichlet(4 * row + 1e-9, size=count) for row in noise.double().numpy()]
        labels = torch.arange(3).repeat_interleave(count)
        estimate = trusted_transition(torch.from_numpy(np.concatenate(rows)).float(), labels, 3)
        errors.append((estimate - noise).abs().max().item())
    assert errors[0] > 3 * errors[1] > 9 * errors[2]
    assert errors[2] < 0.005


def make_batch(trusted=(8, 9, 10)):
    given = np.array([0, 1, 2, 0, 1, 2, -1, -1, 0, 1, 2, -1])
    mask = np.zeros(12, bool)
    mask[list(trusted)] = True
    graph = Graph.from_edges(np.array([[0], [1]]), np.eye(12, dtype=np.float32), class_count=3)
    return full_batch(graph, ObservedLabels(given, mask, class_count=3), np.arange(6))


def test_default_reads_only_nodes_outside_the_noisy_ones():
    batch = make_batch()
    p = torch.softmax(torch.randn(12, 3, generator=torch.Generator().manual_seed(0)), dim=1)
    p[:6] = torch.eye(3).repeat(2, 1)  # memorised
    config = TransitionConfig()
    torch.testing.assert_close(estimate_transition(config, batch, p), confident_transition(p[6:]))
    memorised = estimate_transition(dataclasses.replace(config, estimate_nodes="noisy"), batch, p)
    torch.testing.assert_close(memorised, torch.eye(3))


def test_anchors_read_the_trusted_nodes():
    batch = make_batch()
    p = torch.softmax(torch.randn(12, 3, generator=torch.Generator().manual_seed(0)), dim=1)
    torch.testing.assert_close(estimate_transition(TransitionConfig(estimator="anchors"), batch, p), p[[8, 9, 10]])
    with pytest.raises(LabelError, match="Expected trusted nodes for the estimator 'anchors'"):
        estimate_transition(TransitionConfig(estimator="anchors"), make_batch(trusted=()), p)


def test_reading_a_matrix_normalises_its_rows():
    matrix = read_transition(json.dumps([[0.7, 0.3004], [0.5, 0.5]]), 2)
    torch.testing.assert_close(matrix.sum(dim=1), torch.ones(2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("half", "rows of numbers as JSON, but got 'half'"),
        ("[[0.5, 0.5], [1.0]]", "rows of numbers as JSON"),
        ("[0.5, 0.5]", r"as many columns as rows, but got shape \(2,\)"),
        ("3", "as many columns as rows"),
        ("[[0.5, 0.5]]", r"as many columns as rows, but got shape \(1, 2\)"),
        ("[[0.5, 0.4], [0, 1]]", r"sum to 1, but got rows with the sums \[0.9, 1.0\]"),
        ("[[1.5, -0.5], [0, 1]]", "smallest entry -0.5"),
    ],
)
def test_bad_matrices_are_refused_at_the_door(text, message):
    with pytest.raises(ConfigError, match=message):
        TransitionConfig(estimator="exact", transition=text)


def test_matrix_of_the_wrong_size():
    with pytest.raises(ConfigError, match=r"3 rows of 3 numbers, but got shape \(2, 2\)"):
        read_transition("[[1, 0], [0, 1]]", 3)


def test_exact_and_a_matrix_belong_together():
    with pytest.raises(ConfigError, match="'exact' and with no other"):
        TransitionConfig(estimator="exact")
    with pytest.raises(ConfigError, match="'exact' and with no other"):
        TransitionConfig(transition="[[1, 0], [0, 1]]")
