"""Every dataset by name: one literal table.

A published graph comes from the folder named by ``LNP_DATA``, else from the user's cache, else by download. Any other
npz file of that folder with the same keys loads by its stem. Names may carry options:
``synthetic:homophily=0.2,nodes=5000``.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lnp.datasets.class_names import CLASS_NAMES
from lnp.datasets.dataset import Dataset
from lnp.datasets.digits import DigitsConfig, digits
from lnp.datasets.download import DOWNLOADS, cached_file, download
from lnp.datasets.npz import data_folder, is_graph_file, load_npz
from lnp.datasets.options import parse_name, read_options
from lnp.datasets.snap_patents import SNAP_PATENTS_FILE, load_snap_patents
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.datasets.synthetic_patents import SyntheticPatentsConfig, synthetic_patents
from lnp.errors import ConfigError, DataError, UnknownNameError
from lnp.seeds import Seeds

__all__ = ["CATALOG", "DatasetRow", "Entry", "list_datasets", "load_dataset"]


@dataclass(frozen=True)
class Entry:
    """A row of the table.

    Args:
        summary: What the nodes are and what is to be told of them.
        nodes: n.
        edges: m, undirected, without self-loops.
        features: d.
        classes: c.
        homophily: Edge homophily.
        scaling: The customary scaling of the features.
        file: The npz file in the folder named by ``LNP_DATA``; the name with underscores by default.
        labels_key: The key of the labels in it.
        labels_file: Another file with the labels and splits.
        build: Makes the graph from options, or reads a file that is not npz (then ``file`` names it).
    """

    summary: str
    nodes: int
    edges: int
    features: int
    classes: int
    homophily: float
    scaling: str = "auto"
    file: str | None = None
    labels_key: str = "y"
    labels_file: str | None = None
    build: Callable[[Mapping[str, object]], Dataset] | None = None


@dataclass(frozen=True)
class DatasetRow:
    """What a list of datasets shows; numbers are ``None`` for a file that is in no table.

    Args:
        name: What :func:`load_dataset` takes.
        nodes: n.
        edges: m.
        features: d.
        classes: c.
        homophily: Edge homophily.
        available: Whether it loads without a network.
        origin: Where it comes from: "built in", "LNP_DATA", "cache", "download" or "nowhere".
        summary: One line about it.
    """

    name: str
    nodes: int | None
    edges: int | None
    features: int | None
    classes: int | None
    homophily: float | None
    available: bool
    origin: str
    summary: str


def _digits(options: Mapping[str, object]) -> Dataset:
    values = read_options("digits", options, typing.get_type_hints(DigitsConfig))
    return digits(DigitsConfig(**values))  # type: ignore[arg-type]


def _synthetic(options: Mapping[str, object]) -> Dataset:
    values = read_options("synthetic", options, {**typing.get_type_hints(SyntheticConfig), "seed": int})
    seed = values.pop("seed", 0)
    assert isinstance(seed, int)
    return synthetic(SyntheticConfig(**values), Seeds(seed).generator("synthetic"))  # type: ignore[arg-type]


def _synthetic_patents(options: Mapping[str, object]) -> Dataset:
    hints = {**typing.get_type_hints(SyntheticPatentsConfig), "seed": int}
    values = read_options("synthetic-patents", options, hints)
    seed = values.pop("seed", 0)
    assert isinstance(seed, int)
    config = SyntheticPatentsConfig(**values)  # type: ignore[arg-type]
    return synthetic_patents(config, Seeds(seed).generator("synthetic-patents"))


def _snap_patents(options: Mapping[str, object]) -> Dataset:
    for option in options:
        if option != "path":
            raise UnknownNameError("option of snap-patents", option, ["path"])
    return load_snap_patents(Path(str(options["path"])) if "path" in options else None)


CATALOG: dict[str, Entry] = {
    "digits": Entry("handwritten digits, joined to similar ones", 1797, 12340, 64, 10, 0.956, "none", build=_digits),
    "synthetic": Entry("block model with knobs", 2000, 10000, 32, 5, 0.802, "none", build=_synthetic),
    "cora": Entry("machine-learning papers by topic, citations", 2708, 5278, 1433, 7, 0.810, "row"),
    "citeseer": Entry("computer-science papers by field, citations", 3327, 4552, 3703, 6, 0.736, "row"),
    "pubmed": Entry("papers on diabetes by kind, citations", 19717, 44324, 500, 3, 0.802, "row"),
    "chameleon": Entry("Wikipedia pages by traffic, links (with duplicates)", 2277, 31371, 2325, 5, 0.230, "none"),
    "chameleon-filtered": Entry("chameleon without duplicates", 890, 8854, 2325, 5, 0.236, "none"),
    "squirrel": Entry("Wikipedia pages by traffic, links (with duplicates)", 5201, 198353, 2089, 5, 0.222, "none"),
    "actor": Entry("actors by the words of their page, co-occurrence", 7600, 26659, 932, 5, 0.217, "row"),
    "cornell": Entry("university web pages by kind, links", 183, 277, 1703, 5, 0.123),
    "texas": Entry("university web pages by kind, links", 183, 279, 1703, 5, 0.061),
    "tolokers": Entry("crowd workers, banned or not, shared tasks", 11758, 519000, 10, 2, 0.595),
    "minesweeper": Entry("cells of a grid, mine or not", 10000, 39402, 7, 2, 0.683),
    "amazon-computers": Entry("products by category, bought together", 13752, 245861, 767, 10, 0.777),
    "coauthor-physics": Entry("physicists by field, joint papers", 34493, 247962, 8415, 5, 0.931),
    "blogcatalog": Entry("bloggers by interest, followers", 5196, 171743, 8189, 6, 0.401),
    "twitch-de": Entry("German streamers, mature content or not, friendships", 9498, 153138, 3170, 2, 0.632),
    "fb100-cornell5": Entry("university members by gender, friendships", 18660, 790777, 4735, 2, 0.546),
    "npm-downloads": Entry("software packages by downloads, dependencies", 299678, 2326078, 512, 5, 0.236),
    "ncbi-taxonomy": Entry("taxa by division, tree of life", 2609295, 2609294, 256, 12, 0.998),
    "ncbi-taxonomy-rank": Entry(
        "taxa by rank, tree of life", 2609295, 2609294, 256, 6, 0.024, file="ncbi_taxonomy.npz", labels_key="y_rank"
    ),
    "ogbn-arxiv": Entry(
        "papers by subject, citations", 169343, 1157799, 128, 40, 0.654, file="ogbn_arxiv_official.npz"
    ),
    "ogbn-arxiv-structural": Entry(
        "ogbn-arxiv with structural features: not comparable", 169343, 1157799, 64, 40, 0.654, file="ogbn_arxiv.npz"
    ),
    "arxiv-year": Entry(
        "papers by year, citations, structural features",
        169343,
        1157799,
        64,
        5,
        0.218,
        file="ogbn_arxiv.npz",
        labels_file="arxiv_year_labels.npz",
    ),
    "snap-patents": Entry(
        "patents by year of grant, citations",
        2923922,
        13975788,
        269,
        5,
        0.073,
        file=SNAP_PATENTS_FILE,
        build=_snap_patents,
    ),
    "synthetic-patents": Entry(
        "SYNTHETIC, of the size of snap-patents: for time and memory only",
        2923922,
        13975788,
        269,
        5,
        0.073,
        "none",
        build=_synthetic_patents,
    ),
}
"""Name → facts and origin. The numbers are those of the files."""


def load_dataset(name: str, **options: object) -> Dataset:
    """The dataset of that name.

    Args:
        name: A name of :data:`CATALOG` or the stem of an npz file in the folder named by ``LNP_DATA``; options may
            follow a colon.
        options: Knobs of ``digits``, ``synthetic`` and ``synthetic-patents`` (the ``seed`` of the latter two among
            them), or the ``path`` of the file of ``snap-patents``.

    >>> load_dataset("synthetic", nodes=100, homophily=0.2).graph
    Graph('synthetic', 100 nodes, 500 edges, 32 features, 5 classes)
    """
    name, written = parse_name(name)
    known, extra = _canonical(name), _other_files()
    if known not in CATALOG and known not in extra:
        raise UnknownNameError("dataset", name, [*CATALOG, *extra], also="the folder of a graph of `lnp import`")
    entry = CATALOG.get(known)
    if entry and entry.build:
        return entry.build({**written, **options})
    if written or options:
        raise ConfigError(f"Expected no options for dataset {known!r}, but got {', '.join({**written, **options})}.")
    if entry is None:
        return load_npz(extra[known])
    return _load_published(known, entry)


def list_datasets() -> list[DatasetRow]:
    """All datasets with their numbers and whether they are at hand. No graph is loaded."""
    rows = []
    for name, entry in CATALOG.items():
        numbers = (entry.nodes, entry.edges, entry.features, entry.classes, entry.homophily)
        origin = _origin(name, entry)
        rows.append(DatasetRow(name, *numbers, origin not in ("download", "nowhere"), origin, entry.summary))
    for name, path in _other_files().items():
        rows.append(DatasetRow(name, None, None, None, None, None, True, "LNP_DATA", f"the file {path.name}"))
    return rows


def _load_published(name: str, entry: Entry) -> Dataset:
    class_names = CLASS_NAMES.get(name)
    path, labels_file = _paths(name, entry)
    if path:
        return load_npz(
            path,
            name=name,
            labels_key=entry.labels_key,
            labels_file=labels_file,
            class_names=class_names,
            scaling=entry.scaling,
        )
    if cached_file(name).is_file():
        return load_npz(cached_file(name), name=name, class_names=class_names, scaling=entry.scaling)
    if name in DOWNLOADS:
        return download(name, class_names=class_names, scaling=entry.scaling)
    files = " and ".join(_files(name, entry))
    where = data_folder()
    raise DataError(
        f"Expected LNP_DATA to name a folder with {files}, where dataset {name!r} is, but it "
        f"{'is not set' if where is None else f'names {where}, which has no such file'}."
    )


def _origin(name: str, entry: Entry) -> str:
    if entry.build and entry.file is None:
        return "built in"
    if _paths(name, entry)[0]:
        return "LNP_DATA"
    if cached_file(name).is_file():
        return "cache"
    return "download" if name in DOWNLOADS else "nowhere"


def _paths(name: str, entry: Entry) -> tuple[Path | None, Path | None]:
    """The file of the graph, when everything the entry needs is there, and that of its labels, when it is another."""
    folder = data_folder()
    needed = [] if folder is None else [folder / file for file in _files(name, entry)]
    if not needed or not all(path.is_file() for path in needed):
        return None, None
    return needed[0], needed[1] if entry.labels_file else None


def _files(name: str, entry: Entry) -> list[str]:
    graph_file = entry.file or f"{name.replace('-', '_')}.npz"
    return [graph_file, entry.labels_file] if entry.labels_file else [graph_file]


def _other_files() -> dict[str, Path]:
    folder = data_folder()
    if folder is None:
        return {}
    listed = {file for name, entry in CATALOG.items() for file in _files(name, entry)}
    paths = (path for path in sorted(folder.glob("*.npz")) if path.name not in listed)
    return {_canonical(path.stem): path for path in paths if is_graph_file(path)}


def _canonical(name: str) -> str:
    return name.lower().replace("_", "-")
