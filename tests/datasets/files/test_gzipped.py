"""Packed files mean what the same files mean unpacked, and damage is named."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import networkx
import numpy as np
import pytest

from lnp.datasets.files.find import find_files
from lnp.datasets.files.gzipped import kind_of, name_of, unpacked
from lnp.datasets.files.read_tables import read_table
from lnp.datasets.load_graph import load_graph
from lnp.errors import DataError, UnknownNameError

NODES = "id;label;x\na;red;1.5\nb;blue;2\nc;red;\n"
EDGES = "source,target\na,b\nb,c\n"


@pytest.mark.parametrize(
    ("name", "kind", "bare"),
    [
        ("nodes.csv", ".csv", "nodes"),
        ("Nodes.CSV.GZ", ".csv", "Nodes"),
        ("my.papers.graphml.gz", ".graphml", "my.papers"),
        ("nodes.parquet.gz", ".gz", "nodes.parquet"),
        ("nodes", "", "nodes"),
        ("nodes.gz", ".gz", "nodes"),
    ],
)
def test_names(name: str, kind: str, bare: str) -> None:
    assert kind_of(Path(name)) == kind
    assert name_of(Path(name)) == bare


def test_a_packed_folder_is_the_graph_that_it_is_unpacked(tmp_path: Path) -> None:
    plain, packed = tmp_path / "papers", tmp_path / "packed" / "papers"
    for folder in (plain, packed):
        folder.mkdir(parents=True)
    for name, text in (("nodes.csv", NODES), ("edges.csv", EDGES)):
        (plain / name).write_text(text)
        (packed / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert [path.name for path in find_files(packed)] == ["nodes.csv.gz", "edges.csv.gz"]
    one, other = load_graph(plain), load_graph(packed)
    assert one.graph.name == other.graph.name == "papers"
    assert one.node_ids == other.node_ids
    assert one.class_names == other.class_names
    assert (one.graph.adjacency != other.graph.adjacency).nnz == 0
    np.testing.assert_array_equal(one.graph.features, other.graph.features)
    np.testing.assert_array_equal(one.labels.given, other.labels.given)


def test_a_tab_separates_in_a_packed_tsv(tmp_path: Path) -> None:
    path = tmp_path / "nodes.tsv.gz"
    path.write_bytes(gzip.compress(b"id\tnote\na\tx, y, z\n"))
    assert read_table(path).frame.rows() == [("a", "x, y, z")]


def test_a_file_in_several_parts_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv.gz"  # what appending to a packed file makes
    path.write_bytes(gzip.compress(b"id,label\na,red\n") + gzip.compress(b"b,blue\n"))
    assert read_table(path).frame.rows() == [("a", "red"), ("b", "blue")]


def test_the_bytes_decide_not_the_name(tmp_path: Path) -> None:
    wrong, other = tmp_path / "nodes.csv.gz", tmp_path / "nodes.csv"
    wrong.write_text(NODES)
    other.write_bytes(gzip.compress(NODES.encode()))
    assert read_table(wrong).frame.rows() == read_table(other).frame.rows()


def test_packed_graphml(tmp_path: Path) -> None:
    graph = networkx.path_graph(5)
    networkx.set_node_attributes(graph, {node: "odd" if node % 2 else "even" for node in graph}, "label")
    networkx.write_graphml(graph, tmp_path / "chain.graphml.gz")
    own = load_graph(tmp_path / "chain.graphml.gz")
    assert own.graph.name == "chain"
    assert own.labels.given.tolist() == [0, 1, 0, 1, 0]
    assert own.graph.adjacency.nnz == 8


@pytest.mark.parametrize("name", ["nodes.csv.gz", "chain.graphml.gz"])
def test_a_file_that_was_cut_off_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    rows = "".join(f"{i},{i * i % 97}\n" for i in range(5000))
    path.write_bytes(gzip.compress(f"id,label\n{rows}".encode())[:-2000])
    with pytest.raises(DataError, match=rf"Expected {path} to be packed with gzip as a whole"), unpacked(path) as file:
        file.read()
    if "csv" in name:
        with pytest.raises(DataError, match="Copy or pack it again"):
            read_table(path)


def test_damaged_bytes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv.gz"
    content = bytearray(gzip.compress(NODES.encode() * 500))
    content[40:60] = b"\xff" * 20
    path.write_bytes(content)
    with pytest.raises(DataError, match="packed with gzip as a whole"):
        read_table(path)


def test_a_line_that_unpacks_to_a_gigabyte_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv.gz"
    path.write_bytes(gzip.compress(b"id,label\n1,2\n") + gzip.compress(bytes(64 * 2**20), 1) * 16)
    tracemalloc.start()
    with pytest.raises(DataError, match="is longer; the rest was not read"):
        read_table(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 256 * 2**20


def test_kinds_that_pack_their_own_contents_are_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "nodes.parquet.gz"
    path.write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(UnknownNameError, match=r"nodes\.parquet\.gz"):
        read_table(path)
