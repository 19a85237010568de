"""``lnp train``: one method on one noisy graph, your own or a dataset."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lnp.cli.output import AsJson, print_json, print_table, print_text, table

if TYPE_CHECKING:
    from lnp.experiments.spec import RunSpec

__all__ = ["train"]


def train(
    graph: Annotated[
        str | None, typer.Argument(metavar="GRAPH", help="A folder of `lnp import`, or a graph of `lnp datasets`.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="The same, as an option; options of it after a colon.")] = None,
    method: Annotated[
        str | None,
        typer.Option(help="A method of `lnp methods`. [lnp-v2; own graph: lnp-channel, or gce without trust]"),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="Dataset: none, uniform, uniform-mix, flip, flip-released, pair, instance or matrix:FILE. [flip]"
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Dataset: the share of labels to corrupt, from 0 to 1. [0.4]")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="Dataset: strict, random, paper, planetoid or large. [strict]")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds: 0, 1, ….")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(help="Keep models and result here; on a dataset the same command goes on where it was stopped."),
    ] = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            help="Own graph: a label file, for instance the verdicts of a review; repeatable, the last counts."
        ),
    ] = None,
    backbone: Annotated[str | None, typer.Option(help="gcn, h2gcn, mlp or sign.")] = None,
    preset: Annotated[str | None, typer.Option(help="A named configuration of the method.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="OPTION=VALUE", help="An option of the method; repeatable.")
    ] = None,
    selection: Annotated[
        str | None,
        typer.Option(
            help="val-channel, trusted, val-noisy, val-given, val-likelihood, last; a dataset: val-clean. [what suits]"
        ),
    ] = None,
    scaling: Annotated[str | None, typer.Option(help="none, row, length, standard or auto. [what suits]")] = None,
    trusted: Annotated[
        int | None, typer.Option(help="Dataset: trusted labels, shared out evenly among the classes. [25]")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs of the main stage.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, ….")] = "cpu",
    together: Annotated[
        bool,
        typer.Option(
            "--together", help="Dataset: train the seeds in lock-step on all cores, equal up to rounding and faster."
        ),
    ] = False,
    threads: Annotated[int, typer.Option(min=1, help="Threads to compute with.")] = 1,
    batch: Annotated[
        str | None, typer.Option(help="full, neighbours or clusters: train on the whole graph or on parts. [full]")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Neighbours: nodes of a batch, besides the neighbours. [1024]")
    ] = None,
    fan_out: Annotated[
        str | None,
        typer.Option(
            help="Neighbours: how many to draw per node, one number or one per layer, e.g. 10,10; or all. [10]"
        ),
    ] = None,
    clusters: Annotated[
        int | None, typer.Option(min=1, help="Clusters: how many to cut the graph into. [one to 160 nodes]")
    ] = None,
    clusters_per_batch: Annotated[int | None, typer.Option(min=1, help="Clusters: how many make a batch. [20]")] = None,
    distributed: Annotated[
        bool,
        typer.Option(
            "--distributed", help="Dataset: share the run among the processes that torchrun starts (backbone sign)."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Trains on your own graph, or measures a method on a dataset.

    On a folder of `lnp import` it learns from the given labels, chooses the epoch without any truth, and keeps the
    model in the folder that --out names. On a dataset it corrupts the labels, trains on them, and scores by the truth.

    A graph too large to be computed with at once is trained in parts: --batch neighbours --batch-size 1024
    --fan-out 10,10, or --batch clusters. Predictions are made with all neighbours either way.

    With --json, a dataset gives test_accuracy, noise_detection.ap, noise_detection.auroc, epochs, seconds,
    seconds_per_epoch and peak_rss_mib as lists with one value per seed; realised_rate is the mean over the seeds.
    """
    from lnp.engine.allocator import ask_for_large_pages

    if not distributed:
        ask_for_large_pages()

    import torch

    from lnp.cli.batches import batch_text
    from lnp.cli.train_own import own_folder, train_own_graph
    from lnp.engine.device import check_device
    from lnp.errors import ConfigError

    if (graph is None) == (dataset is None):
        got = "none" if graph is None else f"both {graph!r} and --dataset {dataset!r}"
        raise ConfigError(f"Expected one graph to train on, but got {got}. Name a folder of `lnp import` or a dataset.")
    name = graph if graph is not None else str(dataset)
    options = _options(settings or [], backbone=backbone, epochs=epochs)
    for_dataset = {"noise": noise, "rate": rate, "protocol": protocol, "trusted": trusted}
    chosen = {option: value for option, value in for_dataset.items() if value is not None}
    batches = batch_text(batch, batch_size, fan_out, clusters, clusters_per_batch)
    if distributed and batches != "full":
        raise ConfigError("Expected `--distributed` or `--batch`, but got both: each process has a part of its own.")
    if distributed and together:
        raise ConfigError("Expected `--distributed` or `--together`, but got both: processes share one seed at a time.")
    check_device(device)
    torch.set_num_threads(threads)
    folder = own_folder(name)
    if folder is not None:
        if distributed:
            raise ConfigError(f"Expected `--distributed` with a dataset, but {name} is your own graph.")
        if together:
            raise ConfigError(f"Expected `--together` with a dataset, but {name} is your own graph.")
        if chosen:
            raise ConfigError(
                f"Expected `--{min(chosen)}` with a dataset, whose truth is known, but {name} is your own graph."
            )
        train_own_graph(
            folder,
            out,
            labels or [],
            method=method,
            selection=selection,
            seeds=seeds,
            settings={
                "preset": preset,
                "options": options,
                "scaling": scaling or "auto",
                "device": device,
                "batch": batches,
                "verbose": True,
            },
            as_json=as_json,
        )
        return
    if labels:
        raise ConfigError("Expected `--labels` with your own graph, but got it with a dataset, whose truth is known.")
    if batches != "full":
        chosen["batch"] = batches
    _train_on_dataset(
        name, method, chosen, preset, options, selection, scaling, seeds, out, device, as_json, distributed, together
    )


