from __future__ import annotations

import pytest
import torch

from lnp.engine.feed import predict
from lnp.engine.fit import FitOptions, fit
from lnp.engine.selection import select_last, select_validation
from lnp.errors import LNPError
from lnp.methods.batch import full_batch
from lnp.methods.registry import create_method, make_config
from lnp.methods.two_phase import TwoPhase
from lnp.seeds import Seeds

SMALL = {"hidden": 8, "epochs": 12, "estimate_epochs": 10}
CORRECTED = ("forward", "dgnn", "glc")


@pytest.fixture
def batch(toy_task):
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


def build(name, batch, **options):
    return create_method(name, make_config(name, SMALL | options), batch, Seeds(3).generator("initialisation"))


def test_the_two_networks_start_apart_and_as_drawn(batch):
    config = make_config("forward", SMALL)
    first = TwoPhase(config, batch, Seeds(3).generator("initialisation"))
    second = TwoPhase(config, batch, Seeds(3).generator("initialisation"))
    for name, value in first.state_dict().items():
        torch.testing.assert_close(value, second.state_dict()[name], atol=0, rtol=0)
    assert not torch.equal(first.classifier.layers[0].weight, first.noisy_classifier.layers[0].weight)


@pytest.mark.parametrize("name", CORRECTED)
def test_first_stage_moves_only_the_first_network_and_second_only_the_second(name, batch):
    method = build(name, batch, **({} if name == "glc" else {"fine_tune_epochs": 0}))
    drawn = {key: value.clone() for key, value in method.state_dict().items()}
    seen = {}

    def watch(record, count):
        if record.epoch in (0, count - 1):
            seen[record.stage, record.epoch] = {key: value.clone() for key, value in method.state_dict().items()}

    fit(method, batch, select_last(), Seeds(3).randomness(), FitOptions(on_epoch=watch))
    after_first, started, ended = seen["estimate", 9], seen["train", 0], seen["train", 11]
    noisy, clean = "phases.noisy_classifier.layers.0.weight", "phases.classifier.layers.0.weight"
    assert torch.equal(after_first[clean], drawn[clean])
    assert not torch.equal(after_first[noisy], drawn[noisy])
    assert torch.equal(started[noisy], ended[noisy])
    assert torch.equal(after_first[noisy], ended[noisy])
    assert not torch.equal(started[clean], ended[clean])
    assert torch.equal(started["phases.transition"], ended["phases.transition"])


def test_c_is_read_from_the_last_epoch_in_evaluation_mode(toy_task, batch):
    selection = select_validation(toy_task.truth.labels, toy_task.observed, toy_task.split, rule="val-clean")
    method = build("glc", batch)
    last = {}

    def watch(record, count):
        if record.stage == "estimate" and record.epoch == count - 1:
            last["weight"] = method.phases.noisy_classifier.layers[0].weight.clone()

    fit(method, batch, selection, Seeds(3).randomness(), FitOptions(on_epoch=watch))
    assert torch.equal(method.phases.noisy_classifier.layers[0].weight, last["weight"])
    method.eval()
    with torch.no_grad():
        p = method.phases.noisy_classifier(batch.graph).softmax(dim=1)
    rows = torch.stack([p[batch.trusted][batch.trusted_labels == k].mean(dim=0) for k in range(3)])
    torch.testing.assert_close(method.phases.transition, rows)


def test_predictions_come_from_the_first_network_until_c_is_known(batch):
    method = build("forward", batch)
    method.eval()
    with torch.no_grad():
        first = method.phases.noisy_classifier(batch.graph).softmax(dim=1)
        second = method.phases.classifier(batch.graph).softmax(dim=1)
    torch.testing.assert_close(predict(method, batch), first)
    method.phases.corrected.fill_(True)
    torch.testing.assert_close(predict(method, batch), second)


@pytest.mark.parametrize("name", CORRECTED)
def test_each_network_is_moved_by_adam_with_the_rate_and_the_decay_of_the_options(name, batch):
    options = {"epochs": 3, "estimate_epochs": 3, "dropout": 0.0, "learning_rate": 0.03, "weight_decay": 0.2}
    if name != "glc":
        options["fine_tune_epochs"] = 0
    method, by_hand = (build(name, batch, **options) for _ in range(2))
    streams, phases = Seeds(3).randomness(), by_hand.phases
    fit(method, batch, select_last(), Seeds(3).randomness())
    for stage, network in zip(by_hand.stages(batch), (phases.noisy_classifier, phases.classifier), strict=True):
        if stage.begin is not None:
            stage.begin(batch, streams)
        by_hand.train()
        adam = torch.optim.Adam(network.parameters(), lr=0.03, weight_decay=0.2)
        for _ in range(3):
            adam.zero_grad()
            sum(stage.updates[0].loss(batch, streams).values()).backward()
            adam.step()
        by_hand.eval()
    for key, value in by_hand.state_dict().items():
        torch.testing.assert_close(method.state_dict()[key], value, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("name", CORRECTED)
@pytest.mark.parametrize("stop", [("estimate", 6), ("train", 6)])
def test_resuming_on_either_side_of_the_boundary_gives_the_same_bits(name, stop, toy_task, batch, goes_on_alike):
    selection = select_validation(toy_task.truth.labels, toy_task.observed, toy_task.split, rule="val-clean")
    goes_on_alike(lambda: build(name, batch), batch, selection, stop, checkpoint_every=4)


def test_a_known_matrix_needs_no_first_stage(batch):
    exact = "[[0.8, 0.2, 0.0], [0.0, 0.8, 0.2], [0.2, 0.0, 0.8]]"
    method = build("forward", batch, estimator="exact", transition=exact)
    assert [stage.name for stage in method.stages(batch)] == ["train", "fine-tuning"]
    fit(method, batch, select_last(), Seeds(3).randomness())
    torch.testing.assert_close(method.phases.transition, torch.tensor([[0.8, 0.2, 0], [0, 0.8, 0.2], [0.2, 0, 0.8]]))


def test_exact_matrix_of_the_wrong_size_is_refused_when_the_method_is_built(batch):
    for name in ("forward", "dgnn"):
        with pytest.raises(LNPError, match="3 rows of 3 numbers"):
            build(name, batch, estimator="exact", transition="[[1, 0], [0, 1]]")
