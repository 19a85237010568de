"""What the loop does with several batches, against steps taken by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from lnp.engine.feed import FullFeed, OneProcess, as_feed, predict
from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.methods.base import Method
from lnp.methods.batch import Batch, full_batch
from lnp.methods.gcn import Plain, PlainConfig
from lnp.seeds import Randomness, Seeds

CONFIG = PlainConfig(hidden=4, epochs=3, fine_tune_epochs=0, dropout=0.0, learning_rate=0.05)


@pytest.fixture
def batch(toy_task) -> Batch:  # type: ignore[no-untyped-def]
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


def new_method(batch: Batch) -> Plain:
    return Plain(CONFIG, batch, Seeds(0).generator("initialisation"))


class Halves(OneProcess):
    """The whole graph twice an epoch, with one half of the noisy labels each time; gradients are doubled."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.said: list[str] = []

    def epoch(self, method: Method, randomness: Randomness, nodes: str = "all") -> Iterator[Batch]:
        assert nodes == "noisy"  # what the stage of a plain network runs over
        for half in self.batch.noisy.chunk(2):
            yield replace(self.batch, noisy=half)

    def predict(self, method: Method) -> Tensor:
        self.said.append("predict")
        return predict(method, self.batch)

    def reduce_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        self.said.append("reduce")
        for parameter in parameters:
            assert parameter.grad is not None
            parameter.grad *= 2

    def synchronise(self, method: Method) -> None:
        self.said.append("synchronise")


def test_a_batch_and_a_feed_of_it_are_the_same(batch: Batch) -> None:
    one, other = new_method(batch), new_method(batch)
    first = fit(one, batch, select_last(), Seeds(0).randomness())
    second = fit(other, FullFeed(batch), select_last(), Seeds(0).randomness())
    assert torch.equal(first.probabilities, second.probabilities)
    assert repr(first.history) == repr(second.history)
    feed = FullFeed(batch)
    assert as_feed(feed) is feed
    assert [part is batch for part in feed.epoch(one, Seeds(0).randomness())] == [True]


def test_every_batch_is_a_step_and_terms_are_means_over_the_batches(batch: Batch) -> None:
    method, by_hand, feed = new_method(batch), new_method(batch), Halves(batch)
    history = fit(method, feed, select_last(), Seeds(0).randomness()).history
    adam = torch.optim.Adam(by_hand.parameters(), lr=0.05, weight_decay=CONFIG.weight_decay, fused=True)
    by_hand.train()
    for record in history:
        terms = []
        for half in batch.noisy.chunk(2):
            adam.zero_grad()
            loss = by_hand.loss(replace(batch, noisy=half), Seeds(0).randomness())["noisy_ce"]
            (2 * loss).backward()
            adam.step()
            terms.append(loss.item())
        assert record.terms == {"noisy_ce": pytest.approx(sum(terms) / 2, rel=1e-6)}
    for one, other in zip(method.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(one, other)
    assert feed.said == ["reduce", "reduce", "synchronise", "predict"] * CONFIG.epochs + ["predict"]


def test_prediction_is_in_evaluation_mode_without_gradient(batch: Batch) -> None:
    config = replace(CONFIG, dropout=0.5)
    method = Plain(config, batch, Seeds(0).generator("initialisation")).train()
    first, second = FullFeed(batch).predict(method), FullFeed(batch).predict(method)
    assert torch.equal(first, second)
    assert not first.requires_grad
    torch.testing.assert_close(first.sum(dim=1), torch.ones(batch.node_count))
