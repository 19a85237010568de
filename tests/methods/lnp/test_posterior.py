"""The three fusion rules on hand-made numbers."""

from __future__ import annotations

import math

import pytest
import torch

from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.posterior import Posterior, agreement, fuse
from lnp.nn.prototypes import Prototypes, class_prototypes
from lnp.seeds import Seeds

H = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-1.0, 0.0], [0.0, 2.0]])
R = Prototypes(torch.tensor([[1.0, 0.0], [0.0, 0.5]]), torch.tensor([True, True]))
TRUSTED = Labelled(torch.tensor([0]), torch.tensor([1]))
NOISY = Labelled(torch.tensor([2, 3]), torch.tensor([1, 0]))


def test_version_one_uses_trusted_labels_and_the_nearest_prototype() -> None:
    expected = [
        [0.5, 0.25],  # in T_C with label 1: (h + r_1) / 2, although r_0 is nearer
        [0.0, 0.75],  # nearest is r_1
        [0.8, 0.4],  # h·r_0 = 0.6, h·r_1 = 0.4: nearest is r_0
        [-0.5, 0.25],  # h·r_0 = -1, h·r_1 = 0
        [0.0, 1.25],
    ]
    torch.testing.assert_close(fuse(H, R, TRUSTED, None).logits, torch.tensor(expected))


def test_version_two_mixes_by_the_cosine_on_noisy_nodes() -> None:
    fused = fuse(H, R, TRUSTED, NOISY).logits
    plain = fuse(H, R, TRUSTED, None).logits
    # Node 2: α = cos(h, r_1) = 0.8; anchor 0.8 r_1 + 0.2 r_0 = (0.2, 0.4).
    torch.testing.assert_close(fused[2], torch.tensor([0.4, 0.6]))
    # Node 3: cos(h, r_0) = -1 counts as 0, so the nearest prototype r_1 alone remains.
    torch.testing.assert_close(fused[3], plain[3])
    torch.testing.assert_close(fused[[0, 1, 4]], plain[[0, 1, 4]])


def test_grown_nodes_follow_the_rule_that_is_asked_for() -> None:
    grown = Labelled(torch.tensor([0, 2]), torch.tensor([1, 1]))
    as_trusted = fuse(H, R, grown, NOISY, grown_as="trusted").logits
    as_noisy = fuse(H, R, grown, NOISY, grown_as="noisy").logits
    torch.testing.assert_close(as_trusted[2], (H[2] + R.vectors[1]) / 2)
    torch.testing.assert_close(as_noisy[2], torch.tensor([0.4, 0.6]))
    torch.testing.assert_close(as_trusted[0], as_noisy[0])


def test_without_a_label_everybody_follows_the_nearest_prototype() -> None:
    encoded = fuse(H, R, TRUSTED, NOISY)
    torch.testing.assert_close(encoded.untold(torch.tensor([3, 0])), torch.tensor([[-0.5, 0.25], [1.0, 0.0]]))
    nobody = Labelled(torch.tensor([], dtype=torch.int64), torch.tensor([], dtype=torch.int64))
    everywhere = torch.arange(5)
    torch.testing.assert_close(encoded.untold(everywhere), fuse(H, R, nobody, None).logits)


def test_the_dot_agreement_is_the_unbounded_inner_product() -> None:
    rows = agreement(H[[2, 3]], R.vectors[[1, 0]], "dot")
    torch.testing.assert_close(rows, torch.tensor([0.4, -1.0]))
    assert agreement(H[[2]], R.vectors[[1]], "cosine").item() == pytest.approx(0.8)


def test_fusion_gradient_by_finite_differences() -> None:
    """Prototypes move with the embeddings they are means of, and so must the gradient."""
    embeddings = torch.from_numpy(Seeds(2).generator("h").normal(size=(6, 3))).requires_grad_()
    trusted = Labelled(torch.tensor([0, 1, 2]), torch.tensor([0, 1, 2]))
    noisy = Labelled(torch.tensor([3, 4]), torch.tensor([2, 0]))

    def fused(h: torch.Tensor) -> torch.Tensor:
        return fuse(h, class_prototypes(h, *trusted, 3), trusted, noisy).logits

    assert torch.autograd.gradcheck(fused, (embeddings,))


def test_module_is_embedding_prototypes_and_fusion(batch) -> None:  # type: ignore[no-untyped-def]
    posterior = Posterior(LNPConfig(hidden=5, scale=2.0), batch, Seeds(0).generator("initialisation")).eval()
    trusted = Labelled(batch.trusted, batch.trusted_labels)
    noisy = Labelled(batch.noisy, batch.noisy_labels)
    with torch.no_grad():
        logits = posterior(batch.graph, trusted, noisy, None).logits
        h = posterior.embedding(batch.graph, None)
    means = torch.stack([h[trusted.nodes[trusted.labels == k]].mean(dim=0) for k in range(3)])
    for i in range(batch.node_count):
        nearest = means[int((means @ h[i]).argmax())]
        anchor = nearest
        if i in trusted.nodes:
            anchor = means[batch.given[i]]
        elif i in noisy.nodes:
            r = means[batch.given[i]]
            alpha = max(0.0, float(h[i] @ r) / math.sqrt(float(h[i] @ h[i]) * float(r @ r)))
            anchor = alpha * r + (1 - alpha) * nearest
        torch.testing.assert_close(logits[i], (h[i] + anchor) / 2, rtol=1e-5, atol=1e-5)
