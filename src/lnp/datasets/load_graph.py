"""Any graph that a user brings, as one object."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from lnp.datasets.files.find import GRAPH_SUFFIXES, find_files
from lnp.datasets.files.from_arrays import read_npz
from lnp.datasets.files.from_objects import Given, from_object
from lnp.datasets.files.from_tables import OnStep, from_tables, read_pair
from lnp.datasets.files.gexf import read_gexf
from lnp.datasets.files.graphml import read_graphml
from lnp.datasets.files.gzipped import kind_of, name_of
from lnp.datasets.files.import_options import ImportOptions, import_options
from lnp.datasets.files.read_tables import TABLE_SUFFIXES
from lnp.datasets.own_graph import OwnGraph, is_own_graph, read_own_graph
from lnp.errors import ConfigError, DataError, UnknownNameError

__all__ = ["import_files", "load_graph"]


def load_graph(
    source: Any,
    edges: Any = None,
    *,
    features: Any = None,
    labels: ArrayLike | None = None,
    trusted: str | ArrayLike | None = None,
    node_ids: Sequence[object] | None = None,
    class_names: Sequence[str] | None = None,
    **options: Any,
) -> OwnGraph:
    """A graph from files or from an object of another library; ``print(….summary)`` says what is odd about it.

    Args:
        source: A folder that ``lnp import`` wrote, a folder with a node table and an edge table, a path of a node
            table, of a GraphML, GEXF or npz file; or an object: a networkx graph, a PyG ``Data``, a scipy matrix, an
            ``lnp.Graph``, a polars table of nodes.
        edges: With a node table: the edge table, a path or a polars table.
        features: With an object: ``(n, d)`` features, dense or sparse, instead of its own.
        labels: With an object: one label per node instead of its own; names or numbers, −1 or ``None`` for unknown.
        trusted: The column with the mark "trusted"; with an object also a mask, one entry per node.
        node_ids: With an object: one id per node.
        class_names: With an object whose labels are numbers: their names.
        options: Which columns are what and how to use them: the fields of
            :class:`~lnp.datasets.files.import_options.ImportOptions`, for instance ``label="topic", text="abstract"``.

    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3))
    >>> load_graph(path, labels=["red", None, "blue"], name="path").graph
    Graph('path', 3 nodes, 2 edges, 5 features, 2 classes)
    """
    if isinstance(trusted, str):
        options, trusted = {**options, "trusted": trusted}, None
    chosen = import_options(options)
    given = Given(features, labels, trusted, node_ids, class_names)
    if not isinstance(source, str | Path):
        return from_object(source, edges, given, chosen)
    extra = [name for name, value in vars(given).items() if value is not None]
    if extra:
        raise ConfigError(
            f"Expected `{extra[0]}` only with an object in memory, but got it with a path. A file has its own: say "
            "which column it is, or load the file yourself."
        )
    path = Path(source)
    if edges is None and path.is_dir() and is_own_graph(path):
        if options:
            raise ConfigError(
                f"Expected no options for {path}, which is imported already, but got {', '.join(options)}. Import its "
                "files again with them."
            )
        return read_own_graph(path)
    return import_files([path] if edges is None else [path, Path(edges)], chosen)


def import_files(paths: Sequence[Path], options: ImportOptions, on_step: OnStep | None = None) -> OwnGraph:
    """The graph in a folder, in one file, or in a node table and an edge table.

    Args:
        paths: One or two of them.
        options: Which column is what.
        on_step: Told what is done next.
    """
    if len(paths) == 1 and not paths[0].is_file():
        paths = find_files(paths[0])
    if len(paths) == 2:
        return read_pair(paths[0], paths[1], options, on_step)
    if len(paths) != 1:
        raise ConfigError(f"Expected a folder, one file or two tables to import, but got {len(paths)} paths.")
    path, suffix = paths[0], kind_of(paths[0])
    if suffix in TABLE_SUFFIXES:
        raise DataError(f"Expected an edge table beside the node table {path}, but got one file. Name both.")
    if suffix not in GRAPH_SUFFIXES:
        raise UnknownNameError(f"kind of file {path.name!r}, ending in", suffix, (*GRAPH_SUFFIXES, *TABLE_SUFFIXES))
    if on_step is not None:
        on_step(f"reading {path.name}")
    if suffix == ".npz":
        return read_npz(path, options)
    nodes, edges = read_graphml(path) if suffix == ".graphml" else read_gexf(path)
    return from_tables(nodes, edges, options, name=options.name or name_of(path), source=str(path), on_step=on_step)
