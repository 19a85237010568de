from __future__ import annotations

from dataclasses import replace

import pytest

from lnp.engine.lockstep import adapt
from lnp.engine.lockstep.adapt import METHODS, objection, template
from lnp.engine.lockstep.network import StackedGCN
from lnp.methods.batch import full_batch
from lnp.methods.registry import METHODS as REGISTRY
from lnp.methods.registry import create_method, make_config
from lnp.nn.gcn import GCN
from lnp.seeds import Seeds


def two(task, name, **options):
    batch = full_batch(task.graph, task.observed, task.split.train)
    config = make_config(name, options)
    return [create_method(name, config, batch, Seeds(seed).generator("initialisation")) for seed in range(2)], batch


def test_every_method_says_whether_it_can(toy_task) -> None:
    able = set()
    for name, row in REGISTRY.items():
        methods, batch = two(toy_task, name)
        if objection(methods, [batch, batch]) is None:
            able.add(name)
        else:
            assert row.method not in METHODS or methods[0].config.backbone != "gcn"
    assert able == {
        *("gcn", "gce", "apl", "forward", "dgnn", "smodel", "glc", "joint", "clean-only", "lnp-v1", "lnp-v2")
    }


def test_says_why_not(toy_task, monkeypatch) -> None:
    methods, batch = two(toy_task, "gcn")
    assert "one seed only" in objection(methods[:1], [batch])
    fewer = replace(batch, trusted=batch.trusted[1:])
    assert "number of trusted nodes" in objection(methods, [batch, fewer])
    other = replace(
        batch,
        graph=full_batch(
            toy_task.graph.__class__(**vars(toy_task.graph)), toy_task.observed, toy_task.split.train
        ).graph,
    )
    assert "different graphs" in objection(methods, [batch, other])
    assert "path from the links" in objection(two(toy_task, "gcn", links_width=4)[0], [batch, batch])
    assert "diffusion" in objection(two(toy_task, "gcn", diffusion_steps=2)[0], [batch, batch])
    assert "backbone mlp" in objection(two(toy_task, "gcn", backbone="mlp")[0], [batch, batch])
    monkeypatch.setattr(adapt, "LARGEST", 59)
    assert "60 nodes, more than 59" in objection(methods, [batch, batch])


@pytest.mark.parametrize("name", ["gcn", "forward", "lnp-v1"])
def test_template_has_the_same_parameters_and_leaves_the_method_alone(toy_task, name) -> None:
    (method, _), _ = two(toy_task, name)
    stand_in = template(method).method
    assert [one for one, _ in stand_in.named_parameters()] == [one for one, _ in method.named_parameters()]
    assert [one for one, _ in stand_in.named_buffers()] == [one for one, _ in method.named_buffers()]
    assert not any(isinstance(part, GCN) for part in stand_in.modules())
    assert not any(isinstance(part, StackedGCN) for part in method.modules())
