"""``lnp predict``: what trained models say of every node."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lnp.cli.output import AsJson, print_json, print_text

__all__ = ["predict"]


def predict(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A folder of `lnp train`, or one seed in it.")],
    out: Annotated[Path, typer.Option(help="The CSV file to write.")] = Path("predictions.csv"),
    as_json: AsJson = False,
) -> None:
    """Writes the class probabilities of every node as CSV; those of several seeds are averaged.

    Columns: node, given, predicted, confidence, and p_CLASS for every class. The given label is empty where a node has
    none, or where the seeds drew different ones.
    """
    from lnp.experiments.prediction import read_predictions
    from lnp.report.csv_files import write_predictions

    predictions = read_predictions(folder)
    write_predictions(out, predictions)
    summary = predictions.summary()
    if as_json:
        print_json({"out": str(out), **summary})
        return
    print_text(
        f"Wrote {out}: {summary['nodes']} nodes, {summary['models']} model(s), mean confidence "
        f"{summary['mean_confidence']:.2f}."
    )
