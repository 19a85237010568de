"""One door for every kind of graph."""

from __future__ import annotations

from pathlib import Path

import networkx
import numpy as np
import pytest

import lnp
from lnp.datasets.load_graph import load_graph
from lnp.datasets.own_graph import write_own_graph
from lnp.errors import ConfigError, DataError, UnknownNameError

NODES = "id,topic,x\na,red,1\nb,blue,2\nc,red,3\n"
EDGES = "source,target\na,b\nb,c\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "edges.csv").write_text(EDGES)
    return tmp_path


def test_every_path_leads_to_the_same_graph(folder: Path) -> None:
    pair = load_graph(folder / "nodes.csv", folder / "edges.csv", label="topic")
    assert load_graph(str(folder), label="topic").graph.checksum == pair.graph.checksum
    graph = networkx.Graph([("a", "b"), ("b", "c")])
    for node, label, x in (("a", "red", 1.0), ("b", "blue", 2.0), ("c", "red", 3.0)):
        graph.add_node(node, topic=label, x=x)
    networkx.write_graphml(graph, folder / "g.graphml")
    networkx.write_gexf(graph, folder / "g.gexf")
    np.savez(
        folder / "g.npz",
        edge_index=np.array([[0, 1], [1, 2]]),
        x=np.array([[1], [2], [3]]),
        y=np.array(["red", "blue", "red"]),
        node_ids=np.array(["a", "b", "c"]),
    )
    write_own_graph(pair, folder / "out")
    others = [load_graph(folder / f"g.{kind}", label="topic") for kind in ("graphml", "gexf")]
    for own in (*others, load_graph(folder / "g.npz"), load_graph(folder / "out"), load_graph(graph, label="topic")):
        assert own.graph.checksum == pair.graph.checksum
        assert own.labels.given.tolist() == pair.labels.given.tolist()
        assert (own.node_ids, own.class_names) == (pair.node_ids, pair.class_names)


def test_what_cannot_be_is_said(folder: Path) -> None:
    write_own_graph(load_graph(folder, label="topic"), folder / "out")
    for call, error, message in [
        (lambda: load_graph(folder / "out", label="topic"), ConfigError, r"which is imported already, but got label"),
        (lambda: load_graph(folder, labels=[1]), ConfigError, r"`labels` only with an object in memory"),
        (lambda: load_graph(folder / "nodes.csv"), DataError, r"an edge table beside"),
        (lambda: load_graph(folder / "nodes.xls", folder / "edges.csv"), UnknownNameError, r"ending in '.xls'"),
        (lambda: load_graph(folder / "nowhere"), DataError, r"there is no .*nowhere"),
        (lambda: load_graph(folder, lable="topic"), UnknownNameError, r"Did you mean 'label'"),
        (lambda: load_graph(folder), DataError, r"'label' or 'class' or 'y', but it has only 'id', 'topic', 'x'"),
        (lambda: load_graph(folder, label="topic", trusted="checked"), DataError, r"a column 'checked'"),
    ]:
        with pytest.raises(error, match=message):
            call()
    (folder / "notes.pdf").write_text("x")
    with pytest.raises(UnknownNameError, match=r"kind of file 'notes.pdf', ending in '.pdf'"):
        load_graph(folder / "notes.pdf")


def test_it_is_public() -> None:
    assert lnp.load_graph is load_graph
