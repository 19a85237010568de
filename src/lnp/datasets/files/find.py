"""Which files of a folder hold the graph."""

from __future__ import annotations

from pathlib import Path

from lnp.datasets.files.gzipped import kind_of, name_of
from lnp.datasets.files.read_tables import TABLE_SUFFIXES
from lnp.datasets.own_graph import ARRAYS, FACTS
from lnp.errors import DataError

__all__ = ["GRAPH_SUFFIXES", "changed_since", "find_files"]

GRAPH_SUFFIXES = (".graphml", ".gexf", ".npz")
"""How the name of a file ends that holds a whole graph."""

NODE_NAMES = ("nodes", "node", "vertices")
EDGE_NAMES = ("edges", "edge", "links")


def find_files(folder: Path) -> tuple[Path, ...]:
    """The node table and the edge table of a folder, or its one file with a whole graph.

    Tables are called nodes and edges (or node, vertices; edge, links), with the end of their format.
    """
    if not folder.is_dir():
        raise DataError(f"Expected a file or a folder with files, but there is no {folder}.")
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    tables = [path for path in files if kind_of(path) in TABLE_SUFFIXES]
    nodes = [path for path in tables if name_of(path).lower() in NODE_NAMES]
    edges = [path for path in tables if name_of(path).lower() in EDGE_NAMES]
    graphs = [path for path in files if kind_of(path) in GRAPH_SUFFIXES and path.name != ARRAYS]
    if len(nodes) == len(edges) == 1 and not graphs:
        return nodes[0], edges[0]
    if len(graphs) == 1 and not nodes and not edges:
        return (graphs[0],)
    found = ", ".join(path.name for path in files[:12]) or "nothing"
    raise DataError(
        f"Expected in {folder} one table of nodes and one of edges (nodes.csv and edges.csv; also .tsv, .parquet, "
        f".csv.gz), or one .graphml, .gexf or .npz file, but found {found}. Name the files themselves: "
        "lnp import NODES EDGES."
    )


def changed_since(folder: Path) -> list[str]:
    """A note where the files beside an imported graph are newer than it."""
    imported = (folder / FACTS).stat().st_mtime
    suffixes = (*TABLE_SUFFIXES, *GRAPH_SUFFIXES)
    tables = (path for path in sorted(folder.iterdir()) if kind_of(path) in suffixes and path.name != ARRAYS)
    named = [path for path in tables if name_of(path).lower() in (*NODE_NAMES, *EDGE_NAMES)]
    newer = [path.name for path in named if path.is_file() and path.stat().st_mtime > imported]
    if not newer:
        return []
    return [
        f"{', '.join(newer)} changed since the import, which still counts. To use the new files: lnp import {folder} "
        "--overwrite."
    ]
