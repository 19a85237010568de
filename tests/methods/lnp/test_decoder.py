"""Reconstruction by hand, by enumeration, and by finite differences."""

from __future__ import annotations

import math

import torch

from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.decoder import Decoded, Decoder, mix_given_labels
from lnp.methods.lnp.embedding import Labelled
from lnp.seeds import Seeds

NOISY = Labelled(torch.tensor([1, 2]), torch.tensor([0, 1]))
Q = torch.tensor([[0.7, 0.3], [0.6, 0.8], [0.5, 0.5]])  # row 1 has norm 1, which makes β easy to read


def test_given_labels_are_mixed_in_by_their_cosine_with_the_posterior() -> None:
    mixed = mix_given_labels(Q, NOISY)
    # β = 0.6 for node 1: 0.6 (1, 0) + 0.4 (0.6, 0.8); β = 1/√2 for node 2.
    torch.testing.assert_close(mixed[1], torch.tensor([0.84, 0.32]))
    beta = 1 / math.sqrt(2)
    torch.testing.assert_close(mixed[2], torch.tensor([(1 - beta) / 2, beta + (1 - beta) / 2]))
    torch.testing.assert_close(mixed[0], Q[0])


def test_released_mixture_is_random_and_softened_twice() -> None:
    mixed = mix_given_labels(Q, NOISY, torch.tensor([0.0, 1.0]))
    torch.testing.assert_close(mixed[1], Q[1].softmax(dim=0))
    torch.testing.assert_close(mixed[2], torch.tensor([0.0, 1.0]).softmax(dim=0))


def test_logits_are_half_embedding_half_expected_prototype() -> None:
    h, r = torch.tensor([[2.0, 0.0]]), torch.tensor([[1.0, 1.0], [-1.0, 3.0]])
    decoded = Decoded(h, r, torch.tensor([[0.25, 0.75]]))
    torch.testing.assert_close(decoded.logits, torch.tensor([[0.75, 1.25]]))  # ((2, 0) + (-0.5, 2.5)) / 2


def test_expected_log_likelihood_by_enumeration() -> None:
    rng = Seeds(4).generator("decoder")
    h, r = (torch.from_numpy(rng.normal(size=(5, 3))), torch.from_numpy(rng.normal(size=(3, 3))))
    q = torch.from_numpy(rng.dirichlet(torch.ones(3), size=5))
    observed = Labelled(torch.tensor([4, 1]), torch.tensor([2, 0]))
    expected = []
    for node, label in zip(*(t.tolist() for t in observed), strict=True):
        value = 0.0
        for k in range(3):
            scores = [float(h[node, m] + r[k, m]) / 2 for m in range(3)]
            value += float(q[node, k]) * (scores[label] - math.log(sum(math.exp(s) for s in scores)))
        expected.append(value)
    decoded = Decoded(h, r, q)
    torch.testing.assert_close(decoded.expected_log_likelihood(observed), torch.tensor(expected, dtype=torch.float64))
    # log softmax is concave, so the paper's plug-in value is never below the exact expectation.
    plug_in = decoded.logits.log_softmax(dim=1)[observed.nodes, observed.labels]
    assert (plug_in >= decoded.expected_log_likelihood(observed)).all()


def test_module_conditions_on_noisy_labels_only_when_given(batch) -> None:  # type: ignore[no-untyped-def]
    decoder = Decoder(LNPConfig(hidden=5), batch, Seeds(0).generator("initialisation")).eval()
    trusted, noisy = Labelled(batch.trusted, batch.trusted_labels), Labelled(batch.noisy, batch.noisy_labels)
    posterior = torch.from_numpy(Seeds(1).generator("q").normal(size=(60, 3))).float()
    with torch.no_grad():
        v1 = decoder(batch.graph, posterior, trusted, None, None, None)
        v2 = decoder(batch.graph, posterior, trusted, noisy, None, None)
    torch.testing.assert_close(v1.mixture, posterior.softmax(dim=1))
    outside = batch.outside_noisy
    torch.testing.assert_close(v1.logits[outside], v2.logits[outside])
    assert not torch.allclose(v1.logits[noisy.nodes], v2.logits[noisy.nodes])
    means = torch.stack([v1.embeddings[trusted.nodes[trusted.labels == k]].mean(dim=0) for k in range(3)])
    torch.testing.assert_close(v1.logits, (v1.embeddings + v1.mixture @ means) / 2)
