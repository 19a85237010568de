"""What both versions share: weights, growth, prediction."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.methods.lnp.label_odds import label_odds
from lnp.methods.registry import create_method, make_config
from lnp.nn.sparse import SparseMatrix
from lnp.seeds import Seeds


def build(batch, method: str = "lnp-v2", **options: object):  # type: ignore[no-untyped-def]
    config = make_config(method, {"hidden": 8, "epochs": 30, **options})
    return create_method(method, config, batch, Seeds(0).generator("initialisation"))


def test_weights_are_the_similarity_of_prediction_and_given_label(batch) -> None:  # type: ignore[no-untyped-def]
    model = build(batch, dropout=0.0, lambda_1=1.0, similarity="probability", odds_power=0.0)
    terms = model.loss(batch, Seeds(0).randomness())
    logits = model.infer(batch, Seeds(0).randomness())[1].logits.detach()
    p = logits.softmax(dim=1)[batch.noisy, batch.noisy_labels]
    torch.testing.assert_close(terms["weighted_ce"].detach(), (p * -p.log()).mean())


@pytest.mark.parametrize("method", ["lnp-v1", "lnp-v2"])
def test_a_judge_that_is_not_told_a_label_does_not_depend_on_it(batch, method: str) -> None:  # type: ignore[no-untyped-def]
    """Half of T_N has joined T_C and makes prototypes; the labels of the other half are changed."""
    other = batch.given.clone()
    others = batch.noisy[1::2]
    other[others] = (other[others] + 1) % 3
    found = {}
    for told in (True, False):
        model = build(batch, method, told=told).eval()
        model.trusted_set.grown[batch.noisy[::2]] = True
        found[told] = [
            model.judgement(one, *model.infer(one, None)).detach() for one in (batch, replace(batch, given=other))
        ]
        if told:  # it is the prediction itself
            torch.testing.assert_close(found[told][0], model.predict(batch).detach()[batch.noisy])
    torch.testing.assert_close(*found[False])
    assert torch.equal(*found[True]) == (method == "lnp-v1")
    # Whoever joined T_C is told its label in both versions.
    joined = found[True][0][::2], found[False][0][::2]
    assert not torch.allclose(*joined, atol=1e-3)
    if method == "lnp-v1":
        torch.testing.assert_close(found[True][0][1::2], found[False][0][1::2])


def test_an_untold_judge_says_what_the_networks_say_of_a_node_without_a_label(batch) -> None:  # type: ignore[no-untyped-def]
    """Taken out of T_N, a node is predicted as the untold judge sees it in T_N."""
    model = build(batch, told=False).eval()
    judged = model.judgement(batch, *model.infer(batch, None)).detach()
    without = replace(batch, noisy=batch.noisy[1:])
    predicted = model.predict(without).detach()
    torch.testing.assert_close(judged[0], predicted[batch.noisy[0]])


def test_weights_are_scaled_by_the_odds_of_a_given_label(batch) -> None:  # type: ignore[no-untyped-def]
    misled = batch.given.clone()
    misled[batch.noisy] = (misled[batch.noisy] + 1) % 3
    batch = replace(batch, given=misled)
    fixed, scaled = (build(batch, dropout=0.0, lambda_1=1.0, odds_power=power) for power in (0.0, 2.0))
    plain, weighted = (m.loss(batch, Seeds(0).randomness())["weighted_ce"].detach() for m in (fixed, scaled))
    torch.testing.assert_close(weighted, plain * label_odds(batch) ** 2)
    assert weighted < 0.9 * plain


@pytest.mark.parametrize("method", ["lnp-v1", "lnp-v2"])
def test_trusted_set_grows_from_the_noisy_set_only_and_follows_delta(batch, method: str) -> None:  # type: ignore[no-untyped-def]
    sizes = {}
    for delta in (0.0, 0.6, 1.0):
        model = build(batch, method, delta=delta)
        fit(model, batch, select_last(), Seeds(0).randomness())
        grown = model.trusted_set.grown.nonzero().squeeze(1)
        assert set(grown.tolist()) <= set(batch.noisy.tolist())
        sizes[delta] = grown.numel()
    assert sizes[0.0] == batch.noisy.numel()
    assert 0 < sizes[0.6] < sizes[0.0]
    assert sizes[1.0] == 0


def test_scale_one_never_grows_on_seven_classes() -> None:
    """The published rule with unit norms and no temperature selects nobody; the default does."""
    from lnp.datasets.catalog import load_dataset
    from lnp.experiments.protocol import prepare
    from lnp.methods.batch import full_batch

    dataset = load_dataset("synthetic:classes=7,nodes=280,homophily=0.9,signal=3.0")
    task = prepare(dataset, "random", "uniform-mix", 0.2, Seeds(0))
    seven = full_batch(task.graph, task.observed, task.split.train)
    counts = {}
    for scale in (1.0, make_config("lnp-v2").scale):  # type: ignore[attr-defined]
        model = build(seven, scale=scale, delta=0.8, epochs=60)
        fit(model, seven, select_last(), Seeds(0).randomness())
        counts[scale] = int(model.trusted_set.grown.sum())
    assert counts[1.0] == 0
    assert counts[make_config("lnp-v2").scale] > 0  # type: ignore[attr-defined]


def test_prediction_changes_with_the_grown_set(batch) -> None:  # type: ignore[no-untyped-def]
    model = build(batch).eval()
    with torch.no_grad():
        before = model.predict(batch)
        model.trusted_set.grown[batch.noisy[:10]] = True
        after = model.predict(batch)
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after.sum(dim=1), torch.ones(60))


@pytest.mark.parametrize("method", ["lnp-v1", "lnp-v2"])
def test_gradient_of_the_whole_model_by_finite_differences(batch, method: str) -> None:  # type: ignore[no-untyped-def]
    """Along random directions, in double precision; w counts as a constant in both, as the objective says."""
    model = build(batch, method, dropout=0.0, weights="one", negatives=0, lambda_1=1.0, odds_power=0.0).double()
    graph = batch.graph
    graph.features = graph.features.double()
    single = graph.propagation("row")
    graph._propagations["row"] = SparseMatrix(single._forward.double(), single._backward.double())
    parameters = list(model.parameters())

    def loss() -> torch.Tensor:
        return sum(model.loss(batch, Seeds(0).randomness()).values())

    gradients = torch.autograd.grad(loss(), parameters)
    rng = Seeds(1).generator("direction")
    step = 1e-6  # small enough that no nearest prototype changes
    for _ in range(3):
        directions = [torch.from_numpy(rng.normal(size=p.shape)) for p in parameters]
        slope = sum((g * d).sum() for g, d in zip(gradients, directions, strict=True)).item()
        values = []
        with torch.no_grad():
            for move in (step, -2 * step, step):
                for p, d in zip(parameters, directions, strict=True):
                    p.add_(move * d)
                values.append(loss().item())
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(slope, rel=1e-4)
