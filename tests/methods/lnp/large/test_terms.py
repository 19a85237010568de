"""The whole objective and the predictions of LNP on many nodes against the plain way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest
import torch

from lnp.engine.distributed import AcrossProcesses, share
from lnp.methods.batch import Batch, full_batch
from lnp.methods.lnp.large import terms
from lnp.methods.lnp.trusted_set import TrustedSet
from lnp.methods.registry import create_method, make_config
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.hops import HopRows, build_hops
from lnp.seeds import Seeds


@pytest.fixture
def batch(toy_task) -> Batch:  # type: ignore[no-untyped-def]
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lnp.methods.lnp.large.unit.ENTRIES", 50)


def state_after_a_step(batch: Batch, method: str, nodes: int | None = None, **options: object) -> list[torch.Tensor]:
    """Terms, predictions, gradients and what else a step leaves; ``nodes``: of a share, those of the whole graph."""
    model = create_method(method, make_config(method, options), batch, Seeds(0).generator("initialisation"))
    if nodes is not None:
        model.trusted_set = TrustedSet(nodes)
    model.trusted_set.grown[batch.numbers(batch.noisy)[::3]] = True
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


class FixedDraws:
    """Always the same negatives, and the offset that is wished for."""

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def integers(self, low: int, high: int, size: int | None = None) -> np.ndarray | int:
        return self.offset if size is None else np.arange(size) * 7 % high


def test_an_epoch_asks_some_nodes_for_the_contrastive_loss_and_is_right_on_average(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the offsets the mean of terms and gradients is that of asking all; no other term knows of it."""
    monkeypatch.setattr(terms, "MANY", 1)

    def step(offset: int) -> list[torch.Tensor]:
        model = create_method("lnp-v2", make_config("lnp-v2"), batch, Seeds(0).generator("initialisation"))
        randomness = replace(Seeds(0).randomness(), sampling=FixedDraws(offset))
        found = terms.large_terms(model, batch, randomness)
        sum(found.values()).backward()
        return [*(found[name].detach() for name in sorted(found)), *(p.grad for p in model.parameters())]

    whole = step(0)
    monkeypatch.setattr(terms, "ANCHORS", -(-batch.node_count // 3))
    some = [step(offset) for offset in range(3)]
    for number, expected in enumerate(whole):
        mean = torch.stack([one[number] for one in some]).mean(dim=0)
        torch.testing.assert_close(mean, expected, rtol=1e-4, atol=1e-6)
    differ = [not torch.allclose(some[0][number], whole[number], rtol=1e-4) for number in range(5)]
    assert differ == [True, False, False, False, False]  # contrastive, kl, prior_ce, reconstruction, weighted_ce


class Threads:
    """What processes tell each other, told by threads: a share each."""

    def __init__(self, rank: int, size: int, barrier: Barrier, said: list[torch.Tensor | None]) -> None:
        self.rank, self.size, self.barrier, self.said = rank, size, barrier, said

    def heard(self, values: torch.Tensor) -> torch.Tensor:
        self.said[self.rank] = values.detach().clone()
        self.barrier.wait(timeout=20)
        heard = torch.stack([one for one in self.said if one is not None])
        self.barrier.wait(timeout=20)
        return heard

    def sum(self, values: torch.Tensor) -> torch.Tensor:
        return self.heard(values).sum(dim=0)

    def least(self, values: torch.Tensor) -> torch.Tensor:
        return self.heard(values).amin(dim=0)

    def greatest(self, values: torch.Tensor) -> torch.Tensor:
        return self.heard(values).amax(dim=0)


def shares_of(batch: Batch, size: int, *, lonely: bool) -> list[Batch]:
    """Rows of hops dealt out; ``lonely`` leaves the last share without any label."""
    barrier, said = Barrier(size), [None] * size
    hops = [batch.graph.features, *build_hops(batch.graph.graph, "row", 2, torch.device("cpu"))]
    every = torch.stack([torch.as_tensor(hop) for hop in hops])  # type: ignore[arg-type]
    parts = [torch.from_numpy(share(batch.node_count, rank, size)) for rank in range(size)]
    noisy, trusted = batch.noisy, batch.trusted
    if lonely:
        noisy, trusted = (nodes[~torch.isin(nodes, parts[-1])] for nodes in (noisy, trusted))
    given = torch.full_like(batch.given, -1)
    given[torch.cat([noisy, trusted])] = batch.given[torch.cat([noisy, trusted])]
    whole = replace(batch, given=given, noisy=noisy, trusted=trusted)
    return [
        Batch(
            graph=HopRows(every[:, part], "row"),  # type: ignore[arg-type]
            given=given[part],
            noisy=torch.isin(part, noisy).nonzero().squeeze(1),
            trusted=torch.isin(part, trusted).nonzero().squeeze(1),
            class_count=batch.class_count,
            nodes=part,
            across=AcrossProcesses(Threads(rank, size, barrier, said), whole),  # type: ignore[arg-type]
        )
        for rank, part in enumerate(parts)
    ]


@pytest.mark.parametrize("method", ["lnp-v1", "lnp-v2"])
@pytest.mark.parametrize("lonely", [False, True])
@pytest.mark.parametrize("options", [{}, {"similarity": "minmax", "odds_power": 1.0}, {"lambda_1": 0.0, "scale": 50.0}])
def test_so_they_are_on_every_share_of_a_graph(
    batch: Batch, method: str, options: dict[str, object], lonely: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares, found = shares_of(batch, 2, lonely=lonely), []

    def state(part: Batch) -> list[torch.Tensor]:
        return state_after_a_step(part, method, nodes=batch.node_count, backbone="sign", **options)

    for many in (10**9, 1):
        monkeypatch.setattr(terms, "MANY", many)
        assert [terms.applies(make_config(method, options), part) for part in shares] == [many == 1] * 2  # type: ignore[arg-type]
        with ThreadPoolExecutor(2) as threads:
            found.append(list(threads.map(state, shares)))
    for plain, large in zip(*found, strict=True):
        for ours, theirs in zip(large, plain, strict=True):
            largest = max(1.0, float(theirs.abs().max()))
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5 * largest)


def test_only_the_paper_s_objective_on_a_large_graph(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
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
        {"told": False},
        {"negatives": 0},
        {"lambda_3": 0.0},
    ):
        assert not terms.applies(make_config("lnp-v2", options), batch), options  # type: ignore[arg-type]
