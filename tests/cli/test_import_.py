"""``lnp import`` as a user and as a machine sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lnp.datasets.own_graph import read_own_graph

NODES = "id,topic,trusted,abstract,code,x\n" + "".join(
    f"p{i},{'red' if i % 2 else 'blue'},{int(i < 2)},one two three w{i % 3},{i % 2},{i / 2}\n" for i in range(12)
)
EDGES = "source,target\n" + "".join(f"p{i},p{(i + 2) % 12}\n" for i in range(12)) + "p3,p3\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "nodes.csv").write_text(NODES)
    (folder / "edges.csv").write_text(EDGES)
    return folder


def test_files_become_a_folder_with_a_summary(call, files: Path, tmp_path: Path) -> None:
    out = tmp_path / "graph"
    result = call("import", files / "nodes.csv", files / "edges.csv", "--label", "topic", "--out", out)
    assert result.exit_code == 0, result.output
    assert "12 nodes, 12 edges," in result.stdout
    assert "1 edge leads from a node to itself; left out." in result.stdout
    assert result.stdout.endswith(f"Wrote {out}. Next: lnp train {out} --out my-model\n")
    own = read_own_graph(out)
    assert (own.class_names, own.graph.edge_count, own.labels.trusted.sum()) == (("blue", "red"), 12, 2)
    assert str(own.summary) in result.stdout


def test_json_is_one_object_and_options_arrive(call, files: Path) -> None:
    arguments = ["--label", "topic", "--category", "code", "--show", "abstract", "--ignore", "x", "--name", "P"]
    result = call("import", files, *arguments, "--json")
    found = json.loads(result.stdout)
    assert found["out"] == str(files)  # a folder with files is where the graph goes
    uses = {row["name"]: (row["used_as"], row["features"]) for row in found["columns"]}
    assert uses["code"] == ("categories", 2)
    assert uses["abstract"] == ("shown", 0)
    assert uses["x"] == ("left out", 0)
    own = read_own_graph(files)
    assert (own.graph.name, list(own.texts)) == ("P", ["abstract", "code"])
    assert own.feature_names == ("code=0", "code=1")


def test_an_imported_graph_is_not_lost_by_accident(call, files: Path) -> None:
    arguments = ["import", files, "--label", "topic"]
    assert call(*arguments).exit_code == 0
    before = (files / "graph.json").stat().st_mtime_ns
    again = call(*arguments)
    assert again.exit_code == 2
    assert again.stderr.startswith(f"error: Expected {files} to hold no graph yet")
    assert (files / "graph.json").stat().st_mtime_ns == before
    assert call(*arguments, "--overwrite", "--words", "2").exit_code == 0
    assert read_own_graph(files).graph.feature_count < 6


def test_pictures(call, files: Path, tmp_path: Path) -> None:
    keep = ["--label", "topic", "--ignore", "abstract"]
    assert call("import", files, *keep, "--picture", "1x2", "--out", tmp_path / "g").exit_code == 0
    assert read_own_graph(tmp_path / "g").picture_shape == (1, 2)
    for shape, message in (("8", "Expected `--picture` to be rows x columns"), ("3x3", "a picture of 3 × 3")):
        result = call("import", files, *keep, "--picture", shape, "--out", tmp_path / "h")
        assert result.exit_code == 2
        assert message in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nodes.csv", NODES.replace("topic", "subject"), "nodes.csv to have a column 'topic'"),
        ("nodes.csv", NODES + "p99,red\n", "nodes.csv, row 14"),
        ("nodes.csv", NODES.replace(",2.5\n", ",wide\n"), "nodes.csv, row 7, column 'x', but got 'wide'"),
        ("nodes.csv", NODES + "p1,red,0,a,1,1\n", "nodes.csv, row 14, column 'id', has 'p1' again"),
        ("edges.csv", EDGES + "p1,who\n", "edges.csv, row 15, column 'target', but the node table has no 'who'"),
        ("nodes.csv", "", "nodes.csv, but the file is empty"),
    ],
)
def test_bad_files_are_one_line_and_nothing_is_written(
    call, files: Path, tmp_path: Path, name: str, content: str, message: str
) -> None:
    (files / name).write_text(content)
    before = sorted(tmp_path.rglob("*"))
    result = call("import", files, "--label", "topic", "--out", tmp_path / "graph")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_help_has_an_example(call) -> None:
    text = call("import", "--help").stdout
    assert "lnp import nodes.csv edges.csv" in " ".join(text.split())
    assert "--drop-unknown" in text
