"""No network judges a label that it learned from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from lnp.audit.folds import FOLDS, draw_folds, out_of_fold
from lnp.audit.network import ChannelNetworkConfig
from lnp.methods.batch import full_batch
from lnp.seeds import Seeds

CONFIG = ChannelNetworkConfig(hidden=8, epochs=4)


def test_every_class_is_shared_out_evenly() -> None:
    given = np.array([0] * 10 + [1] * 7 + [2] * 2 + [-1] * 4)
    nodes = np.flatnonzero(given >= 0)
    parts = draw_folds(given, nodes, np.random.default_rng(0))
    assert (parts[given < 0] == -1).all()
    for k, size in enumerate((10, 7, 2)):
        counts = np.bincount(parts[given == k], minlength=FOLDS)
        assert counts.sum() == size
        assert counts.max() - counts.min() <= 1


def test_a_label_has_no_influence_on_its_own_judgement_and_has_on_others(toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    noisy = batch.noisy.numpy()
    parts = draw_folds(batch.given.numpy(), noisy, np.random.default_rng(0))
    node = int(noisy[3])
    other = batch.given.clone()
    other[node] = (other[node] + 1) % 3

    def judge(given: torch.Tensor) -> np.ndarray:
        return out_of_fold(replace(batch, given=given), CONFIG, np.eye(3), parts, Seeds(1).generator("networks"))

    before, after = judge(batch.given), judge(other)
    same = parts == parts[node]
    np.testing.assert_array_equal(before[same], after[same])
    elsewhere = (parts >= 0) & ~same
    assert (before[elsewhere] != after[elsewhere]).any()
    assert np.isnan(before[parts < 0]).all()
    assert not np.isnan(before[noisy]).any()


def test_trusted_nodes_in_a_part_are_judged_unseen_too(toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    given, trusted = batch.given.numpy(), batch.trusted.numpy()
    parts = draw_folds(given, trusted, np.random.default_rng(0))
    changed = batch.given.clone()
    changed[trusted[0]] = (changed[trusted[0]] + 1) % 3
    runs = [
        out_of_fold(replace(batch, given=labels), CONFIG, np.eye(3), parts, Seeds(1).generator("networks"))
        for labels in (batch.given, changed)
    ]
    same = parts == parts[trusted[0]]
    np.testing.assert_array_equal(runs[0][same], runs[1][same])
    assert not np.isnan(runs[0][trusted]).any()


def test_every_part_is_reported(toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    parts = draw_folds(batch.given.numpy(), batch.noisy.numpy()[:2], np.random.default_rng(0))
    done = []
    out_of_fold(batch, CONFIG, np.eye(3), parts, Seeds(1).generator("networks"), lambda: done.append(1))
    assert len(done) == FOLDS
