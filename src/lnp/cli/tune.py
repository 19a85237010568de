"""``lnp tune``: the best configurations for the cells of a table, never by a test label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lnp.cli.output import AsJson, print_json, print_table, print_text, table
from lnp.cli.words import duration, read_list, read_rates

if TYPE_CHECKING:
    from lnp.experiments.configs import Entry
    from lnp.experiments.tuning import OnTrial, TrialEvent
    from lnp.experiments.tuning_final import Final
    from lnp.experiments.tuning_study import StudySpec
    from lnp.experiments.tuning_trials import Trials

__all__ = ["tune"]

STOPPED, FAILED = 130, 1


def tune(
    name: Annotated[str, typer.Argument(help="table-1, …, figure-ablation, …, real-noise or all.")],
    methods: Annotated[str | None, typer.Option(help="Only these, separated by commas.")] = None,
    datasets: Annotated[str | None, typer.Option(help="Only these, separated by commas.")] = None,
    rates: Annotated[str | None, typer.Option(help="Only these noise rates, separated by commas.")] = None,
    protocol: Annotated[str, typer.Option(help="paper, random or strict: whose rule selects.")] = "paper",
    trials: Annotated[int, typer.Option(min=1, help="Configurations tried for each, the default first.")] = 12,
    seeds: Annotated[int, typer.Option(min=1, help="Runs whose mean score counts.")] = 1,
    finalists: Annotated[
        int, typer.Option(min=0, help="So many of the best, and the default, are judged again by --final-seeds.")
    ] = 0,
    final_seeds: Annotated[int, typer.Option(min=1, help="Runs whose mean score decides among finalists.")] = 3,
    patience: Annotated[
        int | None, typer.Option(min=0, help="Epochs without a better score that end a stage, not the table's number.")
    ] = None,
    wide: Annotated[bool, typer.Option("--wide", help="The paper's whole grid, widths 128 and 256 included.")] = False,
    workers: Annotated[int, typer.Option(min=1, help="Trials at a time.")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="Threads of each trial.")] = 1,
    study: Annotated[Path, typer.Option(help="The file with all trials.")] = Path("lnp-tuning.sqlite"),
    out: Annotated[Path, typer.Option(help="Where to add the winners.")] = Path("tuned.json"),
    start: Annotated[
        Path | None, typer.Option(help="Winners of other cells, a few of which are tried after the default.")
    ] = None,
    timeout: Annotated[float | None, typer.Option(min=0, help="Begin no trial after so many minutes.")] = None,
    sampler_seed: Annotated[int, typer.Option(min=0, help="Where the sampler's draws come from.")] = 0,
    any_code: Annotated[
        bool, typer.Option("--any-code", help="Go on with trials that another version of the code has done.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the trials, estimate the time, run none.")] = False,
    as_json: AsJson = False,
) -> None:
    """Searches for the best configuration of each method, dataset, noise, rate and backbone of a table.

    Every method has the same number of trials, the first of them with its default configuration. The score is that of
    the protocol's selection rule; no test label is read. The best of a dozen by one seed is often the luckiest, so with
    --finalists the best few are judged again by more seeds. Every trial is kept in the study file at once. The same
    command, stopped in whatever way, goes on where it was; with more trials it goes further. Winners are added to a
    JSON file that `lnp reproduce --config FILE` takes.

        lnp tune table-2 --methods gcn,lnp-v2 --datasets cora --trials 12 --finalists 4 --workers 2
    """
    from lnp.experiments.configs import read_entries
    from lnp.experiments.grid import Choice
    from lnp.experiments.reproduce import tables_of
    from lnp.experiments.tuning import Tuner, trials_left
    from lnp.experiments.tuning_file import TuningFile
    from lnp.experiments.tuning_final import Final, finals, run_finals
    from lnp.experiments.tuning_study import TuningOptions, find_studies
    from lnp.experiments.winners import write_winners
    from lnp.report.csv_files import require_file_path

    for path in (study, out):
        require_file_path(path)
    known_winners = () if start is None else read_entries(start)
    final = Final(finalists=finalists, seeds=final_seeds)
    choice = Choice(
        methods=read_list(methods), datasets=read_list(datasets), rates=read_rates(rates), protocol=protocol
    )
    options = TuningOptions(trials=trials, seeds=seeds, patience=patience, wide=wide, sampler_seed=sampler_seed)
    specs, unavailable = find_studies(tables_of(name), choice, options)
    if dry_run:
        file = TuningFile(study, sampler_seed) if study.is_file() else None
        known = [file.find(spec, any_code=any_code) if file else None for spec in specs]
        plan = _summary(name, specs, known, trials, workers, unavailable)
        _report_plan(plan | _plan_of_finals(specs, final, workers, plan), as_json=as_json)
        return
    file = TuningFile(study, sampler_seed, known_winners)
    studies = [file.open(spec, any_code=any_code) for spec in specs]
    summary = _summary(name, specs, studies, trials, workers, unavailable)
    tuner = Tuner(trials=trials, workers=workers, threads=threads, seconds=None if timeout is None else 60 * timeout)
    judged: list[Trials] = []
    try:
        with _shown(name, summary["left"], out, trials) as on_trial:
            tuner.run(studies, on_trial)
        if finalists and not sum(trials_left(one, trials) for one in studies):
            judged = finals(studies, file, final)
            left = sum(trials_left(one, len(one.spec.finalists) + 1) for one in judged)
            with _shown(f"{name}, finals", left, out, 1) as on_trial:
                run_finals(judged, tuner, on_trial)
    except KeyboardInterrupt:
        write_winners(judged or studies, out, trials=1 if judged else trials)
        typer.echo(f"Stopped. Finished trials are in {study}; the same command goes on from there.", err=True)
        raise typer.Exit(STOPPED) from None
    found = write_winners(judged or studies, out, trials=1 if judged else trials)
    _report(summary, studies, found, trials, out, as_json=as_json)
    if len(found) < len(studies) and timeout is None:
        raise typer.Exit(FAILED)


@contextmanager
def _shown(name: str, left: int, out: Path, trials: int) -> Iterator[OnTrial]:
    """A progress bar, and what is to be called after every trial: winners of a study that is done are written."""
    from lnp.cli.progress import step_progress
    from lnp.experiments.winners import write_winners

    with step_progress(name, left) as advance:

        def on_trial(event: TrialEvent) -> None:
            if event.study_done:
                write_winners([event.trials], out, trials=trials)
            score = "" if event.value is None else f" {event.value:.4f}"
            advance(f"{event.trials.spec.label}: {event.kind}{score}", int(event.kind != "retried"))

        yield on_trial


def _summary(
    name: str,
    specs: list[StudySpec],
    studies: Sequence[Trials | None],
    trials: int,
    workers: int,
    unavailable: dict[str, str],
) -> dict[str, Any]:
    from lnp.experiments.tuning import trials_left

    left, seconds = 0, 0.0
    for spec, study in zip(specs, studies, strict=True):
        count = trials if study is None else trials_left(study, trials)
        left += count
        seconds += count * ((study and study.mean_seconds()) or spec.guessed_seconds)
    return {
        "name": name,
        "studies": len(specs),
        "trials": trials * len(specs),
        "left": left,
        "estimated_seconds": round(seconds / workers, 1),
        "unavailable": unavailable,
    }


def _plan_of_finals(specs: list[StudySpec], final: Final, workers: int, plan: dict[str, Any]) -> dict[str, Any]:
    """At most so many trials, and the time with them."""
    if final.finalists == 0:
        return {}
    runs = (final.finalists + 1) * final.seeds
    seconds = sum(runs * spec.guessed_seconds / spec.seeds for spec in specs) / workers
    return {
        "final_trials": (final.finalists + 1) * len(specs),
        "estimated_seconds": round(plan["estimated_seconds"] + seconds, 1),
    }


def _report_plan(summary: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(summary)
        return
    _say_unavailable(summary)
    then = f"then up to {summary['final_trials']} in finals, " if "final_trials" in summary else ""
    print_text(
        f"{summary['name']}: {summary['studies']} studies, {summary['trials']} trials, {summary['left']} left, {then}"
        f"about {duration(summary['estimated_seconds'])}."
    )


def _report(
    summary: dict[str, Any], studies: list[Trials], found: list[Entry], trials: int, out: Path, *, as_json: bool
) -> None:
    from lnp.experiments.tuning import trials_left

    left = sum(trials_left(study, trials) for study in studies)
    failures = {study.spec.label: study.reasons() for study in studies if study.best() is None}
    if as_json:
        print_json(summary | {"left": left, "winners": found, "without_score": failures, "out": str(out)})
        return
    _say_unavailable(summary)
    shown = table(None, "study", "score", "default", "trials", "options", numbers=("score", "default", "trials"))
    for entry in found:
        how = entry["found"]
        backbone = f" with {entry['backbone']}" if "backbone" in entry else ""
        what = f"{entry['method']}{backbone} on {entry['dataset']}, {entry['noise']} {entry['rate']:g}"
        changes = ", ".join(f"{option}={value}" for option, value in entry["options"].items()) or "the default"
        default = "" if how["default_score"] is None else f"{how['default_score']:.4f}"
        shown.add_row(what, f"{how['score']:.4f}", default, str(how["trials"]), changes)
    print_table(shown)
    for label, reasons in failures.items():
        print_text(f"No score: {label}. {reasons[0] if reasons else 'No trial was finished.'}")
    print_text(f"{summary['name']}: {len(studies)} studies, {left} trials left. Winners are in {out}.")


def _say_unavailable(summary: dict[str, Any]) -> None:
    for dataset, reason in summary["unavailable"].items():
        print_text(f"Left out: {dataset}. {reason}")
