"""``lnp report``: every table and figure of the paper beside our runs, as a page and as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lnp.cli.output import AsJson, print_json, print_text
from lnp.cli.progress import step_progress

if TYPE_CHECKING:
    from lnp.report.records import Results

__all__ = ["report"]


def report(
    results: Annotated[Path, typer.Option(help="Folder of records, TABLE.PROTOCOL.csv.")] = Path("results"),
    store: Annotated[
        Path | None, typer.Option(help="A store of runs, read besides; it also knows how much memory was used.")
    ] = None,
    any_code: Annotated[
        bool, typer.Option("--any-code", help="Take runs from the store that another version of the code has done.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for index.html and figures/.")] = Path("report"),
    markdown: Annotated[Path, typer.Option(help="The Markdown file; its pictures go to figures/ beside it.")] = Path(
        "docs/results.md"
    ),
    as_json: AsJson = False,
) -> None:
    """Writes what is reported beside what was reproduced: tables, ranks, figures, and which observations hold.

    Everything is computed from the records. The same records give the same files.
    """
    from lnp.report.results import analyse
    from lnp.report.results_files import check_targets, write_results
    from lnp.report.results_summary import summary_sentences

    check_targets(out, markdown)
    analysis = analyse(_read(results, store, any_code=any_code))
    with step_progress("drawing", len(analysis.all_figures)) as advance:
        paths = write_results(analysis, out, markdown, lambda name: advance(name, 1))
    summary = summary_sentences(analysis)
    if as_json:
        said = {
            "runs": analysis.runs,
            "protocols": list(analysis.protocols),
            "reached": {one.protocol: len(one.reached) for one in analysis.reaches},
            "missed": {one.protocol: len(one.missed) for one in analysis.reaches},
            "not_run": analysis.not_run,
            "summary": summary,
            "notes": analysis.notes,
            "files": [str(path) for path in paths],
        }
        print_json(said)
        return
    for note in analysis.notes:
        print_text(f"Note: {note}")
    for sentence in summary:
        print_text(f"- {sentence}")
    print_text(f"Wrote {paths[0]}, {paths[1]} and {len(paths) - 2} pictures. Open {paths[0]} in a browser.")


def _read(results: Path, store: Path | None, *, any_code: bool) -> Results:
    from lnp.errors import ConfigError, DataError
    from lnp.report.records import Results, read_results

    if store is None:
        if any_code:
            raise ConfigError("Expected `--any-code` together with `--store`, but got no store.")
        return read_results(results)
    if not store.is_file():
        raise DataError(f"Expected a store of runs at {store}, but there is none. Make one with `lnp reproduce`.")
    from lnp.experiments.store import Store
    from lnp.report.stored_records import merge, stored_results

    with Store(store) as opened:
        stored = stored_results(opened, any_code=any_code)
    return merge(read_results(results) if results.is_dir() else Results(()), stored)