def _train_on_dataset(
    name: str,
    method: str | None,
    chosen: dict[str, Any],
    preset: str | None,
    options: dict[str, object],
    selection: str | None,
    scaling: str | None,
    seeds: int,
    out: Path | None,
    device: str,
    as_json: bool,
    distributed: bool,
    together: bool,
) -> None:
    from lnp.engine.progress import epoch_progress
    from lnp.experiments.run import run
    from lnp.experiments.spec import RunSpec
    from lnp.experiments.training import summarise, train_seeds

    if "trusted" in chosen:
        chosen["trusted_size"] = chosen.pop("trusted")
    spec = RunSpec(
        dataset=name,
        method=method or "lnp-v2",
        preset=preset,
        options=options,
        selection=selection,
        scaling=scaling,
        **chosen,
    )
    said: list[str] = []

    def announce(line: str) -> None:
        if not said:  # the same for every seed
            said.append(line)
            typer.echo(line, err=True)

    if distributed:
        from lnp.cli.train_together import train_with_others

        shared = train_with_others(spec, seeds, out, device, announce)
        if shared is None:  # process 0 speaks for all
            return
        records = shared
    else:
        runner = partial(run, announce=announce, keepers=1)
        watched = partial(train_seeds, folder=out, device=device, watch=epoch_progress, runner=runner)
        records = watched(spec, seeds, together=together)
    if as_json:
        print_json(summarise(records))
        return
    _show(spec, records)
    if out is not None:
        print_text(f"Kept in {out}. Next: lnp predict {out} --out predictions.csv")


def _options(settings: list[str], **named: object) -> dict[str, object]:
    from lnp.errors import ConfigError

    options = {name: value for name, value in named.items() if value is not None}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ConfigError(f"Expected `--set` to be written option=value, but got {setting!r}.")
        if name in options:
            raise ConfigError(f"Expected `{name}` once, but got it twice.")
        options[name] = value
    return options


def _show(spec: RunSpec, records: list[dict[str, Any]]) -> None:
    from lnp.report.statistics import mean_and_sd, percent

    numbers = ("test\naccuracy, %", "detection\nAP, %", "detection\nAUROC, %", "epochs", "seconds")
    title = f"{spec.method} on {spec.dataset}, {records[0]['noise']} noise {spec.rate:g}, protocol {spec.protocol}"
    if spec.selection is not None:
        title += f", epoch chosen by {records[0]['selection']}"
    shown = table(title, "seed", *numbers, numbers=numbers)
    keys = ("test_accuracy", "detection_ap", "detection_auroc")
    for record in records:
        scores = ("–" if record[key] is None else percent([record[key]]) for key in keys)
        shown.add_row(str(record["spec"]["seed"]), *scores, str(record["epochs"]), f"{record['seconds']:.1f}")
    if len(records) > 1:
        columns = ([record[key] for record in records if record[key] is not None] for key in keys)
        seconds = mean_and_sd([record["seconds"] for record in records])[0]
        scores = (percent(column) if column else "–" for column in columns)
        shown.add_section()
        shown.add_row("mean ± sd", *scores, "", f"{seconds:.1f}")
    print_table(shown)
