"""The ELBO against brute force on three nodes and two classes, and the loss term by term."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
import torch

from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.losses.contrastive import contrastive_loss
from lnp.methods.batch import Batch, full_batch
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.decoder import Decoded
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.objective import negative_elbo, objective
from lnp.seeds import Seeds

EXACT = LNPConfig(expectation="exact")


@pytest.fixture
def three_nodes() -> Batch:
    """A path 0 – 1 – 2; nodes 0 and 2 are trusted, node 1 is noisy."""
    graph = Graph.from_edges([[0, 1], [1, 2]], np.eye(3), class_count=2)
    observed = ObservedLabels([0, 1, 1], trusted=[True, False, True], class_count=2)
    return full_batch(graph, observed, np.array([1]))


@pytest.fixture
def tensors() -> tuple[torch.Tensor, Decoded, torch.Tensor]:
    rng = Seeds(8).generator("tensors")
    posterior, prior, h = (torch.from_numpy(rng.normal(size=(3, 2))) for _ in range(3))
    prototypes = torch.from_numpy(rng.normal(size=(2, 2)))
    return posterior, Decoded(h, prototypes, posterior.softmax(dim=1)), prior


def enumerate_elbo(batch: Batch, posterior: torch.Tensor, decoded: Decoded, prior: torch.Tensor) -> tuple[float, float]:
    """ELBO and log evidence by summing over all eight assignments of the hidden labels."""
    log_q, log_p = posterior.log_softmax(dim=1), prior.log_softmax(dim=1)
    elbo, evidence = 0.0, 0.0
    for hidden in itertools.product(range(2), repeat=3):
        joint_q = sum(float(log_q[i, k]) for i, k in enumerate(hidden))
        joint_p = sum(float(log_p[i, k]) for i, k in enumerate(hidden))
        likelihood = 0.0
        for i in batch.trusted.tolist():
            scores = (decoded.embeddings[i] + decoded.prototypes[hidden[i]]) / 2
            likelihood += float(scores.log_softmax(dim=0)[batch.given[i]])
        elbo += math.exp(joint_q) * (likelihood + joint_p - joint_q)
        evidence += math.exp(joint_p + likelihood)
    return elbo, math.log(evidence)


def summed(batch: Batch, terms: dict[str, torch.Tensor]) -> float:
    """Our terms are means over nodes; the ELBO of the joint distribution is a sum."""
    return -float(terms["reconstruction"]) * batch.trusted.numel() - float(terms["kl"]) * batch.node_count


def test_elbo_equals_enumeration_and_bounds_the_evidence(three_nodes, tensors) -> None:  # type: ignore[no-untyped-def]
    elbo, evidence = enumerate_elbo(three_nodes, *tensors)
    assert summed(three_nodes, negative_elbo(EXACT, three_nodes, *tensors)) == pytest.approx(elbo, abs=1e-10)
    assert elbo < evidence


def test_elbo_is_tight_at_the_true_posterior(three_nodes, tensors) -> None:  # type: ignore[no-untyped-def]
    _, decoded, prior = tensors
    logits = prior.log_softmax(dim=1).clone()
    for i in three_nodes.trusted.tolist():
        for k in range(2):
            scores = (decoded.embeddings[i] + decoded.prototypes[k]) / 2
            logits[i, k] += scores.log_softmax(dim=0)[three_nodes.given[i]]
    tight = Decoded(decoded.embeddings, decoded.prototypes, logits.softmax(dim=1))
    _, evidence = enumerate_elbo(three_nodes, logits, tight, prior)
    assert summed(three_nodes, negative_elbo(EXACT, three_nodes, logits, tight, prior)) == pytest.approx(evidence)


def test_plug_in_reconstruction_is_the_cross_entropy_of_the_logits(three_nodes, tensors) -> None:  # type: ignore[no-untyped-def]
    terms = negative_elbo(LNPConfig(), three_nodes, *tensors)
    log_p = tensors[1].logits.log_softmax(dim=1)
    assert float(terms["reconstruction"]) == pytest.approx(-float(log_p[0, 0] + log_p[2, 1]) / 2)


def test_kl_direction_and_nodes(three_nodes, tensors) -> None:  # type: ignore[no-untyped-def]
    q, p = tensors[0].softmax(dim=1), tensors[2].softmax(dim=1)
    forward = (q * (q / p).log()).sum(dim=1)
    backward = (p * (p / q).log()).sum(dim=1)
    for direction, values in (("QP", forward), ("PQ", backward)):
        config = LNPConfig(kl_direction=direction)
        assert float(negative_elbo(config, three_nodes, *tensors)["kl"]) == pytest.approx(float(values.mean()))
        outside = dataclasses.replace(config, kl_nodes="outside-noisy")
        expected = float(values[[0, 2]].mean())  # node 1 is noisy
        assert float(negative_elbo(outside, three_nodes, *tensors)["kl"]) == pytest.approx(expected)


def test_every_term_by_hand(three_nodes, tensors) -> None:  # type: ignore[no-untyped-def]
    posterior, decoded, prior = tensors
    config = LNPConfig(lambda_1=2.0, lambda_2=3.0, lambda_3=5.0, negatives=0, tau=0.7)
    weights = torch.tensor([0.25], dtype=torch.float64)
    prior_labels = Labelled(torch.tensor([1]), torch.tensor([1]))
    rng = Seeds(0).generator("sampling")
    terms = objective(config, three_nodes, posterior, decoded, prior, prior_labels, weights, rng, prior_over="noisy")
    assert list(terms) == ["reconstruction", "kl", "weighted_ce", "prior_ce", "contrastive"]
    assert float(terms["weighted_ce"]) == pytest.approx(-2 * 0.25 * float(decoded.logits.log_softmax(dim=1)[1, 1]))
    assert float(terms["prior_ce"]) == pytest.approx(-3 * float(prior.log_softmax(dim=1)[1, 1]))
    exact = contrastive_loss(posterior.softmax(dim=1), prior.softmax(dim=1), 0.7).mean()
    assert float(terms["contrastive"]) == pytest.approx(5 * float(exact))


def test_terms_with_zero_weight_are_absent(three_nodes, tensors) -> None:  # type: ignore[no-untyped-def]
    config = LNPConfig(lambda_1=0.0, lambda_2=0.0, lambda_3=0.0)
    labels = Labelled(three_nodes.noisy, three_nodes.noisy_labels)
    rng = Seeds(0).generator("sampling")
    terms = objective(config, three_nodes, *tensors, labels, torch.ones(1), rng, prior_over="trusted")
    assert list(terms) == ["reconstruction", "kl"]


@pytest.mark.parametrize("expectation", ["plug-in", "exact"])
def test_gradient_by_finite_differences(three_nodes, tensors, expectation: str) -> None:  # type: ignore[no-untyped-def]
    config = LNPConfig(lambda_1=0.5, lambda_2=0.5, lambda_3=0.5, negatives=0, expectation=expectation)
    labels = Labelled(three_nodes.noisy, three_nodes.noisy_labels)
    rng = Seeds(0).generator("sampling")

    def total(posterior, h, prototypes, prior):  # type: ignore[no-untyped-def]
        decoded = Decoded(h, prototypes, posterior.softmax(dim=1))
        weights = torch.full((1,), 0.3, dtype=torch.float64)
        return sum(
            objective(
                config, three_nodes, posterior, decoded, prior, labels, weights, rng, prior_over="trusted"
            ).values()
        )

    posterior, decoded, prior = tensors
    inputs = [t.clone().requires_grad_() for t in (posterior, decoded.embeddings, decoded.prototypes, prior)]
    assert torch.autograd.gradcheck(total, inputs)
