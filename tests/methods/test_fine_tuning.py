from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from lnp.engine.feed import predict
from lnp.engine.fit import FitResult, fit
from lnp.engine.selection import Selection, select_last, select_validation
from lnp.errors import ConfigError
from lnp.graph.labels import ObservedLabels
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.batch import full_batch
from lnp.methods.fine_tuning import FineTunedConfig, fine_tuning_stage
from lnp.methods.gcn import Plain, PlainConfig
from lnp.seeds import Seeds


def train(task, selection: Selection | None = None, **options: object) -> tuple[Plain, FitResult]:
    batch = full_batch(task.graph, task.observed, task.split.train)
    config = PlainConfig(**{"hidden": 8, "epochs": 10, "fine_tune_epochs": 8, **options})
    method = Plain(config, batch, Seeds(0).generator("initialisation"))
    return method, fit(method, batch, selection or select_last(), Seeds(0).randomness())


def same_bits(first: Plain, second: Plain) -> bool:
    return all(torch.equal(value, second.state_dict()[name]) for name, value in first.state_dict().items())


def test_zero_epochs_leave_the_first_stage_as_it_is(toy_task) -> None:
    off, result = train(toy_task, fine_tune_epochs=0)
    assert {record.stage for record in result.history} == {"train"}
    on, _ = train(toy_task)
    assert not same_bits(off, on)


@pytest.mark.parametrize("backbone", ["gcn", "mlp", "h2gcn"])
def test_learning_rate_zero_leaves_the_first_stage_as_it_is(toy_task, backbone: str) -> None:
    off, _ = train(toy_task, backbone=backbone, fine_tune_epochs=0)
    still, result = train(toy_task, backbone=backbone, fine_tune_learning_rate=0.0)
    assert len(result.history) == 18
    assert same_bits(off, still)


def test_nobody_trusted_means_no_stage(toy_task) -> None:
    observed = ObservedLabels(toy_task.observed.given, class_count=3)
    _, result = train(toy_task._replace(observed=observed))
    assert {record.stage for record in result.history} == {"train"}


def test_the_start_is_kept_when_it_is_best(toy_task) -> None:
    # A rule that wants what the first stage ends with: nothing can be better than w_0.
    _, wanted = train(toy_task, fine_tune_epochs=0)
    selection = Selection("val-clean", np.arange(60), wanted.probabilities.argmax(dim=1).numpy())
    before, _ = train(toy_task, selection, fine_tune_epochs=0)
    after, result = train(toy_task, selection, fine_tune_learning_rate=1.0)
    assert min(record.score for record in result.history if record.stage == "fine-tuning") < 1
    assert not any(record.selected for record in result.history if record.stage == "fine-tuning")
    assert same_bits(before, after)


@pytest.mark.parametrize("learning_rate", [0.001, 0.01, 0.1, 1.0])
def test_by_the_rule_it_is_never_worse_than_before(toy_task, learning_rate: float) -> None:
    selection = select_validation(toy_task.truth.labels, toy_task.observed, toy_task.split, rule="val-clean")
    _, before = train(toy_task, selection, fine_tune_epochs=0)
    _, after = train(toy_task, selection, fine_tune_learning_rate=learning_rate)
    assert selection.score(after.probabilities) >= selection.score(before.probabilities)


def test_the_loss_on_trusted_nodes_is_their_cross_entropy_and_falls(toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    before, _ = train(toy_task, dropout=0.0, fine_tune_epochs=0)
    _, result = train(toy_task, dropout=0.0, fine_tune_epochs=30, fine_tune_learning_rate=1e-3, weight_decay=5e-4)
    losses = [record.terms["trusted_ce"] for record in result.history if record.stage == "fine-tuning"]
    assert all(later < earlier for earlier, later in pairwise(losses))
    expected = -predict(before, batch)[batch.trusted].log().gather(1, batch.trusted_labels[:, None]).mean()
    assert losses[0] == pytest.approx(expected.item(), abs=1e-5)


def test_noisy_labels_have_no_say_in_it(toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    given = batch.given.clone()
    given[batch.noisy] = (given[batch.noisy] + 1) % 3
    other = type(batch)(batch.graph, given, batch.noisy, batch.trusted, 3)
    config = PlainConfig(hidden=4)
    method = Plain(config, batch, Seeds(0).generator("initialisation")).train()
    stages = [method.stages(seen)[1].updates[0].loss for seen in (batch, other)]
    values = [
        loss(seen, Seeds(0).randomness())["trusted_ce"] for loss, seen in zip(stages, (batch, other), strict=True)
    ]
    assert torch.equal(*values)


@pytest.mark.parametrize("backbone", ["mlp", "h2gcn"])
def test_statistics_of_batchnorm_stay_bit_for_bit(toy_task, backbone: str) -> None:
    off, _ = train(toy_task, backbone=backbone, fine_tune_epochs=0)
    on, _ = train(toy_task, backbone=backbone)
    buffers = dict(off.named_buffers())
    assert any(name.endswith("running_var") for name in buffers)
    for name, value in on.named_buffers():
        assert torch.equal(value, buffers[name]), name
    # The weights did move, those of BatchNorm too.
    moved = {
        name for name, value in on.named_parameters() if not torch.equal(value, dict(off.named_parameters())[name])
    }
    assert moved == {name for name, _ in on.named_parameters()}


def test_several_classifiers_are_tuned_each_by_its_own_loss(toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    networks = {name: torch.nn.BatchNorm1d(3) for name in ("first", "second")}
    outputs = [torch.tensor(np.random.default_rng(s).normal(size=(60, 3)), dtype=torch.float32) for s in (0, 1)]
    config = FineTunedConfig(fine_tune_epochs=5, fine_tune_learning_rate=0.02, weight_decay=0.3)
    (stage,) = fine_tuning_stage(config, batch, networks, lambda batch, randomness: outputs)
    terms = stage.updates[0].loss(batch, Seeds(0).randomness())
    expected = sum(cross_entropy(z[batch.trusted], batch.trusted_labels).mean() for z in outputs)
    torch.testing.assert_close(terms["trusted_ce"], expected)
    assert stage.evaluates_parts == ("first", "second")
    adam = stage.optimisers["main"]
    assert len(list(adam.parameters)) == 4
    assert (stage.epochs, adam.learning_rate, adam.weight_decay, stage.keeps_start) == (5, 0.02, 0.3, True)


def test_options_outside_their_range_are_named() -> None:
    with pytest.raises(ConfigError, match="Expected `fine_tune_epochs` to be at least 0, but got -1"):
        FineTunedConfig(fine_tune_epochs=-1)
    with pytest.raises(ConfigError, match="Expected `fine_tune_learning_rate` to be in"):
        FineTunedConfig(fine_tune_learning_rate=11.0)
    with pytest.raises(ConfigError, match="Expected `hidden` to be at least 1"):
        FineTunedConfig(hidden=0)
