"""``lnp predict``: what trained models say of every node."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lnp.cli.output import AsJson, print_json, print_text

__all__ = ["predict"]


def predict(
    folder: Annotated[Path, typer.Argument(metavar="MODEL", help="A folder of `lnp train`, or one seed in it.")],
    graph: Annotated[
        Path | None, typer.Argument(metavar="GRAPH", help="The folder of `lnp import` that it was trained on.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The CSV file to write.")] = Path("predictions.csv"),
    as_json: AsJson = False,
) -> None:
    """Writes the class probabilities of every node as CSV; those of several seeds are averaged.

    Columns: node, given, predicted, confidence, and p_CLASS for every class. The given label is empty where a node has
    none, or where the seeds drew different ones. With GRAPH, it is checked that the graph is still the one that the
    model was trained on, and the given labels are those of today.
    """
    from lnp.engine.model_folder import require_no_part
    from lnp.experiments.prediction import read_predictions
    from lnp.report.csv_files import write_predictions

    require_no_part(out)
    notes: tuple[str, ...] = ()
    if graph is None:
        predictions = read_predictions(folder)
    else:
        from lnp.datasets.own_graph import read_own_graph
        from lnp.experiments.own_prediction import predict_own

        predictions, notes = predict_own(folder, read_own_graph(graph))
    write_predictions(out, predictions)
    summary = predictions.summary()
    if as_json:
        print_json({"out": str(out), **summary, "notes": list(notes)})
        return
    for note in notes:
        print_text(f"note: {note}")
    print_text(
        f"Wrote {out}: {summary['nodes']} nodes, {summary['models']} model(s), mean confidence "
        f"{summary['mean_confidence']:.2f}."
    )
