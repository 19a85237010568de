"""How batches are written down, what is refused, and what is made of it."""

from __future__ import annotations

import pytest

from lnp.engine.batching import Batching, check_in_parts, make_feed
from lnp.engine.feed import FullFeed
from lnp.engine.parts import ClusterFeed, NeighbourFeed
from lnp.errors import ConfigError, UnknownNameError
from lnp.methods.registry import METHODS, make_config
from lnp.nn.graph_tensors import GraphTensors


@pytest.mark.parametrize(
    ("text", "written", "batching"),
    [
        ("full", "full", Batching()),
        ("neighbours", "neighbours:size=1024,fan_out=10", Batching(kind="neighbours")),
        (
            "neighbours: fan_out=5/all, size=7",
            "neighbours:size=7,fan_out=5/all",
            Batching(kind="neighbours", size=7, fan_out=(5, None)),
        ),
        ("clusters", "clusters:count=auto,together=20", Batching(kind="clusters")),
        (
            "clusters:count=30,together=4",
            "clusters:count=30,together=4",
            Batching(kind="clusters", count=30, together=4),
        ),
    ],
)
def test_text_and_back(text: str, written: str, batching: Batching) -> None:
    assert Batching.parse(text) == batching
    assert batching.text == written
    assert Batching.parse(written) == batching


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("half", "`batch` to be one of clusters, full, neighbours, but got 'half'"),
        ("full:size=3", "Unknown option of full 'size'"),
        ("neighbours:count=3", "Unknown option of neighbours 'count'"),
        ("neighbours:size=0", "`size` of the batches to be at least 1, but got 0"),
        ("neighbours:size=many", "`size` of the batches to be a whole number, but got 'many'"),
        ("neighbours:fan_out=10/", "`fan_out` of the batches to be a whole number, but got ''"),
        ("clusters:together=-1", "`together` of the batches to be a whole number, but got '-1'"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, message: str) -> None:
    with pytest.raises((ConfigError, UnknownNameError), match=message):
        Batching.parse(text)


def test_methods_that_need_the_whole_graph_are_refused_with_those_that_do_not() -> None:
    able = [name for name, row in METHODS.items() if row.method.in_parts]
    for name in able:
        check_in_parts(name)
    assert {"lnp-v1", "lnp-v2", "gcn", "h2gcn", "mlp", "gce", "apl", "forward", "smodel", "clean-only"} <= set(able)
    with pytest.raises(ConfigError, match="but nrgnn needs the whole graph at once") as error:
        check_in_parts("nrgnn")
    assert ", ".join(sorted(able)) in str(error.value)


def test_each_kind_is_made(toy_task) -> None:  # type: ignore[no-untyped-def]
    config = make_config("lnp-v2", {"layers": 3})
    parts = toy_task.graph, toy_task.observed, toy_task.split.train
    full = make_feed(Batching(), config, *parts)
    assert isinstance(full, FullFeed)
    assert type(full.batch.graph) is GraphTensors
    neighbours = make_feed(Batching(kind="neighbours", size=7, fan_out=(4, 3, 2)), config, *parts)
    assert isinstance(neighbours, NeighbourFeed)
    assert neighbours.size == 7
    assert neighbours.sampler.fan_out == (4, 3)  # what the outermost would give is known: S X
    pytest.importorskip("pymetis")
    clusters = make_feed(Batching(kind="clusters", count=5, together=2), config, *parts)
    assert isinstance(clusters, ClusterFeed)
    assert (len(clusters.clusters), clusters.together) == (5, 2)
    automatic = make_feed(Batching(kind="clusters"), config, *parts)
    assert isinstance(automatic, ClusterFeed)
    assert len(automatic.clusters) == 1  # one to 160 nodes


@pytest.mark.parametrize("kind", ["neighbours", "clusters"])
def test_similar_nodes_are_refused_in_parts(kind: str, toy_task) -> None:  # type: ignore[no-untyped-def]
    config = make_config("gcn", {"similar_weight": 1.0})
    with pytest.raises(ConfigError, match=f"`similar_weight` to be 0 with batch '{kind}'.*Use batch 'full'"):
        make_feed(Batching(kind=kind), config, toy_task.graph, toy_task.observed, toy_task.split.train)


@pytest.mark.parametrize("kind", ["neighbours", "clusters"])
@pytest.mark.parametrize("option", ["links_width", "diffusion_steps"])
def test_what_needs_all_links_is_refused_in_parts(option: str, kind: str, toy_task) -> None:  # type: ignore[no-untyped-def]
    config = make_config("gcn", {option: 4})
    with pytest.raises(ConfigError, match=f"`{option}` to be 0 with batch '{kind}'.*Use batch 'full'"):
        make_feed(Batching(kind=kind), config, toy_task.graph, toy_task.observed, toy_task.split.train)


def test_a_fan_out_for_another_number_of_layers_is_refused(toy_task) -> None:  # type: ignore[no-untyped-def]
    config = make_config("gcn")
    batching = Batching(kind="neighbours", fan_out=(5, 5, 5))
    with pytest.raises(ConfigError, match=r"one number or as many as there are layers \(2\), but got 3"):
        make_feed(batching, config, toy_task.graph, toy_task.observed, toy_task.split.train)
