"""``lnp runs``: what the store has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lnp.cli.output import AsJson, print_json, print_table, print_text, table
from lnp.cli.reproduce import StorePath

if TYPE_CHECKING:
    from lnp.experiments.store import Failure

__all__ = ["runs"]


def runs(
    store: StorePath = Path("lnp-runs.sqlite"),
    method: Annotated[str | None, typer.Option(help="Only this method.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Only this dataset.")] = None,
    noise: Annotated[str | None, typer.Option(help="Only this noise.")] = None,
    rate: Annotated[float | None, typer.Option(help="Only this noise rate.")] = None,
    protocol: Annotated[str | None, typer.Option(help="Only this protocol.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Runs that could not be finished, with the reason.")] = False,
    export: Annotated[Path | None, typer.Option(help="Write the runs to this .csv or .parquet file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Lists finished runs, or those that failed."""
    from lnp.errors import ConfigError, DataError
    from lnp.experiments.export import run_rows, write_runs
    from lnp.experiments.store import Store

    if failed and export is not None:
        raise ConfigError("Expected `--failed` or `--export`, but got both. Failed runs have no numbers to export.")
    if not store.is_file():
        raise DataError(f"Expected a store of runs at {store}, but there is none. Make one with `lnp reproduce`.")
    if method is not None:
        from lnp.methods.registry import entry

        entry(method)
    filters: dict[str, Any] = {"method": method, "dataset": dataset, "noise": noise, "rate": rate, "protocol": protocol}
    with Store(store) as opened:
        if failed:
            _show_failures([one for one in opened.failures() if _matches(one, filters)], as_json=as_json)
            return
        found = opened.runs(**filters)
    if export is not None:
        write_runs(found, export)
    if as_json:
        print_json(run_rows(found))
    elif export is not None:
        print_text(f"Wrote {len(found)} runs to {export}.")
    else:
        _show(run_rows(found))


def _matches(failure: Failure, filters: dict[str, Any]) -> bool:
    return all(value is None or failure.spec[name] == value for name, value in filters.items())


def _show(rows: list[dict[str, Any]]) -> None:
    columns = ("rate", "seed", "test accuracy, %", "detection AP, %", "seconds", "MiB")
    shown = table(
        f"{len(rows)} runs",
        *("dataset", "noise", "protocol", "backbone", "method", *columns, "finished, UTC"),
        numbers=columns,
    )
    for row in rows:
        ap = "–" if row["detection_ap"] is None else f"{100 * row['detection_ap']:.1f}"
        shown.add_row(
            *(row["dataset"], row["noise"], row["protocol"], row["backbone"], row["method"], f"{row['rate']:g}"),
            *(str(row["seed"]), f"{100 * row['test_accuracy']:.1f}", ap, f"{row['seconds']:.1f}"),
            *(f"{row['peak_mib']:.0f}", row["finished_at"][:19].replace("T", " ")),
        )
    print_table(shown)


def _show_failures(failures: list[Failure], *, as_json: bool) -> None:
    if as_json:
        print_json([{"key": one.key, "reason": one.reason, "failed_at": one.failed_at, **one.spec} for one in failures])
        return
    shown = table(f"{len(failures)} failed runs", "dataset", "noise", "rate", "protocol", "method", "seed", "reason")
    for one in failures:
        spec = one.spec
        shown.add_row(
            *(spec["dataset"], spec["noise"], f"{spec['rate']:g}", spec["protocol"], spec["method"]),
            *(str(spec["seed"]), one.reason),
        )
    print_table(shown)
