"""``lnp reproduce``: the paper's tables and figures, run again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lnp.cli.output import AsJson, print_json, print_table, print_text, table
from lnp.cli.progress import step_progress
from lnp.cli.words import duration, read_list, read_rates

if TYPE_CHECKING:
    from lnp.experiments.jobs import Event, Executor, OnEvent
    from lnp.experiments.reproduce import Outcome

__all__ = ["StorePath", "reproduce"]

StorePath = Annotated[Path, typer.Option("--store", help="The file with finished runs.")]
STOPPED, FAILED = 130, 1


def reproduce(
    name: Annotated[str, typer.Argument(help="table-1, …, figure-ablation, …, real-noise or all.")],
    methods: Annotated[str | None, typer.Option(help="Only these, separated by commas.")] = None,
    datasets: Annotated[str | None, typer.Option(help="Only these, separated by commas.")] = None,
    rates: Annotated[str | None, typer.Option(help="Only these noise rates, separated by commas.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="How many seeds instead of the table's own number.")] = None,
    protocol: Annotated[str, typer.Option(help="paper, random or strict.")] = "paper",
    config: Annotated[str, typer.Option(help="tuned, default, or a JSON file that lnp tune wrote.")] = "tuned",
    workers: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="Threads of each run.")] = 1,
    ray: Annotated[str | None, typer.Option(help="Run on a Ray cluster: auto, an address, or local.")] = None,
    store: StorePath = Path("lnp-runs.sqlite"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was stopped; always so.")] = True,
    any_code: Annotated[
        bool, typer.Option("--any-code", help="Count runs as done that another version of the code has done.")
    ] = False,
    results: Annotated[
        Path | None, typer.Option(help="Add what is finished to TABLE.PROTOCOL.csv in this folder.")
    ] = None,
    skip_recorded: Annotated[
        bool, typer.Option("--skip-recorded", help="Leave out runs that the files of --results have already.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the runs, estimate the time, run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Runs what is missing of a table or figure of the paper.

    Every finished run is kept in the store at once. The same command, stopped in whatever way, goes on where it was;
    several at a time share the work.
    """
    from lnp.experiments.complete import Question, note_complete, runs_if_complete

    asked: dict[str, Any] = {
        "methods": read_list(methods),
        "datasets": read_list(datasets),
        "rates": read_rates(rates),
        "seeds": seeds,
        "protocol": protocol,
        "config": config,
    }
    if skip_recorded and results is None:
        raise typer.BadParameter("Expected `--results` with the folder of the records to skip.")
    if results is not None and results.exists() and not results.is_dir():
        raise typer.BadParameter(f"Expected `--results` to be a folder of records, but {results} is a file.")
    question = Question(name, asked, any_code)
    runs = runs_if_complete(store, question)
    if runs is not None and results is None:  # before torch is loaded, which takes longer than all the rest
        _report(_summary(name, runs, 0), None, 0, [], dry_run=dry_run, as_json=as_json)
        return

    from lnp.experiments.export import export_results
    from lnp.experiments.grid import Choice
    from lnp.experiments.recorded import recorded_in
    from lnp.experiments.reproduce import make_plan, tables_of
    from lnp.experiments.reproduce import reproduce as carry_out
    from lnp.experiments.store import Store

    choice, tables, outcome = Choice(**asked), tables_of(name), None
    is_recorded = recorded_in(results) if results is not None and skip_recorded else None
    with Store(store) as opened:
        plan = make_plan(tables, choice, opened, any_code=any_code, is_recorded=is_recorded)
        before = _summary(name, plan.total, len(plan.jobs), plan.seconds(opened, workers), plan.unavailable)
        before |= {"recorded": plan.recorded} if skip_recorded else {}
        if plan.jobs and not dry_run:
            with _progress(name, len(plan.jobs)) as on_event:
                try:
                    outcome = carry_out(plan, _executor(workers, threads, ray), opened, on_event)
                except KeyboardInterrupt:
                    if results is not None:  # what is finished is finished
                        plan = make_plan(tables, choice, opened, any_code=any_code, is_recorded=is_recorded)
                        export_results(plan, opened, results)
                    _say_how_to_go_on(store, results)
                    raise typer.Exit(STOPPED) from None
            plan = make_plan(tables, choice, opened, any_code=any_code, is_recorded=is_recorded)
        if not skip_recorded:  # else it is not the store that has them
            note_complete(opened, question, plan)
        files = [] if results is None or dry_run else export_results(plan, opened, results)
    _report(before, outcome, len(plan.jobs), files, dry_run=dry_run, as_json=as_json)
    if outcome is not None and outcome.failed:
        raise typer.Exit(FAILED)


