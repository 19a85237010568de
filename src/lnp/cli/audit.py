"""``lnp audit``: which labels of a graph are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lnp.cli.output import AsJson, print_json, print_table, print_text, table

if TYPE_CHECKING:
    from lnp.audit.table import AuditTable
    from lnp.graph.labels import ObservedLabels
    from lnp.report.audit_page import AuditSubject

__all__ = ["audit"]


def audit(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A folder of `lnp train`.")],
    graph: Annotated[
        str, typer.Argument(metavar="GRAPH", help="The folder of `lnp import` or the dataset that it was trained on.")
    ],
    out: Annotated[Path, typer.Option(help="The table to write, .csv or .parquet.")] = Path("audit.csv"),
    page: Annotated[Path | None, typer.Option(help="A page to write, .html, with the most suspect labels.")] = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option(help="Own graph: a label file, instead of those that the model was trained with; repeatable."),
    ] = None,
    scorer: Annotated[str, typer.Option(help="cross-fit, model or cleanlab.")] = "cross-fit",
    seed: Annotated[int, typer.Option(min=0, help="The seed of every draw.")] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Threads to compute with.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Scores every given label: how likely it is right, what it should be, and why.

    Columns of the table, the most suspect label first: node, given, quality (the probability that the label is right),
    proposed, confidence, trusted, and for every class p_CLASS, similarity_CLASS and neighbours_CLASS. On a dataset the
    labels are those that the model was trained with; on your own graph those of today, with what was said in the label
    files that the model was trained with. Of a model of several seeds the first stands for all.

    The scorer cross-fit trains networks of its own that have not seen the labels they judge; model trains nothing and
    asks the model; cleanlab is the rival (the extra `audit`).
    """
    import torch

    from lnp.audit.files import require_audit_path, write_audit
    from lnp.audit.scores import check_scorer, networks_to_train
    from lnp.audit.table import audit as run
    from lnp.cli.progress import step_progress
    from lnp.cli.train_own import own_folder
    from lnp.datasets.kept_labels import KEPT
    from lnp.engine.model_folder import require_no_part
    from lnp.estimator import LNPClassifier
    from lnp.report.audit_page import require_page_path, write_audit_page

    check_scorer(scorer)
    require_audit_path(out)
    require_no_part(out)
    if page is not None:
        require_page_path(page)
        require_no_part(page)
    torch.set_num_threads(threads)
    home, seeds = _one_model(model, own=own_folder(graph) is not None)
    subject, observed = _subject(home, graph, labels or [])
    classifier = LNPClassifier.load(home, subject.graph)
    with step_progress("scoring labels", networks_to_train(scorer, observed)) as advance:
        found = run(
            classifier,
            subject.graph,
            observed,
            scorer=scorer,
            seed=seed,
            on_network=lambda: advance("a network", 1),
        )
    write_audit(out, found, subject.node_ids)
    files = [out]
    if page is not None:
        write_audit_page(page, found, subject)
        files.append(page)
    if as_json:
        print_json(_summary(found) | {"files": [str(path) for path in files]})
        return
    _show(found, subject)
    if not labels and (home / KEPT).is_file():
        print_text(f"note: What {home / KEPT} says counts, as when the model was trained; --labels names other files.")
    if seeds > 1:
        print_text(f"note: {model} holds {seeds} seeds; {home.name} stands for all.")
    if not found.trusted.any():
        print_text(
            "note: No label is trusted, so mistakes that follow a rule cannot be told from the truth. "
            "`lnp suggest-trusted` says which labels are worth checking."
        )
    print_text(f"Wrote {' and '.join(map(str, files))}." + (f" Open {page} in a browser." if page else ""))


def _one_model(folder: Path, *, own: bool) -> tuple[Path, int]:
    """A model, and how many there are; on an own graph all have learnt the same labels."""
    from lnp.errors import ModelFileError
    from lnp.experiments.prediction import model_homes

    homes = model_homes(folder)
    if len(homes) > 1 and not own:
        raise ModelFileError(
            f"Expected one model, but {folder} holds {len(homes)}, and each may have its own labels. Name one of them, "
            f"for instance {homes[0]}."
        )
    return homes[0], len(homes)


def _subject(home: Path, name: str, labels: list[Path]) -> tuple[AuditSubject, ObservedLabels]:
    from lnp.cli.train_own import own_folder
    from lnp.engine.model_file import load_model
    from lnp.errors import ConfigError
    from lnp.report.audit_page import AuditSubject

    saved = load_model(home)
    folder = own_folder(name)
    if folder is None:
        from lnp.datasets.catalog import load_dataset

        if labels:
            raise ConfigError("Expected `--labels` with your own graph, but got it with a dataset.")
        graph = load_dataset(name).graph
        return AuditSubject(graph, saved.name, graph.node_ids), saved.observed
    from lnp.datasets.kept_labels import with_kept_labels, with_label_files
    from lnp.datasets.own_graph import read_own_graph

    imported = read_own_graph(folder)
    own = with_label_files(imported, labels) if labels else with_kept_labels(imported, home)
    return AuditSubject(own.graph, saved.name, own.node_ids, own.texts), own.labels


def _summary(found: AuditTable) -> dict[str, object]:
    unchecked = ~found.trusted
    rates = [None if rate != rate else rate for rate in found.noise_rate.tolist()]
    return {
        "scorer": found.scorer,
        "labels": int(found.nodes.size),
        "trusted": int(found.trusted.sum()),
        "estimated_wrong_share": found.wrong_share if unchecked.any() else None,
        "checked": {"known": found.found_wrong[1], "had_been_wrong": found.found_wrong[0]},
        "more_likely_wrong_than_right": int((found.quality[unchecked] < 0.5).sum()),
        "noise_rate": dict(zip(found.class_names, rates, strict=True)),
        "transition": found.transition.tolist(),
    }


def _show(found: AuditTable, subject: AuditSubject) -> None:
    numbers = ("labels", "probably\nwrong, %")
    share = (
        "" if found.wrong_share != found.wrong_share else f", about {100 * found.wrong_share:.0f} % of the rest wrong"
    )
    wrong, known = found.found_wrong
    checked = f" ({wrong:,} of {known:,} had been wrong)" if known else ""
    title = f"{subject.graph.name}: {found.nodes.size:,} labels, {int(found.trusted.sum()):,} trusted{checked}{share}"
    print_text(title)
    shown = table(None, "given label", *numbers, numbers=numbers)
    for k, name in enumerate(found.class_names):
        count = int((found.given == k).sum())
        rate = found.noise_rate[k]
        shown.add_row(name, f"{count:,}", "–" if rate != rate else f"{100 * rate:.1f}")
    print_table(shown)
    first = table("The most suspect", "node", "given", "proposed", "right, %", numbers=("right, %",))
    for row in range(min(10, found.nodes.size)):
        node, names = int(found.nodes[row]), found.class_names
        label = str(node) if subject.node_ids is None else subject.node_ids[node]
        first.add_row(label, names[found.given[row]], names[found.proposed[row]], f"{100 * found.quality[row]:.1f}")
    print_table(first)
