"""The loss of a graph of four nodes, two of them trusted, against enumeration."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import Batch, full_batch
from lnp.methods.channel.config import ChannelConfig
from lnp.methods.channel.objective import MANY, expected_cross_entropy, light, negative_log_likelihood, trusted_weight

CHANNEL = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.05, 0.55, 0.4]], dtype=torch.float64)


def four_nodes(trusted: list[bool], given: tuple[int, ...] = (2, 0, 1, 1)) -> Batch:
    graph = Graph.from_edges([[0, 1, 2], [1, 2, 3]], np.eye(4, 2), class_count=3)
    return full_batch(graph, ObservedLabels(given, np.array(trusted), class_count=3), np.arange(4))


def random_logits(seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(scale=2, size=(4, 3)))


@pytest.mark.parametrize(
    "trusted", [[False, True, False, True], [False] * 4, [True, True, True, False], [True, False, False, False]]
)
def test_the_terms_are_the_likelihood_by_enumeration(trusted: list[bool]) -> None:
    """All 3⁴ assignments of true labels; the channel of a trusted node is the identity."""
    batch, logits, weight = four_nodes(trusted), random_logits(), 0.7
    prior, given = logits.softmax(dim=1).tolist(), batch.given.tolist()
    likelihood = 0.0
    for true in itertools.product(range(3), repeat=4):
        likelihood += math.prod(
            prior[i][k] * (float(k == given[i]) if trusted[i] else CHANNEL[k, given[i]].item())
            for i, k in enumerate(true)
        )
    terms = negative_log_likelihood(logits, batch, batch.noisy, CHANNEL, trusted_weight=weight)
    factors = {"marginal": batch.noisy.numel(), "trusted_ce": batch.trusted.numel() / weight}
    total = sum(factors[name] * value.item() for name, value in terms.items())
    assert total == pytest.approx(-math.log(likelihood), rel=1e-10)


def test_every_class_of_trusted_nodes_weighs_the_same() -> None:
    """Labels 2, 0, 1, 1, all trusted: the mean over the classes of the mean within each."""
    batch, logits = four_nodes([True] * 4), random_logits(4)
    losses = F.cross_entropy(logits, torch.tensor([2, 0, 1, 1]), reduction="none")
    terms = negative_log_likelihood(logits, batch, batch.noisy, CHANNEL, trusted_weight=0.3)
    expected = 0.3 * (losses[0] + losses[1] + (losses[2] + losses[3]) / 2) / 3
    torch.testing.assert_close(terms["trusted_ce"], expected, check_dtype=False)


def test_without_noise_it_is_cross_entropy() -> None:
    batch, logits = four_nodes([False, True, False, True]), random_logits(1)
    identity = torch.eye(3, dtype=torch.float64)
    terms = negative_log_likelihood(logits, batch, batch.noisy, identity, trusted_weight=0.5)
    labels = torch.tensor([2, 0, 1, 1])
    torch.testing.assert_close(terms["marginal"], F.cross_entropy(logits[[0, 2]], labels[[0, 2]]))
    torch.testing.assert_close(terms["trusted_ce"], 0.5 * F.cross_entropy(logits[[1, 3]], labels[[1, 3]]))
    # At λ = |T_C| / |T_N| every label weighs the same.
    batch = four_nodes([False, False, False, True])
    terms = negative_log_likelihood(logits, batch, batch.noisy, identity, trusted_weight=1 / 3)
    torch.testing.assert_close(sum(terms.values()), F.cross_entropy(logits, labels) * 4 / 3)


def test_labels_as_they_are_have_the_values_and_gradients_of_the_identity() -> None:
    batch = four_nodes([False, True, False, False])
    found = []
    for channel in (None, torch.eye(3, dtype=torch.float64)):
        logits = random_logits(3).requires_grad_()
        terms = negative_log_likelihood(logits, batch, batch.noisy, channel, trusted_weight=0.3)
        found.append((*terms.values(), *torch.autograd.grad(sum(terms.values()), logits)))
    for plain, through in zip(*found, strict=True):
        torch.testing.assert_close(plain, through, rtol=1e-9, atol=1e-11)


def test_only_the_nodes_asked_for_and_the_trusted_ones_matter() -> None:
    batch = four_nodes([False, False, False, True])
    logits = random_logits(2).requires_grad_()
    terms = negative_log_likelihood(logits, batch, batch.noisy[:1], CHANNEL, trusted_weight=2.0)
    (gradient,) = torch.autograd.grad(sum(terms.values()), logits)
    assert gradient.any(dim=1).tolist() == [True, False, False, True]


def test_terms_without_nodes_or_weight_are_left_out() -> None:
    logits, nobody = random_logits(3), torch.zeros(0, dtype=torch.int64)
    some, none, every = four_nodes([False, True] * 2), four_nodes([False] * 4), four_nodes([True] * 4)
    cases = [
        (some, some.noisy, 1.0, {"marginal", "trusted_ce"}),
        (some, some.noisy, 0.0, {"marginal"}),
        (some, nobody, 1.0, {"trusted_ce"}),
        (some, nobody, 0.0, set()),
        (none, none.noisy, 1.0, {"marginal"}),
        (every, every.noisy, 1.0, {"trusted_ce"}),
    ]
    for batch, nodes, weight, expected in cases:
        assert set(negative_log_likelihood(logits, batch, nodes, CHANNEL, trusted_weight=weight)) == expected


def test_gradients_by_finite_differences() -> None:
    batch, logits = four_nodes([False, True, False, False]), random_logits(4).requires_grad_()
    channel = CHANNEL.clone().requires_grad_()

    def loss(z: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return torch.stack(list(negative_log_likelihood(z, batch, batch.noisy, t, trusted_weight=0.3).values())).sum()

    assert torch.autograd.gradcheck(loss, (logits, channel))


def test_relabelling_the_classes_changes_no_term() -> None:
    batch, logits = four_nodes([False, True, False, False]), random_logits(5)
    new = torch.tensor([1, 2, 0])
    old = new.argsort()
    renamed = replace(batch, given=new[batch.given])
    before = negative_log_likelihood(logits, batch, batch.noisy, CHANNEL, trusted_weight=0.3)
    after = negative_log_likelihood(logits[:, old], renamed, batch.noisy, CHANNEL[old][:, old], trusted_weight=0.3)
    torch.testing.assert_close(after, before)


def test_the_m_step_has_the_gradient_of_the_likelihood_at_its_own_posterior() -> None:
    batch = four_nodes([False, True, False, False])
    logits = random_logits(2).requires_grad_()
    joint = logits.detach().softmax(dim=1)[batch.noisy] * CHANNEL[:, batch.noisy_labels].T
    beliefs = joint / joint.sum(dim=1, keepdim=True)
    found = expected_cross_entropy(logits, batch, beliefs, trusted_weight=0.4)
    expected = negative_log_likelihood(logits, batch, batch.noisy, CHANNEL, trusted_weight=0.4)
    assert torch.equal(found["trusted_ce"], expected["trusted_ce"])
    by_m_step, by_likelihood = (torch.autograd.grad(sum(terms.values()), logits)[0] for terms in (found, expected))
    torch.testing.assert_close(by_m_step, by_likelihood)


def test_sure_beliefs_are_labels() -> None:
    batch, logits = four_nodes([False] * 4), random_logits(3)
    beliefs = F.one_hot(batch.noisy_labels, 3).double()
    terms = expected_cross_entropy(logits, batch, beliefs, trusted_weight=1.0)
    assert set(terms) == {"posterior_ce"}
    torch.testing.assert_close(terms["posterior_ce"], F.cross_entropy(logits, batch.noisy_labels))


@pytest.mark.parametrize(("noisy", "expected"), [(2 * MANY, 0.5), (MANY, 0.5), (MANY // 3, 1.5), (0, 0.5 * MANY)])
def test_few_noisy_labels_give_way_to_trusted_ones(noisy: int, expected: float) -> None:
    batch = replace(four_nodes([True] * 4), noisy=torch.zeros(noisy, dtype=torch.int64))
    assert trusted_weight(ChannelConfig(trusted_weight=0.5), batch) == pytest.approx(expected)
    lacking = replace(four_nodes([True, False, True, True]), noisy=batch.noisy)  # nobody checked a node of class 0
    assert trusted_weight(ChannelConfig(trusted_weight=0.5), lacking) == 0.5


@pytest.mark.parametrize(("trusted", "noisy", "expected"), [(2, 0, 1.0), (2, 100, 1.0), (2, 400, 0.25), (0, 100, 0.0)])
def test_one_trusted_label_never_weighs_more_than_it_does_among_fifty(
    trusted: int, noisy: int, expected: float
) -> None:
    """Beyond fifty labels for each, λ times this factor is the same for every trusted label however large T_N is."""
    nobody = torch.zeros(noisy, dtype=torch.int64)
    batch = replace(four_nodes([True] * 4), trusted=torch.arange(trusted), noisy=nobody)
    assert light(batch) == pytest.approx(expected)