def _executor(workers: int, threads: int, ray: str | None) -> Executor:
    if ray is not None:
        from lnp.experiments.ray_executor import RayExecutor

        return RayExecutor(ray, workers if workers > 1 else None, threads)
    from lnp.experiments.executors import ProcessExecutor

    return ProcessExecutor(workers, threads)


def _summary(
    name: str, runs: int, left: int, seconds: float = 0.0, unavailable: dict[str, str] | None = None
) -> dict[str, Any]:
    return {
        "name": name,
        "runs": runs,
        "done": runs - left,
        "left": left,
        "estimated_seconds": round(seconds, 1),
        "unavailable": unavailable or {},
    }


def _report(
    before: dict[str, Any], outcome: Outcome | None, left: int, files: list[Path], *, dry_run: bool, as_json: bool
) -> None:
    """Says what there was to do and what came of it; ``outcome`` is ``None`` where nothing was run."""
    finished, elsewhere, failures = (outcome.finished, outcome.elsewhere, outcome.failed) if outcome else (0, 0, [])
    if as_json:
        failed = [{"key": one.job.identity.key, "reason": one.reason} for one in failures]
        after = {"finished": finished, "elsewhere": elsewhere, "failed": failed, "left": left}
        print_json(before if dry_run else before | after | {"files": [str(file) for file in files]})
        return
    for dataset, reason in before["unavailable"].items():
        print_text(f"Left out: {dataset}. {reason}")
    recorded = f" {before['recorded']} more are recorded." if "recorded" in before else ""
    if dry_run:
        print_text(
            f"{before['name']}: {before['runs']} runs, {before['done']} done, {before['left']} left, about "
            f"{duration(before['estimated_seconds'])}.{recorded}"
        )
    else:
        others = f", {elsewhere} by others" if elsewhere else ""
        done = before["runs"] - left
        print_text(f"{before['name']}: {before['runs']} runs, {done} done ({finished} now{others}).{recorded}")
    if failures:
        shown = table(f"{len(failures)} failed; the same command tries them again", "run", "reason")
        for event in failures:
            spec = event.job.spec
            shown.add_row(f"{spec.method}, {spec.dataset}, {spec.noise} {spec.rate:g}, seed {spec.seed}", event.reason)
        print_table(shown)
    for file in files:
        print_text(f"Wrote {file}.")


@contextmanager
def _progress(label: str, total: int) -> Iterator[OnEvent]:
    """A bar on standard error, with runs done, left, and the time; a line a minute where that is no terminal."""
    with step_progress(label, total) as advance:

        def on_event(event: Event) -> None:
            spec = event.job.spec
            what = f"{spec.method} on {spec.dataset}, {spec.rate:g}, seed {spec.seed} {event.kind}"
            advance(what, int(event.kind != "retried"))

        yield on_event


def _say_how_to_go_on(store: Path, results: Path | None) -> None:
    from lnp.experiments.store import Store

    with Store(store) as opened:
        kept = len(opened)
    records = "" if results is None else f", and those of this command in {results}"
    typer.echo(f"Stopped. {kept} finished runs are in {store}{records}; the same command goes on from there.", err=True)
