"""What is odd about a graph and its labels: counted, named, and said what was done about it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lnp.datasets.files.edge_table import EdgeList
from lnp.datasets.files.table import counted, name_list
from lnp.datasets.import_summary import ClassRow, ColumnRow, Finding, ImportSummary
from lnp.graph.graph import Graph
from lnp.graph.homophily import adjusted_homophily, edge_homophily, labelled_edge_count
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.graph.twins import have_twin

__all__ = ["describe"]

RARE, UNEVEN, MIXED, TWINS = 5, 10.0, 0.2, 0.2
"""Labels of a class that is small, ratio of classes that are uneven, homophily beyond chance below which neighbours
hardly agree, share of nodes with a twin from which on they are mentioned."""

ENOUGH_EDGES = 50
"""Edges between labelled nodes from which on their agreement is known: to about 0.2 of homophily beyond chance, two
standard errors."""


def describe(
    graph: Graph,
    labels: ObservedLabels,
    edges: EdgeList,
    source: str,
    columns: tuple[ColumnRow, ...] = (),
    findings: tuple[Finding, ...] = (),
) -> ImportSummary:
    """The summary of an import.

    Args:
        graph: The graph as it came out.
        labels: Its labels.
        edges: The edges as they were listed.
        source: What it was read from.
        columns: What became of the columns.
        findings: What was found on the way.
    """
    given = np.bincount(labels.given[labels.given != UNKNOWN], minlength=graph.class_count)
    trusted = np.bincount(labels.given[labels.trusted], minlength=graph.class_count)
    homophily, adjusted = edge_homophily(graph, labels.given), adjusted_homophily(graph, labels.given)
    found = [
        *_about_edges(graph, edges),
        *_about_labels(graph, given, labels),
        *_about_trust(graph.class_names, trusted),
        *_about_agreement(adjusted, labelled_edge_count(graph, labels.given)),
        *findings,
        *_about_features(graph),
    ]
    rows = zip(graph.class_names, given.tolist(), trusted.tolist(), strict=True)
    return ImportSummary(
        source=source,
        nodes=graph.node_count,
        edges=graph.edge_count,
        features=graph.feature_count,
        labelled=int(given.sum()),
        trusted=int(trusted.sum()),
        homophily=None if np.isnan(homophily) else homophily,
        adjusted_homophily=None if np.isnan(adjusted) else adjusted,
        classes=tuple(ClassRow(*row) for row in rows),
        columns=columns,
        findings=tuple(found),
    )


def _about_edges(graph: Graph, edges: EdgeList) -> list[Finding]:
    found = []
    source, target = edges.ends
    loops = int((source == target).sum())
    arrows = _distinct(np.sort(source.astype(np.int64) * graph.node_count + target)) - _loop_kinds(source, target)
    repeated = edges.ends.shape[1] - loops - arrows
    both = arrows - graph.edge_count
    if edges.dropped:
        many = counted(edges.dropped, "edge leads", "edges lead")
        message = f"{many} to ids that are not in the node table; left out, as you said."
        found.append(Finding("edges to unknown nodes", edges.dropped, message))
    if repeated:
        many = counted(repeated, "edge is", "edges are")
        message = f"{many} listed again; each counts once, with the largest of its weights."
        found.append(Finding("duplicate edges", repeated, message))
    if loops:
        message = f"{counted(loops, 'edge leads', 'edges lead')} from a node to itself; left out."
        found.append(Finding("self-loops", loops, message))
    if 0 < both < graph.edge_count:
        message = (
            f"{both:,} of {graph.edge_count:,} edges {'is' if both == 1 else 'are'} listed in both directions, the "
            "others in one. Direction plays no part."
        )
        found.append(Finding("edges in both directions", both, message))
    isolated = np.flatnonzero(np.diff(graph.adjacency.indptr) == 0)
    if isolated.size:
        assert graph.node_ids is not None
        examples = name_list([graph.node_ids[i] for i in isolated[:3].tolist()])
        message = (
            f"{counted(isolated.size, 'node has', 'nodes have')} no edge, for instance {examples}; only the features "
            "speak for such a node."
        )
        found.append(Finding("isolated nodes", int(isolated.size), message))
    found += _about_twins(graph)
    if edges.unused:
        message = f"Column {name_list(edges.unused)} of the edge table plays no part."
        found.append(Finding("unused edge columns", len(edges.unused), message))
    return found


def _about_twins(graph: Graph) -> list[Finding]:
    several = np.flatnonzero(np.diff(graph.adjacency.indptr) > 1)  # leaves of one hub are no wonder
    twins = several[have_twin(graph, several, several)]
    if twins.size < TWINS * graph.node_count:
        return []
    assert graph.node_ids is not None
    first, second = int(twins[0]), int(twins[have_twin(graph, twins, twins[:1])][0])
    message = (
        f"{counted(twins.size, 'node has', 'nodes have')} exactly the same neighbours as another, for instance "
        f"{graph.node_ids[first]} and {graph.node_ids[second]}. Is each a thing of its own? A label of one tells that "
        "of the other, so accuracy on such nodes says little about the rest."
    )
    return [Finding("twin nodes", int(twins.size), message)]


def _about_labels(graph: Graph, given: NDArray[np.int64], labels: ObservedLabels) -> list[Finding]:
    found = []
    names = graph.class_names
    without = labels.node_count - int(given.sum())
    if without:
        many = counted(without, "node has", "nodes have")
        message = f"{many} no label; training learns from the others, predictions are for all."
        found.append(Finding("nodes without a label", without, message))
    small = [f"{names[k]} ({given[k]})" for k in np.flatnonzero(given < RARE).tolist()]
    if small:
        message = f"Fewer than {RARE} labels, too few to learn much from, in class {name_list(small)}."
        found.append(Finding("small classes", len(small), message))
    if given.min() > 0 and given.max() >= UNEVEN * given.min():
        most, least = int(given.argmax()), int(given.argmin())
        message = (
            f"The classes are uneven: {names[most]!r} has {given[most]:,} labels ({given[most] / given.sum():.0%}), "
            f"{names[least]!r} has {given[least]:,}."
        )
        found.append(Finding("uneven classes", int((given * UNEVEN <= given.max()).sum()), message))
    spellings: dict[str, list[str]] = {}
    for name in names:
        spellings.setdefault(" ".join(name.casefold().split()), []).append(name)
    alike = [" / ".join(group) for group in spellings.values() if len(group) > 1]
    if alike:
        message = f"Classes that differ only in capital letters or spaces: {name_list(alike)}. Are they one?"
        found.append(Finding("classes spelt alike", len(alike), message))
    return found


def _about_trust(names: tuple[str, ...], trusted: NDArray[np.int64]) -> list[Finding]:
    missing = [name for name, count in zip(names, trusted.tolist(), strict=True) if count == 0]
    if not missing:
        return []
    if len(missing) == len(names):
        message = (
            "No label is trusted. LNP needs one or more in every class; without any, a method that needs none is used. "
            "`lnp suggest-trusted FOLDER --budget 25` says which labels to check first."
        )
    else:
        message = f"No trusted label in class {name_list(missing)}, where LNP needs one in every class."
    return [Finding("classes without a trusted node", len(missing), message)]


def _about_agreement(adjusted: float, edges: int) -> list[Finding]:
    if np.isnan(adjusted) or adjusted >= MIXED or edges < ENOUGH_EDGES:
        return []
    message = (
        f"Neighbours hardly agree in their given labels ({adjusted:.2f} beyond chance): most labels are wrong, or "
        "neighbours differ by nature. In the second case try --backbone h2gcn, also with --set layers=1."
    )
    return [Finding("low homophily", 1, message)]


def _about_features(graph: Graph) -> list[Finding]:
    x = graph.features
    filled = x.any(axis=1) if isinstance(x, np.ndarray) else np.diff(x.indptr) > 0
    empty = int((~filled).sum())
    if not empty:
        return []
    return [
        Finding("nodes without features", empty, f"{counted(empty, 'node has', 'nodes have')} zeros in all features.")
    ]


def _distinct(ordered: NDArray[np.int64]) -> int:
    return int((ordered[1:] != ordered[:-1]).sum()) + 1 if ordered.size else 0


def _loop_kinds(source: NDArray[np.int64], target: NDArray[np.int64]) -> int:
    """How many nodes have a self-loop."""
    return int(np.unique(source[source == target]).size)
