"""Sums, means and extremes over the whole graph from those of a part, by brute force."""

from __future__ import annotations

import pytest
import torch

from lnp.engine.across_parts import AcrossParts, WholeGraph
from lnp.methods.base import Members
from lnp.methods.batch import Batch, full_batch
from lnp.nn.prototypes import class_sums

NODES = 60


@pytest.fixture
def batch(toy_task) -> Batch:  # type: ignore[no-untyped-def]
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


@pytest.fixture
def members() -> Members:
    """Values of every node; one in three is no member."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 3, (NODES,), generator=generator)
    labels[::3] = -1
    return Members(torch.randn(NODES, 2, generator=generator), labels)


def by_class(values: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    inside = labels >= 0
    return class_sums(values[inside], labels[inside], 3)


def test_own_members_are_renewed_and_others_remembered(batch: Batch, members: Members) -> None:
    own = torch.tensor([4, 59, 0, 17, 1])
    now = members.values.clone()
    now[own] += torch.arange(10, dtype=torch.float32).reshape(5, 2)
    whole = WholeGraph(batch, 12, {"r": members})
    sums, counts = AcrossParts(whole, own).class_sums("r", *by_class(now[own], members.labels[own]))
    expected, numbers = by_class(now, members.labels)
    torch.testing.assert_close(sums, expected)
    assert counts.tolist() == numbers.tolist()


def test_gradient_reaches_the_own_rows(batch: Batch, members: Members) -> None:
    own = torch.tensor([4, 5, 1])
    rows = members.values[own].requires_grad_()
    across = AcrossParts(WholeGraph(batch, 20, {"r": members}), own)
    sums, _ = across.class_sums("r", *class_sums(rows, members.labels[own], 3))
    weights = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    (sums * weights).sum().backward()
    torch.testing.assert_close(rows.grad, weights[members.labels[own]])


def test_one_part_of_all_nodes_knows_only_what_is_now(batch: Batch, members: Members) -> None:
    across = AcrossParts(WholeGraph(batch, 1, {"r": members}), torch.randperm(NODES))
    now = by_class(torch.randn(NODES, 2), members.labels)
    sums, counts = across.class_sums("r", *now)
    assert torch.equal(sums, now[0])  # to the bit: what is subtracted is what was added
    assert torch.equal(counts, now[1])
    low, high = torch.tensor(0.25), torch.tensor(0.5)
    assert across.extremes("r", low, high) == (low, high)


def test_extremes_of_own_now_and_others_then(batch: Batch, members: Members) -> None:
    column = Members(members.values[:, :1], members.labels)
    values = column.values[:, 0].clone()
    inside = column.labels >= 0
    smallest = int(values.masked_fill(~inside, torch.inf).argmin())
    across = AcrossParts(WholeGraph(batch, 30, {"w": column}), torch.tensor([smallest, 0]))
    low, high = across.extremes("w", torch.tensor(9.0), torch.tensor(9.0))
    values[smallest] = 9.0
    assert low == values[inside].min()
    assert high == 9.0
    nobody = torch.tensor(torch.inf)
    low, high = across.extremes("w", nobody, -nobody)  # a part without members
    assert low == values[inside & (torch.arange(NODES) != smallest)].min()
    assert high == values[inside & (torch.arange(NODES) != smallest)].max()


def test_the_mean_over_the_parts_is_the_mean_over_the_nodes(batch: Batch) -> None:
    values = torch.randn(NODES)
    parts = torch.randperm(NODES).split(13)  # the last has eight
    whole = WholeGraph(batch, len(parts), {})
    noisy = torch.zeros(NODES, dtype=torch.bool)
    noisy[batch.noisy] = True
    everywhere = torch.ones(NODES, dtype=torch.bool)
    for kind, inside in (("all", everywhere), ("noisy", noisy), ("outside-noisy", ~noisy)):
        means = [AcrossParts(whole, own).mean(values[own][inside[own]], kind) for own in parts]
        torch.testing.assert_close(torch.stack(means).mean(), values[inside].mean())
    assert AcrossParts(whole, parts[0]).mean(values[:0], "trusted") == 0
