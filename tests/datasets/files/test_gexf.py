"""GEXF as networkx writes it, and the two meanings of a node's label."""

from __future__ import annotations

from pathlib import Path

import networkx
import pytest

from lnp.datasets.files.from_tables import from_tables
from lnp.datasets.files.gexf import read_gexf
from lnp.datasets.files.import_options import ImportOptions
from lnp.errors import DataError


def write(folder: Path, graph: networkx.Graph) -> Path:
    networkx.write_gexf(graph, folder / "g.gexf")
    return folder / "g.gexf"


def ring(**attributes: list[object]) -> networkx.Graph:
    graph = networkx.cycle_graph(["a", "b", "c", "d"])
    for name, values in attributes.items():
        networkx.set_node_attributes(graph, dict(zip(graph, values, strict=True)), name)
    return graph


def test_attributes_and_weights_arrive(tmp_path: Path) -> None:
    graph = ring(topic=["x", "y", "x", "y"], size=[0.5, 1.5, 2.5, 3.5])
    graph.add_edge("a", "c", weight=2.5)
    nodes, edges = read_gexf(write(tmp_path, graph))
    assert nodes.frame.to_dict(as_series=False) == {
        "id": ["a", "b", "c", "d"],
        "topic": ["x", "y", "x", "y"],
        "size": ["0.5", "1.5", "2.5", "3.5"],
    }
    assert nodes.declared == {"size": "numbers"}
    ends = list(zip(edges.frame["source"], edges.frame["target"], strict=True))
    assert ends == list(graph.edges)
    assert edges.frame["weight"].to_list()[ends.index(("a", "c"))] == "2.5"


def test_a_label_that_repeats_is_a_class_and_one_that_does_not_is_a_name(tmp_path: Path) -> None:
    repeated, _ = read_gexf(write(tmp_path, ring(label=["x", "y", "x", "y"])))
    assert repeated.frame["label"].to_list() == ["x", "y", "x", "y"]
    names, _ = read_gexf(write(tmp_path, ring(label=["Ada", "Bob", "Cy", "Di"], topic=["x", "y", "x", "y"])))
    assert names.frame.columns == ["id", "name", "topic"]


def test_missing_weights_are_one(tmp_path: Path) -> None:
    graph = ring(label=["x", "y", "x", "y"], size=[1.0, 2.0, 3.0, 4.0])
    graph.add_edge("a", "c", weight=2.5)
    own = from_tables(*read_gexf(write(tmp_path, graph)), ImportOptions())
    dense = own.graph.adjacency.toarray()
    assert (dense[0, 2], dense[0, 1]) == (2.5, 1.0)


def test_defaults_are_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "g.gexf"
    attribute = "<attribute id='0' title='class' type='string'><default>red</default></attribute>"
    nodes_part = "<node id='1'/><node id='2'><attvalues><attvalue for='0' value='blue'/></attvalues></node>"
    path.write_text(
        f"<gexf xmlns='http://gexf.net/1.3'><graph><attributes class='node'>{attribute}</attributes>"
        f"<nodes>{nodes_part}</nodes><edges><edge source='1' target='2'/></edges></graph></gexf>"
    )
    nodes, _ = read_gexf(path)
    assert nodes.frame["class"].to_list() == ["red", "blue"]


def test_other_xml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.gexf"
    path.write_text("<gexf><graph/></gexf>")
    with pytest.raises(DataError, match=r"there is no node. Is it GEXF"):
        read_gexf(path)
