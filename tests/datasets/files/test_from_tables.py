"""Two files, one graph: the bad cases of an import, each named by file, row and column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lnp.datasets.files.from_tables import read_pair
from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.own_graph import OwnGraph
from lnp.errors import DataError

NODES = "id,label,trusted,x,note\n007,red,1,1.5,one\n7,blue,0,2.5,two\nc,red,yes,3.5,three\n"
EDGES = "source,target\n007,7\n7,c\nc,7\n"


def read(folder: Path, nodes: str | bytes = NODES, edges: str | bytes = EDGES, **options: object) -> OwnGraph:
    for name, content in (("nodes.csv", nodes), ("edges.csv", edges)):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_pair(folder / "nodes.csv", folder / "edges.csv", ImportOptions(**options))


def test_a_graph_of_two_files(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    own = read(folder)
    assert own.node_ids == ("007", "7", "c")
    assert own.class_names == ("blue", "red")
    assert own.labels.given.tolist() == [1, 0, 1]
    assert own.labels.trusted.tolist() == [True, False, True]
    np.testing.assert_array_equal(own.graph.features, [[1.5], [2.5], [3.5]])
    np.testing.assert_array_equal(own.graph.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert own.graph.name == "papers"
    assert own.texts == {"note": ("one", "two", "three"), "x": ("1.5", "2.5", "3.5")}
    assert own.source == f"{folder / 'nodes.csv'} and {folder / 'edges.csv'}"


def test_text_and_parquet_give_the_same_graph(tmp_path: Path) -> None:
    text = read(tmp_path)
    nodes = pl.DataFrame(
        {
            "id": ["007", "7", "c"],
            "label": ["red", "blue", "red"],
            "trusted": [True, False, True],
            "x": [1.5, 2.5, 3.5],
            "note": ["one", "two", "three"],
        }
    )
    nodes.write_parquet(tmp_path / "nodes.parquet")
    edges = pl.DataFrame({"source": ["007", "7", "c"], "target": ["7", "c", "7"]})
    edges.write_parquet(tmp_path / "edges.parquet")
    binary = read_pair(tmp_path / "nodes.parquet", tmp_path / "edges.parquet", ImportOptions())
    assert binary.graph.checksum == text.graph.checksum
    assert binary.labels.given.tolist() == text.labels.given.tolist()
    assert (binary.node_ids, binary.texts) == (text.node_ids, text.texts)


def test_whole_numbers_as_ids_meet_text(tmp_path: Path) -> None:
    pl.DataFrame({"id": [1, 2], "label": [0, 1], "x": [1.0, 2.0]}).write_parquet(tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("source,target\n1,2\n")
    own = read_pair(tmp_path / "nodes.parquet", tmp_path / "edges.csv", ImportOptions())
    assert (own.node_ids, own.graph.edge_count) == (("1", "2"), 1)


def test_columns_by_name_and_steps(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("key;topic;checked;a b\nx;1;no;one two\ny;2;yes;two one two\n")
    (tmp_path / "e.tsv").write_text("u\tv\nx\ty\n")
    steps: list[str] = []
    options = ImportOptions(id="key", label="topic", trusted="checked", source="u", target="v", text=("a b",), name="N")
    own = read_pair(tmp_path / "n.csv", tmp_path / "e.tsv", options, steps.append)
    assert (own.graph.name, own.node_ids, own.class_names) == ("N", ("x", "y"), ("1", "2"))
    assert own.feature_names == ("a b:one", "a b:two")
    assert steps[0] == "reading n.csv"
    assert steps[-1] == "building the graph"


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        (NODES.replace("id,", "key,"), EDGES, r"nodes.csv to have a column 'id' or .*, but it has only 'key', 'label'"),
        (NODES.replace("label", "topic"), EDGES, r"nodes.csv to have a column 'label' or 'class' or 'y'.* --label"),
        (NODES, EDGES.replace("target", "end"), r"edges.csv to have a column 'target'"),
        (NODES + "d,red,0\n", EDGES, r"Expected 5 cells in .*nodes.csv, row 5, .* got 3"),
        (NODES.replace("2.5", "wide"), EDGES, r"a number in .*nodes.csv, row 3, column 'x', but got 'wide'"),
        (NODES.replace("2.5", "nan"), EDGES, r"finite number in .*nodes.csv, row 3, column 'x', but got nan"),
        (NODES.replace("2.5", "inf"), EDGES, r"finite number in .*nodes.csv, row 3, column 'x', but got inf"),
        (NODES + "7,red,0,1,x\n", EDGES, r"nodes.csv, row 5, column 'id', has '7' again, which is in row 3"),
        (NODES, EDGES + "c,zz\n", r"edges.csv, row 5, column 'target', but the node table has no 'zz'"),
        (
            NODES.encode("latin-1").replace(b"two", b"tw\xf6"),
            EDGES,
            r"nodes.csv, row 3, column 'note', but got byte 0xf6",
        ),
        (b"", EDGES, r"nodes.csv, but the file is empty"),
        (NODES, b"", r"edges.csv, but the file is empty"),
        (NODES, "source,target\n", r"rows below the header of .*edges.csv"),
        (NODES.replace("yes", "maybe"), EDGES, r"nodes.csv, row 4, column 'trusted', but got 'maybe'"),
        (
            NODES.replace("7,blue,0", "7,,1").replace("c,red", "c,blue"),
            EDGES,
            r"nodes.csv, row 3, column 'trusted', is trusted and has none",
        ),
        (
            NODES.replace("blue", "red"),
            EDGES,
            r"at least two classes in column 'label' of .*nodes.csv, but got only 'red'",
        ),
        (NODES.replace("\n7,", "\n,"), EDGES, r"an id in .*nodes.csv, row 3, column 'id', but the cell is empty"),
    ],
)
def test_bad_files(tmp_path: Path, nodes: str | bytes, edges: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, nodes, edges)


def test_two_million_rows_would_not_be_looped_over(tmp_path: Path) -> None:
    """Fifty thousand nodes in a fraction of a second: no step is slow Python per node and edge."""
    import time

    n, m = 50_000, 200_000
    draw = np.random.default_rng(0)
    names = pl.Series([f"n{i}" for i in range(n)])
    nodes = pl.DataFrame({"id": names, "label": draw.integers(0, 4, n), "x": draw.random(n)})
    nodes.write_parquet(tmp_path / "nodes.parquet")
    ends = draw.integers(0, n, (2, m))
    pl.DataFrame({"source": names[ends[0]], "target": names[ends[1]]}).write_parquet(tmp_path / "edges.parquet")
    began = time.process_time()
    own = read_pair(tmp_path / "nodes.parquet", tmp_path / "edges.parquet", ImportOptions())
    assert time.process_time() - began < 5
    unique = {(min(a, b), max(a, b)) for a, b in ends.T.tolist() if a != b}
    assert own.graph.edge_count == len(unique)
