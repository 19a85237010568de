"""GraphML as networkx writes it, and as people do."""

from __future__ import annotations

from pathlib import Path

import networkx
import pytest

from lnp.datasets.files.from_tables import from_tables
from lnp.datasets.files.graphml import read_graphml
from lnp.datasets.files.import_options import ImportOptions
from lnp.errors import DataError

HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'


def write(folder: Path, body: str) -> Path:
    path = folder / "g.graphml"
    path.write_text(f"{HEAD}{body}</graphml>", encoding="utf-8")
    return path


def test_networkx_writes_what_we_read(tmp_path: Path) -> None:
    graph = networkx.gnm_random_graph(20, 40, seed=1, directed=True)
    for node, attributes in graph.nodes(data=True):
        attributes |= {"label": "red" if node % 2 else "blue", "size": node / 2, "note": f"<n> & {node} é"}
        if node % 3 == 0:
            attributes["rare"] = node
    for _, _, attributes in graph.edges(data=True):
        attributes["weight"] = 2.5
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    nodes, edges = read_graphml(tmp_path / "g.graphml")
    assert nodes.frame["id"].to_list() == [str(node) for node in graph]
    for name in ("label", "size", "note", "rare"):
        expected = [None if name not in a else str(a[name]) for _, a in graph.nodes(data=True)]
        assert nodes.frame[name].to_list() == expected, name
    assert nodes.declared == {"size": "numbers", "rare": "numbers"}
    assert list(zip(edges.frame["source"], edges.frame["target"], strict=True)) == [
        (str(a), str(b)) for a, b in graph.edges
    ]
    assert set(edges.frame["weight"]) == {"2.5"}
    own = from_tables(nodes, edges, ImportOptions())
    assert own.graph.edge_count == graph.to_undirected().number_of_edges()
    assert own.feature_names[0] == "size"


def test_defaults_names_and_clashes(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '<key id="d0" for="node" attr.name="label" attr.type="string"><default>red</default></key>'
        '<key id="d1" for="all" attr.name="id" attr.type="int"><default>4</default></key>'
        '<graph edgedefault="directed"><node id="a"><data key="d0">blue</data></node><node id="b"/>'
        '<node id="c"><data key="d1">5</data><data key="free">f</data></node><edge source="a" target="b"/></graph>',
    )
    nodes, edges = read_graphml(path)
    assert nodes.frame.to_dict(as_series=False) == {
        "id": ["a", "b", "c"],
        "label": ["blue", "red", "red"],
        "attribute id": ["4", "4", "5"],
        "free": [None, None, "f"],
    }
    assert edges.frame.to_dict(as_series=False) == {"source": ["a"], "target": ["b"], "id": ["4"]}


def test_a_word_among_numbers_is_named_by_node_and_attribute(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '<key id="s" for="node" attr.name="size" attr.type="double"/><key id="l" for="node" attr.name="label"/>'
        '<graph><node id="a"><data key="s">1</data><data key="l">x</data></node>'
        '<node id="b"><data key="s">big</data><data key="l">y</data></node><edge source="a" target="b"/></graph>',
    )
    with pytest.raises(DataError, match=r"g.graphml, node 2, attribute 'size', but got 'big'"):
        from_tables(*read_graphml(path), ImportOptions())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<graph/>", "there is no node"),
        ('<graph><node id="a"/></graph>', "there is no edge"),
        ("<graph><node/></graph>", "<node> in .* to have `id`"),
        ('<graph><node id="a"/><edge source="a"/></graph>', "<edge> in .* to have `target`"),
    ],
)
def test_other_xml_is_refused(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_graphml(write(tmp_path, body))
