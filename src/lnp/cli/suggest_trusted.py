"""``lnp suggest-trusted``: which labels are worth checking by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lnp.cli.output import AsJson, print_json, print_table, print_text, table

__all__ = ["suggest_trusted"]


def suggest_trusted(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The graph, from `lnp import`.")],
    budget: Annotated[int, typer.Option(min=1, help="How many labels you are going to check.")] = 25,
    out: Annotated[
        Path | None, typer.Option(help="Write a label file to fill in: correct the label, set trusted to 1.")
    ] = None,
    labels: Annotated[
        list[Path] | None, typer.Option(help="A label file with what was checked before; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of every draw.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Proposes nodes whose labels are most worth checking by hand, when few or none are trusted.

    They stand for many others, for different ones, and for all given classes alike: the nodes of each given class are
    cut into groups of similar ones, and the node in the middle of each group is proposed. The first ones of the list
    are worth the most.
    """
    from lnp.audit.suggest import suggest_trusted as choose
    from lnp.datasets.kept_labels import with_label_files
    from lnp.datasets.label_file import write_label_file
    from lnp.datasets.own_graph import read_own_graph
    from lnp.report.csv_files import require_file_path
    from lnp.seeds import Seeds

    if out is not None:
        require_file_path(out)
    own = with_label_files(read_own_graph(folder), labels or [])
    found = choose(own.graph, own.labels, budget, Seeds(seed).generator("suggest"))
    ids = [own.node_ids[node] for node in found.nodes.tolist()]
    given = [own.class_names[k] for k in found.given.tolist()]
    sizes = found.stands_for.tolist()
    if out is not None:
        write_label_file(out, [(node, label, False) for node, label in zip(ids, given, strict=True)])
    if as_json:
        rows = [
            {"node": node, "given": label, "stands_for": size}
            for node, label, size in zip(ids, given, sizes, strict=True)
        ]
        print_json({"budget": budget, "nodes": rows, "out": None if out is None else str(out)})
        return
    shown = table(f"{len(ids)} labels to check", "node", "given", "stands for", numbers=("stands for",))
    for node, label, size in zip(ids, given, sizes, strict=True):
        shown.add_row(node, label, f"{size:,}")
    print_table(shown)
    if len(ids) < budget:
        print_text(f"note: There are only {len(ids)} labels that nobody checked.")
    if out is None:
        print_text(f"Next: lnp suggest-trusted {folder} --budget {budget} --out checks.csv writes a file to fill in.")
    else:
        print_text(
            f"Wrote {out}. Correct the labels in it, set trusted to 1, then: lnp train {folder} --labels {out} "
            "--out my-model"
        )
