"""Small graphs in every format, and a seeded mutator that damages their files in the ways files get damaged."""

from __future__ import annotations

from pathlib import Path

import networkx
import numpy as np
import polars as pl

from lnp.seeds import Generator

FORMATS = ("csv", "tsv", "parquet", "graphml", "gexf", "npz")

NODES = {
    "id": ["a", "b", "c d", "é", "5", "f"],
    "label": ["red", "blue", "red", None, "blue", "green"],
    "trusted": [1, 0, 0, 0, 1, 1],
    "size": [1.5, -2.0, 1e-3, None, 7.0, 0.0],
    "colour": ["x", "y", "x", "y", "x", "x"],
    "text": ["one two three", "two three four five", "", 'a "quoted", one', "six\nseven eight", "three four one"],
}
EDGES = {
    "source": ["a", "b", "c d", "é", "5", "a"],
    "target": ["b", "a", "é", "é", "f", "c d"],
    "weight": [1.0, 1.0, 2.5, 1.0, 1.0, 3.0],
}

PIECES = (
    *(b'"', b",", b"\t", b"\n", b"\r\n", b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"", b" ", b"'", b"<", b"&", b">"),
    *(b"nan", b"inf", b"-inf", b"1e999", b"1e38", b"9" * 400, b"-1", b"0", b"id", b"label", b"trusted", b"source"),
    *(
        "é".encode(),
        "\u202e".encode(),
        b"NA",
        b"null",
        b"a",
        b"red",
        b"<!DOCTYPE x [<!ENTITY e 'e'>]>",
        b"&e;",
        b"PAR1",
    ),
)
"""What gets inserted, or put in the place of something."""


def write_files(folder: Path, kind: str) -> list[Path]:
    """The graph in that format; the paths to import."""
    nodes = pl.DataFrame(NODES, schema_overrides={"trusted": pl.Int64})
    edges = pl.DataFrame(EDGES)
    if kind in ("csv", "tsv", "parquet"):
        paths = [folder / f"nodes.{kind}", folder / f"edges.{kind}"]
        for path, table in zip(paths, (nodes, edges), strict=True):
            if kind == "parquet":
                table.write_parquet(path, compression="uncompressed")
            else:
                table.write_csv(path, separator="," if kind == "csv" else "\t")
        return paths
    path = folder / f"graph.{kind}x" if kind == "npz" else folder / f"graph.{kind}"
    if kind == "npz":
        path = folder / "arrays.npz"
        labels = np.array(["" if label is None else label for label in NODES["label"]])
        x = np.array([[0.0 if size is None else size, 1.0] for size in NODES["size"]])
        edge_index = np.array([[0, 1, 2, 3, 4, 0], [1, 0, 3, 3, 5, 2]])
        np.savez(path, edge_index=edge_index, x=x, y=labels, trusted=np.array(NODES["trusted"], bool))
        return [path]
    graph = networkx.DiGraph()
    for row in nodes.iter_rows(named=True):
        node = row.pop("id")
        kept = {name: value for name, value in row.items() if value is not None}
        if kind == "gexf" and "label" in kept:
            kept["class"] = kept.pop("label")
        graph.add_node(node, **kept)
    for row in edges.iter_rows(named=True):
        graph.add_edge(row["source"], row["target"], weight=row["weight"])
    (networkx.write_graphml if kind == "graphml" else networkx.write_gexf)(graph, path)
    return [path]


def mutate(content: bytes, draw: Generator) -> bytes:
    """One to three kinds of damage."""
    for _ in range(int(draw.integers(1, 4))):
        content = _damage(content, draw)
    return content


def _damage(content: bytes, draw: Generator) -> bytes:
    size = len(content)
    start, end = sorted(int(i) for i in draw.integers(0, size + 1, 2))
    piece = PIECES[int(draw.integers(len(PIECES)))]
    choice = int(draw.integers(9))
    if choice == 0:  # cut off
        return content[:start]
    if choice == 1:  # a hole
        return content[:start] + content[min(end, start + int(draw.integers(1, 30))) :]
    if choice == 2:  # something twice
        return content[:end] + content[start:end] + content[end:]
    if choice == 3:  # something inserted
        return content[:start] + piece + content[start:]
    if choice == 4 and size:  # one byte changed
        at = int(draw.integers(size))
        return content[:at] + bytes([int(draw.integers(256))]) + content[at + 1 :]
    lines = content.split(b"\n")
    at = int(draw.integers(len(lines)))
    if choice == 5:  # a line lost
        return b"\n".join(lines[:at] + lines[at + 1 :])
    if choice == 6:  # a line twice
        return b"\n".join([*lines[: at + 1], *lines[at:]])
    for separator in (b"\t", b",", b'"'):
        cells = lines[at].split(separator)
        if len(cells) > 1:
            cells[int(draw.integers(len(cells)))] = piece  # a cell replaced
            lines[at] = separator.join(cells)
            break
    return b"\n".join(lines)
