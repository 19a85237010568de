"""Similarity of prediction and label, the growth of T_C, and when the δ rule can fire at all."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.trusted_set import TrustedSet, label_similarity
from lnp.seeds import Seeds

P = torch.tensor([[0.6, 0.2, 0.2], [0.1, 0.8, 0.1], [1 / 3, 1 / 3, 1 / 3]])
LABELS = torch.tensor([0, 0, 2])


def test_similarities_by_hand() -> None:
    rng = Seeds(0).generator("sampling")
    cosine = torch.tensor([0.6 / math.sqrt(0.44), 0.1 / math.sqrt(0.66), 1 / math.sqrt(3)])
    torch.testing.assert_close(label_similarity(P, LABELS, "cosine", rng), cosine)
    stretched = (cosine - cosine.min()) / (cosine.max() - cosine.min())
    torch.testing.assert_close(label_similarity(P, LABELS, "minmax", rng), stretched)
    torch.testing.assert_close(label_similarity(P, LABELS, "probability", rng), torch.tensor([0.6, 0.1, 1 / 3]))


def test_random_similarity_looks_at_nothing_but_the_stream() -> None:
    rows = torch.full((4000, 3), 1 / 3)
    labels = torch.zeros(4000, dtype=torch.long)
    first = label_similarity(rows, labels, "random", Seeds(0).generator("sampling"))
    second = label_similarity(torch.rand(4000, 3), 2 - labels, "random", Seeds(0).generator("sampling"))
    torch.testing.assert_close(first, second)
    assert abs(first.mean().item() - 0.5) < 4 * math.sqrt(1 / 12 / 4000)


def test_similarity_carries_no_gradient() -> None:
    logits = torch.zeros(3, 3, requires_grad=True)
    assert not label_similarity(logits.softmax(dim=1), LABELS, "cosine", Seeds(0).generator("s")).requires_grad


def test_growth_is_by_threshold_and_forgotten_every_epoch(batch) -> None:  # type: ignore[no-untyped-def]
    members = TrustedSet(batch.node_count)
    assert members.members(batch).nodes.tolist() == batch.trusted.tolist()
    similarity = torch.zeros(batch.noisy.numel())
    similarity[[0, 3]] = torch.tensor([0.81, 0.8])
    members.propose(batch.noisy, similarity, 0.8)
    assert members.members(batch).nodes.tolist() == batch.trusted.tolist()  # not before the epoch ends
    members.renew()
    joined = int(batch.noisy[0])
    assert members.members(batch).nodes.tolist() == [*batch.trusted.tolist(), joined]
    assert members.members(batch).labels.tolist() == batch.given[[*batch.trusted.tolist(), joined]].tolist()
    members.propose(batch.noisy, torch.zeros(batch.noisy.numel()), 0.8)
    members.renew()
    assert members.members(batch).nodes.tolist() == batch.trusted.tolist()


def largest_similarity(classes: int, norm: float) -> float:
    """The largest cosine(softmax(z), one-hot) over logits z of a given norm: z points from the mean to one class."""
    ratio = math.exp(norm * math.sqrt(classes / (classes - 1)))
    return ratio / math.sqrt(ratio**2 + classes - 1)


@pytest.mark.parametrize(("classes", "bound"), [(3, 0.923), (5, 0.837), (6, 0.801), (7, 0.769), (40, 0.403)])
def test_unit_logits_bound_the_similarity(classes: int, bound: float) -> None:
    assert largest_similarity(classes, 1.0) == pytest.approx(bound, abs=5e-4)
    directions = torch.from_numpy(Seeds(0).generator("z").normal(size=(20_000, classes)))
    logits = directions / directions.norm(dim=1, keepdim=True)
    labels = logits.argmax(dim=1)
    found = label_similarity(logits.softmax(dim=1), labels, "cosine", Seeds(0).generator("s")).max().item()
    assert found <= largest_similarity(classes, 1.0) + 1e-9


def test_the_published_rule_cannot_fire_on_seven_classes_but_ours_can() -> None:
    assert largest_similarity(7, 1.0) < 0.8  # scale 1: a threshold of 0.8 or 0.9 selects nobody, ever
    default = LNPConfig()
    assert default.embedding == "unit"
    assert largest_similarity(7, default.scale) > 0.95 > default.delta


def test_a_part_stretches_as_the_whole_graph_does() -> None:
    rng = Seeds(0).generator("sampling")
    whole = label_similarity(P, LABELS, "minmax", rng)
    cosine = label_similarity(P, LABELS, "cosine", rng)
    part = label_similarity(P[:1], LABELS[:1], "minmax", rng, lambda low, high: (cosine.min(), cosine.max()))
    torch.testing.assert_close(part, whole[:1])
    nobody = label_similarity(P[:0], LABELS[:0], "minmax", rng, lambda low, high: (cosine.min(), cosine.max()))
    assert nobody.numel() == 0


def test_in_parts_every_part_proposes_and_shows_its_own_nodes(batch) -> None:  # type: ignore[no-untyped-def]
    members = TrustedSet(batch.node_count)
    first, second = batch.noisy[:2], batch.noisy[2:4]
    members.propose(first, torch.tensor([0.9, 0.1]), 0.5)
    members.propose(second, torch.tensor([0.1, 0.9]), 0.5)
    members.renew()
    grown = [int(first[0]), int(second[1])]
    assert sorted(members.grown.nonzero().squeeze(1).tolist()) == sorted(grown)
    # Rows 0 and 1 are own; the second grown node is there only as a neighbour.
    nodes = torch.tensor([grown[0], int(batch.trusted[0]), grown[1]])
    part = replace(
        batch, nodes=nodes, own=2, noisy=torch.tensor([0]), trusted=torch.tensor([1]), given=batch.given[nodes]
    )
    found = members.members(part)
    assert found.nodes.tolist() == [1, 0]
    assert found.labels.tolist() == batch.given[[int(batch.trusted[0]), grown[0]]].tolist()
