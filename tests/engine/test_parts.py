"""Training in parts against training on the whole graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from lnp.engine.batching import Batching, make_feed
from lnp.engine.feed import Feed
from lnp.engine.fit import FitOptions, FitResult, fit
from lnp.engine.parts import PartsFeed
from lnp.engine.selection import select_validation
from lnp.errors import ConfigError
from lnp.methods.base import Method
from lnp.methods.registry import create_method, make_config
from lnp.nn.graph_part import GraphPart
from lnp.seeds import Seeds

ONE_PART = ("neighbours:size=60,fan_out=all", "clusters:count=4,together=4")
MANY_PARTS = ("neighbours:size=9,fan_out=all", "neighbours:size=20,fan_out=2", "clusters:count=6,together=2")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pymetis")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def prepare(task, name: str, batch: str, **options: object) -> tuple[Method, Feed]:  # type: ignore[no-untyped-def]
    config = make_config(name, {"hidden": 6, "epochs": 3, **options})
    feed = make_feed(Batching.parse(batch), config, task.graph, task.observed, task.split.train)
    return create_method(name, config, feed.batch, Seeds(0).generator("initialisation")), feed


def train(task, name: str, batch: str, fit_options: FitOptions | None = None, **options: object):  # type: ignore[no-untyped-def]
    method, feed = prepare(task, name, batch, **options)
    selection = select_validation(task.truth.labels, task.observed, task.split, rule="val-clean")
    return method, fit(method, feed, selection, Seeds(1).randomness(), fit_options)


def assert_equal_runs(first: tuple[Method, FitResult], second: tuple[Method, FitResult]) -> None:
    (one, result), (other, other_result) = first, second
    for name, value in one.state_dict().items():
        torch.testing.assert_close(value, other.state_dict()[name], rtol=1e-5, atol=1e-5, msg=lambda m, n=name: n + m)
    torch.testing.assert_close(result.probabilities, other_result.probabilities, rtol=1e-5, atol=1e-5)
    for row, other_row in zip(result.history, other_result.history, strict=True):
        assert row.terms == pytest.approx(other_row.terms, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("batch", ONE_PART)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("lnp-v1", {}),
        ("lnp-v2", {}),
        ("lnp-v2", {"loop_weight": 5.0}),
        ("lnp-v2", {"layers": 3, "similarity": "minmax", "delta": 0.3, "expectation": "exact"}),
        ("lnp-v2", {"similarity": "minmax", "delta": 0.3, "told": False}),
        ("lnp-v2", {"kl_nodes": "outside-noisy", "negatives": 0, "grown_as": "noisy", "layers": 1}),
        ("lnp-v1", {"backbone": "h2gcn"}),
        ("lnp-v2", {"backbone": "sign"}),
        ("lnp-v2", {"backbone": "mlp"}),
    ],
)
def test_one_part_with_all_neighbours_is_the_full_batch(toy_task, name: str, options, batch: str) -> None:  # type: ignore[no-untyped-def]
    """Dropout and negatives included: the same numbers are drawn for the same nodes."""
    full = train(toy_task, name, "full", **options)
    assert_equal_runs(full, train(toy_task, name, batch, **options))
    if "delta" in options:
        assert full[0].get_buffer("trusted_set.grown").any()  # T_C did grow


@pytest.mark.parametrize("batch", ONE_PART)
@pytest.mark.parametrize("name", ["gcn", "gce", "apl", "forward", "dgnn", "smodel", "joint", "clean-only"])
def test_so_it_is_for_other_methods_without_dropout(toy_task, name: str, batch: str) -> None:  # type: ignore[no-untyped-def]
    """With dropout the masks differ: a part holds only the nodes that the loss depends on."""
    options: dict[str, object] = {"dropout": 0.0, "layers": 2}
    if name not in ("joint", "clean-only"):
        options["fine_tune_epochs"] = 2
    if name in ("forward", "dgnn"):
        options["estimate_epochs"] = 2
    assert_equal_runs(train(toy_task, name, "full", **options), train(toy_task, name, batch, **options))


@pytest.mark.parametrize(("name", "told"), [("lnp-v1", True), ("lnp-v2", True), ("lnp-v2", False), ("joint", True)])
def test_the_loss_of_many_parts_is_that_of_the_whole_graph_before_the_first_step(  # type: ignore[no-untyped-def]
    toy_task, name: str, told: bool
) -> None:
    options: dict[str, object] = {"dropout": 0.0}
    if name != "joint":
        options |= {"lambda_3": 0.0, "similarity": "minmax", "told": told}  # negatives come from the part itself
    method, feed = prepare(toy_task, name, "full", **options)
    method.train()
    expected = method.loss(feed.batch, Seeds(0).randomness())  # type: ignore[operator]
    _, parts = prepare(toy_task, name, "neighbours:size=7,fan_out=all", **options)
    found: dict[str, list[float]] = {}
    for batch in parts.epoch(method, Seeds(0).randomness(), "labelled" if name == "joint" else "all"):
        method.train()
        for term, value in method.loss(batch, Seeds(0).randomness()).items():  # type: ignore[operator]
            found.setdefault(term, []).append(value.item())
    assert found.keys() == expected.keys()
    for term, values in found.items():
        assert len(values) > 3
        assert np.mean(values) == pytest.approx(expected[term].item(), rel=1e-4)


@pytest.mark.parametrize(
    ("batch", "backbone"),
    [
        ("neighbours:size=7,fan_out=all", "gcn"),
        ("neighbours:size=7,fan_out=all", "sign"),
        ("neighbours:size=16,fan_out=all", "gcn"),
        ("clusters:count=12,together=1", "sign"),
    ],
)
def test_the_gradient_of_many_parts_counts_each_trusted_node_once(toy_task, batch: str, backbone: str) -> None:  # type: ignore[no-untyped-def]
    """However many of them a part has: on average over the parts, joint has the gradient of the full batch."""
    options: dict[str, object] = {"dropout": 0.0, "backbone": backbone}
    method, feed = prepare(toy_task, "joint", "full", **options)

    def gradients(part) -> list[torch.Tensor]:  # type: ignore[no-untyped-def]
        method.train()
        terms = method.loss(part, Seeds(0).randomness())  # type: ignore[operator]
        return list(torch.autograd.grad(sum(terms.values()), list(method.parameters())))

    expected = gradients(feed.batch)
    _, parts = prepare(toy_task, "joint", batch, **options)
    trusted, found = [], []
    for part in parts.epoch(method, Seeds(0).randomness(), "labelled"):
        trusted.append(part.trusted.numel())
        found.append(gradients(part))
    if batch.startswith("clusters"):
        assert min(trusted) == 0 < max(trusted)  # some have none
    for whole, *of_parts in zip(expected, *found, strict=True):
        torch.testing.assert_close(torch.stack(of_parts).mean(dim=0), whole, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", ["all", "noisy", "trusted", "labelled", "outside-noisy"])
@pytest.mark.parametrize("batch", MANY_PARTS)
def test_every_node_of_the_kind_is_an_own_node_once(toy_task, batch: str, kind: str) -> None:  # type: ignore[no-untyped-def]
    method, feed = prepare(toy_task, "gcn", batch)
    whole = feed.batch
    own, noisy, trusted = [], [], []
    for part in feed.epoch(method, Seeds(0).randomness(), kind):
        assert part.nodes is not None
        own += part.own_rows(part.nodes).tolist()
        noisy += part.numbers(part.noisy).tolist()
        trusted += part.numbers(part.trusted).tolist()
        labelled = torch.cat([part.noisy, part.trusted])
        assert (part.noisy < part.own_count).all()
        assert torch.equal(part.given[labelled], whole.given[part.nodes[labelled]])
        assert int((part.given >= 0).sum()) == labelled.numel()  # neighbours show no label
    wanted = {
        "all": range(60),
        "noisy": whole.noisy.tolist(),
        "trusted": whole.trusted.tolist(),
        "labelled": (whole.given >= 0).nonzero().squeeze(1).tolist(),
        "outside-noisy": whole.outside_noisy.tolist(),
    }[kind]
    assert len(own) == len(set(own))
    assert set(own) == set(wanted) if batch.startswith("neighbours") else set(own) >= set(wanted)
    assert sorted(noisy) == sorted(set(own) & set(whole.noisy.tolist()))
    if kind not in ("all", "labelled") or batch.startswith("clusters"):
        assert sorted(trusted) == sorted(set(own) & set(whole.trusted.tolist()))


def test_trusted_nodes_visit_every_part_or_take_turns(toy_task) -> None:  # type: ignore[no-untyped-def]
    for size, most in ((24, 6), (12, 3)):  # T_C has six nodes; a quarter of the part may visit
        method, feed = prepare(toy_task, "lnp-v2", f"neighbours:size={size},fan_out=2")
        parts = list(feed.epoch(method, Seeds(0).randomness()))
        t_c = set(feed.batch.trusted.tolist())
        times = dict.fromkeys(t_c, 0)
        values = torch.rand(60)
        means = []
        for part in parts:
            assert part.nodes is not None
            present = part.numbers(part.trusted).tolist()
            guests = part.nodes[part.trusted[part.trusted >= part.own_count]].tolist()
            assert len(present) == len(set(present))
            assert len(guests) <= most
            assert set(present) == (t_c if most == 6 else set(guests) | (t_c & set(part.own_rows(part.nodes).tolist())))
            for node in present:
                times[node] += 1
            means.append(part.mean(values[part.numbers(part.trusted)], "trusted").item())
        assert max(times.values()) - min(times.values()) <= 2
        assert np.mean(means) == pytest.approx(values[sorted(t_c)].mean().item(), rel=1e-5)


def test_parts_are_drawn_anew_in_every_epoch_and_the_seed_decides(toy_task) -> None:  # type: ignore[no-untyped-def]
    for batch in MANY_PARTS:
        method, feed = prepare(toy_task, "gcn", batch)

        def epoch(randomness, method=method, feed=feed) -> list[list[int]]:  # type: ignore[no-untyped-def]
            return [part.nodes.tolist() for part in feed.epoch(method, randomness, "all")]

        randomness = Seeds(0).randomness()
        first, second = epoch(randomness), epoch(randomness)
        assert first != second
        assert epoch(Seeds(0).randomness()) == first


@pytest.mark.parametrize("batch", MANY_PARTS)
def test_prediction_is_never_sampled(toy_task, batch: str) -> None:  # type: ignore[no-untyped-def]
    for name in ("lnp-v2", "h2gcn"):
        method, feed = prepare(toy_task, name, batch)
        same, full = prepare(toy_task, name, "full")
        torch.testing.assert_close(feed.predict(method), full.predict(same), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("batch", MANY_PARTS)
def test_parts_learn(toy_task, batch: str) -> None:  # type: ignore[no-untyped-def]
    _, result = train(toy_task, "lnp-v2", batch, epochs=20, learning_rate=0.05)
    right = result.probabilities.argmax(dim=1).numpy() == toy_task.truth.labels
    assert right.mean() > 0.5  # chance is a third
    first, *_, last = (row.terms["reconstruction"] for row in result.history)
    assert last < 0.7 * first


def test_a_stopped_run_goes_on_to_the_same_bits(toy_task, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    batch = "neighbours:size=20,fan_out=2"
    method, result = train(toy_task, "lnp-v2", batch, epochs=4)

    class StopError(Exception):
        pass

    def stop(record, count) -> None:  # type: ignore[no-untyped-def]
        if record.epoch == 2:
            raise StopError

    options = FitOptions(checkpoint=tmp_path / "c", checkpoint_every=1, on_epoch=stop)
    with pytest.raises(StopError):
        train(toy_task, "lnp-v2", batch, options, epochs=4)
    resumed, again = train(toy_task, "lnp-v2", batch, FitOptions(checkpoint=tmp_path / "c"), epochs=4)
    assert torch.equal(again.probabilities, result.probabilities)
    for name, value in method.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name]), name


def test_sampled_parts_are_no_larger_than_the_fan_out_allows(toy_task) -> None:  # type: ignore[no-untyped-def]
    method, feed = prepare(toy_task, "lnp-v2", "neighbours:size=5,fan_out=2/1/1", layers=3)
    for part in feed.epoch(method, Seeds(0).randomness()):
        assert isinstance(part.graph, GraphPart)
        own, first, second = part.graph.sampled.sizes  # the third hop's features are in S X already
        assert own <= 5 + 1  # and a visitor
        assert first <= 3 * own
        assert second <= first + 2 * own


def test_labels_beside_the_features_need_the_whole_graph(toy_task) -> None:  # type: ignore[no-untyped-def]
    method, feed = prepare(toy_task, "lnp-v2", "neighbours", fusion="concatenation")
    assert isinstance(feed, PartsFeed)
    with pytest.raises(ConfigError, match="Expected `fusion` prototypes to train in parts, but got concatenation"):
        next(iter(feed.epoch(method, Seeds(0).randomness())))
