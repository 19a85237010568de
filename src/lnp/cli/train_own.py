"""``lnp train FOLDER``: the part for a user's own graph."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnp.cli.output import print_json, print_table, print_text, table

if TYPE_CHECKING:
    from lnp.datasets.own_graph import OwnGraph

__all__ = ["own_folder", "train_own_graph"]


def own_folder(name: str) -> Path | None:
    """The folder with an imported graph that the name stands for; ``None`` where it stands for a dataset."""
    from lnp.datasets.catalog import CATALOG
    from lnp.datasets.own_graph import is_own_graph
    from lnp.errors import DataError

    path = Path(name)
    if not path.is_dir():
        # No dataset is called so (options of one follow a colon), and a list of datasets would not help.
        if os.sep in name.partition(":")[0] or path.is_file():
            state = "a file" if path.is_file() else "not there"
            raise DataError(
                f"Expected {path} to be a folder of `lnp import`, but it is {state}. Import the graph first."
            )
        return None
    if is_own_graph(path):
        return path
    if name.lower().replace("_", "-") in CATALOG:
        return None
    raise DataError(
        f"Expected {path} to hold an imported graph, but it has none. Make one of its files with `lnp import {path}`."
    )


def train_own_graph(
    folder: Path,
    out: Path | None,
    labels: list[Path],
    *,
    method: str | None,
    selection: str | None,
    seeds: int,
    settings: dict[str, Any],
    as_json: bool,
) -> None:
    """Trains on the graph of the folder and says what was done."""
    import time

    from lnp.datasets.files.find import changed_since
    from lnp.datasets.kept_labels import with_label_files
    from lnp.datasets.own_graph import read_own_graph
    from lnp.engine.model_folder import FACTS
    from lnp.errors import ConfigError
    from lnp.experiments.own_training import about_checks, plan_training, train_own

    if out is None:
        raise ConfigError("Expected `--out` with the folder for the model, but got none.")
    imported = read_own_graph(folder)
    own = with_label_files(imported, labels)
    plan = plan_training(own, method, selection, whole=settings.get("batch", "full") == "full")
    notes = [*changed_since(folder), *_about_files(labels, imported, own), *plan.notes]
    if seeds == 1 and (out / FACTS).exists():
        notes.append(f"{out} holds a model; the new one takes its place when it is trained.")
    if not as_json:
        for note in notes:
            print_text(f"note: {note}")
    started = time.perf_counter()
    rows = train_own(own, out, plan, seeds=seeds, settings=settings, before=imported.labels)
    seconds, afterwards = time.perf_counter() - started, about_checks(own.labels, rows)
    facts = {
        "graph": str(folder),
        "nodes": own.graph.node_count,
        "labelled": int((own.labels.given >= 0).sum()),
        "trusted": int(own.labels.trusted.sum()),
        "method": plan.method,
        "selection": plan.selection,
        "seconds": seconds,
        "notes": [*notes, *afterwards],
        "out": str(out),
        "models": rows,
    }
    if as_json:
        print_json(facts)
        return
    _show(facts)
    for note in afterwards:
        print_text(f"note: {note}")
    print_text(f"Kept in {out}. Next: lnp predict {out} {folder} --out predictions.csv")


def _about_files(files: list[Path], imported: OwnGraph, own: OwnGraph) -> list[str]:
    """A note where label files trust no label that was not trusted before: a column that was forgotten."""
    from lnp.datasets.kept_labels import added_rows

    rows = added_rows(own, imported.labels)
    if not files or any(trusted for _, _, trusted in rows):
        return []
    changed = f"changes {len(rows):,} labels and trusts none of them" if rows else "changes nothing"
    return [
        f"{', '.join(map(str, files))} {changed}. The column `trusted` should be 1 where somebody checked the label."
    ]


def _show(facts: dict[str, Any]) -> None:
    numbers = ("epochs", "held out", "right among\nheld out, %", "agrees with\nuntrusted labels, %", "disputed\nlabels")
    title = (
        f"{facts['method']} on {facts['graph']}: {facts['labelled']:,} labels, {facts['trusted']:,} trusted; epoch "
        f"chosen by {facts['selection']}; {facts['seconds']:.1f} s"
    )
    shown = table(title, "seed", *numbers, numbers=numbers)
    for row in facts["models"]:
        shares = (row["held_out_accuracy"], row["agreement_with_untrusted_labels"])
        right, agrees = ("–" if share is None else f"{100 * share:.1f}" for share in shares)
        cells = (str(row["epochs"]), f"{row['held_out']:,}", right, agrees, f"{row['labels_it_disagrees_with']:,}")
        shown.add_row(str(row["seed"]), *cells)
    print_table(shown)
