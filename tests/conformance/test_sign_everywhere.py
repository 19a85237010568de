"""The backbone ``sign`` under every method that takes a backbone."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.engine.fit import fit
from lnp.experiments.protocol import Task, prepare
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.registry import METHODS, create_method, make_config
from lnp.seeds import Seeds

MADE_FOR_GCN = ("nrgnn", "rtgnn")
"""They learn the graph, which hops computed beforehand cannot follow, and say so."""


@pytest.fixture(scope="module")
def task() -> Task:
    config = SyntheticConfig(nodes=80, classes=3, mean_degree=6, homophily=0.85, features=8, signal=3.0)
    return prepare(
        synthetic(config, Seeds(0).generator("graph")), "random", "uniform-mix", 0.2, Seeds(1), trusted_size=9
    )


@pytest.mark.parametrize("name", [name for name in METHODS if name not in MADE_FOR_GCN])
def test_it_learns_and_follows_a_permutation_of_the_nodes(name: str, task: Task) -> None:
    fields = {field.name for field in dataclasses.fields(METHODS[name].method.Config)}
    wanted = {"backbone": "sign", "hidden": 16, "epochs": 40, "fine_tune_epochs": 5, "estimate_epochs": 10}
    config = make_config(name, {option: value for option, value in wanted.items() if option in fields})
    batch = full_batch(task.graph, task.observed, task.split.train)
    method = create_method(name, config, batch, Seeds(0).generator("initialisation"))
    result = fit(method, batch, task.selection, Seeds(0).randomness())
    scores = task.selection.score(result.probabilities)
    assert scores > 0.6

    order = Seeds(5).generator("order").permutation(80)
    observed = ObservedLabels(task.observed.given[order], task.observed.trusted[order], class_count=3)
    moved = full_batch(task.graph.permuted(order), observed, np.sort(np.argsort(order)[task.split.train]))
    with torch.no_grad():
        here, there = (
            create_method(name, config, each, Seeds(0).generator("initialisation")).eval().predict(each)
            for each in (batch, moved)
        )
    torch.testing.assert_close(there, here[torch.from_numpy(order)], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", MADE_FOR_GCN)
def test_methods_made_for_a_gcn_say_so(name: str) -> None:
    with pytest.raises(ValueError, match="Expected `backbone` to be gcn"):
        make_config(name, {"backbone": "sign"})
