from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor

from lnp.losses import pairwise
from lnp.losses.pairwise import ConnectedPairs, confidence, pair_logits, pairwise_loss


def random_graph(n: int = 50, *, isolated: int = 2) -> sp.csr_array:
    generator = np.random.default_rng(4)
    dense = np.triu(generator.random((n, n)) < 0.1, 1)
    dense[:, n - isolated :] = False
    return sp.csr_array((dense | dense.T).astype(np.float32))


def vectors(n: int = 50, c: int = 4, *, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((n, c))).requires_grad_()


def brute_force(z: Tensor, adjacency: sp.csr_array, judge: Tensor | None = None) -> Tensor:
    """The double sum as it is written, with n × n tensors."""
    n, entries = adjacency.shape[0], adjacency.nnz
    target = torch.from_numpy(adjacency.toarray()).double() + torch.eye(n)
    logits = z @ z.T
    weight = torch.ones_like(logits)
    if judge is not None:
        said = torch.sigmoid(judge @ judge.T)
        weight = torch.where(target == 1, said, 1 - said)
    positive = (n * n - entries) / entries
    likelihood = positive * target * torch.sigmoid(logits).log() + (1 - target) * torch.sigmoid(-logits).log()
    return -n * n / (2 * (n * n - entries)) * (weight * likelihood).mean()


@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize("block", [1, 64, 1000, 10**6])
def test_exact_loss_and_gradient_against_the_double_sum(
    judged: bool, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairwise, "BLOCK_ENTRIES", block)
    adjacency, judge = random_graph(), vectors(seed=1).detach() if judged else None
    z, reference = vectors(), vectors()
    expected = brute_force(reference, adjacency, judge)
    (expected * 3).backward()
    value = pairwise_loss(z, ConnectedPairs(adjacency), judge=judge)
    (value * 3).backward()
    torch.testing.assert_close(value, expected)
    torch.testing.assert_close(z.grad, reference.grad)


def test_gradient_by_finite_differences() -> None:
    pairs, judge = ConnectedPairs(random_graph(8, isolated=1)), vectors(8, 3, seed=1).detach()
    assert torch.autograd.gradcheck(lambda z: pairwise_loss(z, pairs, judge=judge), (vectors(8, 3),))


def test_vectors_of_zero_give_the_closed_form() -> None:
    adjacency = random_graph()
    n, entries = 50, adjacency.nnz
    share = (entries + n) / n**2
    expected = n**2 / (2 * (n**2 - entries)) * math.log(2) * ((n**2 - entries) / entries * share + 1 - share)
    value = pairwise_loss(torch.zeros(n, 3, dtype=torch.float64), ConnectedPairs(adjacency))
    assert value.item() == pytest.approx(expected)


def test_a_perfect_judge_is_no_judge() -> None:
    adjacency = sp.csr_array(np.kron(np.eye(2), 1 - np.eye(3)).astype(np.float32))  # two triangles
    judge = 30 * torch.tensor([[1.0, 0], [-1, 0]]).repeat_interleave(3, dim=0).double()
    said = judge @ judge.T
    assert ((said > 0).numpy() == (adjacency.toarray() + np.eye(6) > 0)).all()
    z, pairs = vectors(6, 2), ConnectedPairs(adjacency)
    torch.testing.assert_close(pairwise_loss(z, pairs, judge=judge), pairwise_loss(z, pairs))


def test_an_undecided_judge_halves_the_loss_and_gets_no_gradient() -> None:
    pairs, z = ConnectedPairs(random_graph()), vectors()
    judge = torch.zeros(50, 4, dtype=torch.float64, requires_grad=True)
    halved = pairwise_loss(z, pairs, judge=judge)
    torch.testing.assert_close(halved, pairwise_loss(z, pairs) / 2)
    halved.backward()
    assert judge.grad is None


def test_confidence_is_the_probability_of_the_right_answer() -> None:
    logits = torch.tensor([2.0, -1.0])
    expected = torch.tensor([torch.sigmoid(torch.tensor(2.0)), 1 - torch.sigmoid(torch.tensor(-1.0))])
    torch.testing.assert_close(confidence(logits, torch.tensor([True, False])), expected)


@pytest.mark.parametrize("judged", [False, True])
def test_sampled_loss_and_gradient_are_right_on_average(judged: bool) -> None:
    pairs, judge = ConnectedPairs(random_graph()), vectors(seed=1).detach() if judged else None
    z = vectors()
    exact = pairwise_loss(z, pairs, judge=judge)
    (exact_gradient,) = torch.autograd.grad(exact, z)
    generator = np.random.default_rng(0)
    values, gradients = [], []
    for _ in range(600):
        value = pairwise_loss(z, pairs, judge=judge, sampled=pairs.sample(generator))
        values.append(value.item())
        gradients.append(torch.autograd.grad(value, z)[0])
    error = np.std(values) / math.sqrt(len(values))
    assert abs(np.mean(values) - exact.item()) < 4 * error
    stacked = torch.stack(gradients)
    z_scores = (stacked.mean(dim=0) - exact_gradient) / (stacked.std(dim=0) / math.sqrt(len(values)))
    assert z_scores.abs().max() < 5
    assert 0 < error < 0.02 * exact.item()


def test_sampled_pairs_are_outside_and_cover_everything_outside() -> None:
    adjacency = random_graph(12, isolated=1)
    pairs = ConnectedPairs(adjacency)
    sampled = pairs.sample(np.random.default_rng(0), 20_000)
    target = adjacency.toarray() + np.eye(12)
    counts = np.zeros((12, 12))
    np.add.at(counts, (sampled.source.numpy(), sampled.target.numpy()), 1)
    assert (counts[target > 0] == 0).all()
    expected = 20_000 / 144
    assert (abs(counts[target == 0] - expected) < 5 * math.sqrt(expected)).all()
    assert sampled.factor == pytest.approx(144 / 20_000)
    assert pairs.sample(np.random.default_rng(0)).factor == pytest.approx(144 / (adjacency.nnz + 12))


def test_every_edge_once_and_every_node_with_itself() -> None:
    adjacency = random_graph()
    pairs = ConnectedPairs(adjacency)
    rebuilt = np.zeros((50, 50))
    for source, target, times in zip(pairs.source, pairs.target, pairs.times, strict=True):
        rebuilt[source, target] += float(times) / 2
        rebuilt[target, source] += float(times) / 2
    np.testing.assert_array_equal(rebuilt, adjacency.toarray() + np.eye(50))


def test_pair_logits_are_inner_products() -> None:
    z = vectors()
    source, target = torch.tensor([0, 3]), torch.tensor([4, 3])
    torch.testing.assert_close(pair_logits(z, source, target), (z @ z.T)[source, target])


def test_no_edge_no_loss() -> None:
    z = vectors()
    value = pairwise_loss(z, ConnectedPairs(sp.csr_array((50, 50), dtype=np.float32)))
    value.backward()
    assert value.item() == 0
    assert z.grad is not None
    assert z.grad.abs().max() == 0
