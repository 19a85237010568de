"""``lnp demo``: the whole thing on handwritten digits, nothing to download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lnp.cli.output import AsJson, print_json, print_table, print_text, table

if TYPE_CHECKING:
    from lnp.experiments.demo_data import DemoData

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option(help="Folder for report.html, predictions.csv and suspects.csv.")] = Path(
        "lnp-demo"
    ),
    seeds: Annotated[int, typer.Option(min=1, help="How many draws of split, noise and trusted labels.")] = 3,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of each method's own number.")] = None,
    processes: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 2,
    as_json: AsJson = False,
) -> None:
    """Trains gcn, lnp-v1, lnp-v2 and lnp-channel on digits with 60 % of the labels wrong, and shows what they find."""
    from lnp.cli.progress import run_progress
    from lnp.experiments.demo import METHODS, run_demo
    from lnp.report.page import require_report_folder, write_report

    require_report_folder(out)
    with run_progress("training", len(METHODS) * seeds) as on_run:
        data = run_demo(seeds, epochs=epochs, processes=processes, on_run=on_run)
    paths = write_report(out, data)
    if as_json:
        print_json({**data.summary(), "files": [str(path) for path in paths]})
        return
    _show(data)
    print_text(f"Wrote {', '.join(map(str, paths))}. Open {paths[0]} in a browser.")


def _show(data: DemoData) -> None:
    from lnp.experiments.demo_data import TOP
    from lnp.report.statistics import mean_and_sd, percent

    numbers = ("test\naccuracy, %", f"wrong among the\n{TOP} most suspect, %", "seconds\nper run")
    title = (
        f"digits, {100 * data.rate:.0f} % {data.noise} noise, {data.trusted_nodes} trusted labels, {data.seeds} seed(s)"
    )
    shown = table(title, "method", *numbers, numbers=numbers)
    for outcome in data.methods:
        seconds = f"{mean_and_sd(outcome.seconds)[0]:.1f}"
        shown.add_row(outcome.name, percent(outcome.accuracies), percent(outcome.found), seconds)
    shown.add_section()
    shown.add_row("random picks", "", f"{100 * data.base_rate:.1f}", "")
    print_table(shown)
