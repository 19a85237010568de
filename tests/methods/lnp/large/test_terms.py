"""The whole objective and the predictions of LNP on many nodes against the plain way."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from lnp.methods.batch import Batch, full_batch
from lnp.methods.lnp.large import terms
from lnp.methods.registry import create_method, make_config
from lnp.nn.graph_tensors import GraphTensors
from lnp.seeds import Seeds


@pytest.fixture
def batch(toy_task) -> Batch:  # type: ignore[no-untyped-def]
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lnp.methods.lnp.large.unit.ENTRIES", 50)


def state_after_a_step(batch: Batch, method: str, **options: object) -> list[torch.Tensor]:
    model = create_method(method, make_config(method, options), batch, Seeds(0).generator("initialisation"))
    model.trusted_set.grown[batch.noisy[::3]] = True
    randomness = Seeds(0).randomness()
    found = model.loss(batch, randomness)
    sum(found.values()).backward()
    model.eval()
    with torch.no_grad():
        predictions = model.predict(batch)
    gradients = [parameter.grad for parameter in model.parameters()]
    drawn = [torch.tensor(g.integers(0, 2**31)) for g in (randomness.dropout, randomness.sampling)]
    state = [model.trusted_set.proposed.float(), model.odds]
    return [*(value.detach() for value in found.values()), predictions, *gradients, *drawn, *state]


@pytest.mark.parametrize("method", ["lnp-v1", "lnp-v2"])
@pytest.mark.parametrize("options", [{}, {"grown_as": "noisy"}, {"lambda_1": 0.0, "lambda_2": 0.0}, {"scale": 50.0}])
@pytest.mark.parametrize(("lean", "most"), [(False, 1.0), (True, 1.0), (True, 0.0)])
def test_terms_gradients_and_predictions_are_those_of_the_plain_way(
    batch: Batch, method: str, options: dict[str, object], lean: bool, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = state_after_a_step(batch, method, **options)
    monkeypatch.setattr(terms, "MANY", 1)
    monkeypatch.setattr(terms, "MOST", most)
    batch = replace(batch, graph=GraphTensors(batch.graph.graph, lean=lean))
    large = state_after_a_step(batch, method, **options)
    assert len(plain) == len(large)
    for ours, theirs in zip(large, plain, strict=True):
        largest = max(1.0, float(theirs.abs().max()))
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5 * largest)


@pytest.mark.parametrize("backbone", ["sign", "mlp", "h2gcn"])
def test_so_they_are_with_other_backbones(batch: Batch, backbone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = state_after_a_step(batch, "lnp-v2", backbone=backbone)
    monkeypatch.setattr(terms, "MANY", 1)
    for ours, theirs in zip(state_after_a_step(batch, "lnp-v2", backbone=backbone), plain, strict=True):
        largest = max(1.0, float(theirs.abs().max()))
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5 * largest)


def test_only_the_paper_s_objective_on_the_whole_of_a_large_graph(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = make_config("lnp-v2", {})
    assert not terms.applies(config, batch)  # type: ignore[arg-type]
    monkeypatch.setattr(terms, "MANY", 1)
    assert terms.applies(config, batch)  # type: ignore[arg-type]
    assert not terms.applies(config, replace(batch, own=3))  # type: ignore[arg-type]
    for options in (
        {"fusion": "concatenation"},
        {"embedding": "raw"},
        {"alpha": "dot"},
        {"beta": "random"},
        {"expectation": "exact"},
        {"kl_direction": "PQ"},
        {"kl_nodes": "outside-noisy"},
        {"similarity": "random"},
        {"negatives": 0},
        {"lambda_3": 0.0},
    ):
        assert not terms.applies(make_config("lnp-v2", options), batch), options  # type: ignore[arg-type]
