from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.errors import ConfigError
from lnp.losses.generalised_cross_entropy import generalised_cross_entropy
from lnp.methods.base import Epoch
from lnp.methods.batch import full_batch
from lnp.methods.gce import GCE, GCEConfig
from lnp.methods.gcn import Plain, PlainConfig
from lnp.seeds import Seeds


@pytest.fixture
def batch(toy_task):
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


def build(batch, **options):
    return GCE(GCEConfig(hidden=8, **options), batch, Seeds(0).generator("initialisation"))


def epoch(method, batch, index, probabilities, *, improved, stage="train", count=100):
    method.end_epoch(batch, Epoch(stage, index, count, probabilities, lambda p: 0.0, improved))


def sure_of_given(batch, believed):
    """Probabilities 0.9 for the given label of the believed nodes of T_N, 0.1 for that of the others."""
    p = torch.full((batch.node_count, batch.class_count), 1 / 3)
    share = torch.where(believed, 0.9, 0.1)
    p[batch.noisy] = ((1 - share) / 2).unsqueeze(1).expand(-1, 3).clone()
    p[batch.noisy, batch.noisy_labels] = share
    return p


def test_loss_is_the_mean_over_the_noisy_nodes(batch):
    method = build(batch, q=0.5)
    method.eval()
    logits = method.classifier(batch.graph)
    expected = np.mean([(1 - logits[i].softmax(0)[batch.given[i]].item() ** 0.5) / 0.5 for i in batch.noisy.tolist()])
    assert method.loss(batch, Seeds(0).randomness())["noisy_gce"].item() == pytest.approx(expected, rel=1e-5)


def test_tiny_q_trains_like_the_base_model(batch):
    options = {"hidden": 8, "epochs": 15, "fine_tune_epochs": 5, "dropout": 0.0}
    plain = Plain(
        PlainConfig(normalisation="row", weight_decay=5e-5, **options), batch, Seeds(0).generator("initialisation")
    )
    robust = GCE(GCEConfig(q=1e-6, **options), batch, Seeds(0).generator("initialisation"))
    results = [fit(method, batch, select_last(), Seeds(0).randomness()).probabilities for method in (plain, robust)]
    torch.testing.assert_close(results[0], results[1], atol=2e-3, rtol=0)


def test_truncated_keeps_everyone_until_the_warm_up_is_over(batch):
    method = build(batch, truncated=True, warm_up=0.2, refresh=10)
    believed = torch.arange(len(batch.noisy)) % 2 == 0
    p = sure_of_given(batch, believed)
    for index in range(19):
        epoch(method, batch, index, p, improved=True)
        assert method.keep.all()
    epoch(method, batch, 19, p, improved=False)
    assert torch.equal(method.keep[batch.noisy], believed)


def test_truncated_chooses_from_the_best_epoch_every_few_epochs(batch):
    method = build(batch, truncated=True, warm_up=0.2, refresh=10)
    first = torch.arange(len(batch.noisy)) % 2 == 0
    epoch(method, batch, 19, sure_of_given(batch, first), improved=True)
    for index in range(20, 29):  # a better epoch between two choices waits for its turn
        epoch(method, batch, index, sure_of_given(batch, ~first), improved=index == 22)
        assert torch.equal(method.keep[batch.noisy], first)
    epoch(method, batch, 29, sure_of_given(batch, first), improved=False)  # not the best: not looked at
    assert torch.equal(method.keep[batch.noisy], ~first)
    epoch(method, batch, 39, sure_of_given(batch, first), improved=True, stage="fine-tuning")
    assert torch.equal(method.keep[batch.noisy], ~first)


def test_nobody_believed_keeps_everybody(batch):
    method = build(batch, truncated=True)
    nobody = torch.zeros(len(batch.noisy), dtype=torch.bool)
    epoch(method, batch, 19, sure_of_given(batch, nobody), improved=True)
    assert method.keep.all()


def test_labels_that_are_not_kept_give_a_constant(batch):
    method = build(batch, truncated=True, q=0.7, k=0.5)
    method.eval()
    kept = torch.arange(len(batch.noisy)) % 3 == 0
    method.keep[batch.noisy] = kept
    losses = generalised_cross_entropy(method.classifier(batch.graph)[batch.noisy], batch.noisy_labels, q=0.7)
    limit = (1 - 0.5**0.7) / 0.7
    expected = torch.where(kept, losses, limit).mean()
    term = method.loss(batch, Seeds(0).randomness())["noisy_gce"]
    torch.testing.assert_close(term, expected)
    term.backward()
    gradient = method.classifier.layers[-1].bias.grad.clone()
    method.zero_grad()
    (losses[kept].sum() / len(kept)).backward()
    torch.testing.assert_close(gradient, method.classifier.layers[-1].bias.grad)


def test_options_are_checked():
    with pytest.raises(ConfigError, match="Expected `q` to be in"):
        GCEConfig(q=0.0)
    with pytest.raises(ConfigError, match="Expected `refresh` to be at least 1, but got 0"):
        GCEConfig(refresh=0)
