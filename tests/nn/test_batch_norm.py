from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.nn.backbone import BackboneSpec
from lnp.nn.batch_norm import LEAST, BatchNorm
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.registry import build_backbone
from lnp.seeds import Seeds


def batches(count: int, scale: float = 1e-3) -> list[torch.Tensor]:
    """Each with a mean and a variance of its own."""
    rng = np.random.default_rng(0)
    return [torch.from_numpy(rng.normal(rng.normal(), 1 + k, size=(20, 3)) * scale) for k in range(count)]


@pytest.mark.parametrize("count", [1, 2, 10])
def test_up_to_the_tenth_batch_the_statistics_are_plain_means(count: int) -> None:
    norm, seen = BatchNorm(3).double(), batches(count)
    for batch in seen:
        norm(batch)
    means = torch.stack([batch.mean(dim=0) for batch in seen]).mean(dim=0)
    variances = torch.stack([batch.var(dim=0) for batch in seen]).mean(dim=0)
    torch.testing.assert_close(norm.running_mean, means)
    torch.testing.assert_close(norm.running_var, variances)


def test_later_batches_count_for_a_tenth_each() -> None:
    norm, seen = BatchNorm(3).double(), batches(14)
    for batch in seen:
        norm(batch)
    weights = [(1 - LEAST) ** 4 / 10] * 10 + [LEAST * (1 - LEAST) ** k for k in (3, 2, 1, 0)]
    assert sum(weights) == pytest.approx(1)  # nothing is left of the start
    expected = sum(weight * batch.var(dim=0) for weight, batch in zip(weights, seen, strict=True))
    torch.testing.assert_close(norm.running_var, expected)


def test_evaluation_moves_nothing_and_an_interrupted_run_goes_on() -> None:
    norm, again, seen = BatchNorm(3).double(), BatchNorm(3).double(), batches(5)
    for batch in seen[:3]:
        norm(batch)
    again.load_state_dict(norm.state_dict())
    norm.eval()(seen[0])
    for one in (norm, again):
        one.train()
        for batch in seen[3:]:
            one(batch)
    for name, value in norm.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name


@pytest.mark.parametrize("backbone", ["h2gcn", "mlp"])
def test_small_features_are_evaluated_as_they_are_trained(backbone: str, toy_task) -> None:
    """After one step, with features of the size that scaled rows have."""
    graph = GraphTensors(toy_task.graph)
    graph.features = torch.as_tensor(
        np.random.default_rng(0).random((60, graph.features.shape[1])), dtype=torch.float32
    )
    graph.features *= 1e-2
    spec = BackboneSpec(inputs=graph.features.shape[1], outputs=3, hidden=8, layers=2, dropout=0.0)
    network = build_backbone(backbone, spec, Seeds(0).generator("initialisation"))
    with torch.no_grad():
        trained = network.train()(graph, Seeds(0).generator("dropout"))
        evaluated = network.eval()(graph, None)
    # The one difference: variances of n rows divided by n in training, by n − 1 in what is kept.
    torch.testing.assert_close(evaluated, trained, rtol=0.05, atol=0.02)
    assert trained.std(dim=0).min() > 0.1
