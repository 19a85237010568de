"""A method of one's own in a few lines: the loss is all it has to say."""

from __future__ import annotations

import pytest
import torch

from lnp.engine.feed import predict
from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.methods.base import Terms
from lnp.methods.batch import Batch, full_batch
from lnp.methods.fine_tuning import FineTunedConfig
from lnp.methods.gcn import Plain, PlainConfig
from lnp.methods.one_network import FineTunedNetwork
from lnp.seeds import Randomness, Seeds


class Squared(FineTunedNetwork):
    """Squared error of the probabilities on T_N."""

    Config = FineTunedConfig

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        probabilities = self.classifier(batch.graph, randomness.dropout).softmax(dim=1)
        wanted = torch.nn.functional.one_hot(batch.noisy_labels, batch.class_count)
        return {"squared": (probabilities[batch.noisy] - wanted).square().sum(dim=1).mean()}


@pytest.fixture
def batch(toy_task) -> Batch:
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


def test_a_loss_is_enough_to_learn(batch: Batch, toy_task) -> None:
    method = Squared(FineTunedConfig(hidden=8, epochs=60), batch, Seeds(0).generator("initialisation"))
    result = fit(method, batch, select_last(), Seeds(0).randomness())
    terms = {row.stage: set(row.terms) for row in result.history}
    assert terms == {"train": {"squared"}, "fine-tuning": {"trusted_ce"}}
    values = [row.terms["squared"] for row in result.history if row.stage == "train"]
    assert values[-1] < 0.7 * values[0]  # the wrong labels stay wrong
    right = result.probabilities.argmax(dim=1).numpy() == toy_task.truth.labels
    assert right[toy_task.split.test].mean() > 0.8


def test_it_predicts_what_its_classifier_says(batch: Batch) -> None:
    method = Squared(FineTunedConfig(hidden=8), batch, Seeds(0).generator("initialisation"))
    with torch.no_grad():
        outputs = method.eval().classifier(batch.graph)
    torch.testing.assert_close(predict(method, batch), torch.softmax(outputs, dim=1))


def test_the_classifier_is_drawn_first(batch: Batch) -> None:
    """So that methods with further parts start from the weights of a plain network."""
    plain = Plain(PlainConfig(hidden=8), batch, Seeds(3).generator("initialisation")).state_dict()
    squared = Squared(FineTunedConfig(hidden=8), batch, Seeds(3).generator("initialisation")).state_dict()
    assert plain.keys() == squared.keys()
    assert all(torch.equal(plain[name], squared[name]) for name in plain)


def test_without_fine_tuning_there_is_one_stage(batch: Batch) -> None:
    method = Squared(FineTunedConfig(hidden=8, fine_tune_epochs=0), batch, Seeds(0).generator("initialisation"))
    (stage,) = method.stages(batch)
    assert (stage.name, stage.nodes, method.fine_tuning(batch)) == ("train", "noisy", [])


def test_a_loss_is_needed(batch: Batch) -> None:
    with pytest.raises(TypeError, match=r"abstract method '?loss"):
        FineTunedNetwork(FineTunedConfig(), batch, Seeds(0).generator("initialisation"))  # type: ignore[abstract]
