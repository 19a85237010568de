"""``lnp train``: one method on one noisy graph, several seeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lnp.cli.output import AsJson, print_json, print_table, print_text, table

if TYPE_CHECKING:
    from lnp.experiments.spec import RunSpec

__all__ = ["train"]


def train(
    dataset: Annotated[str, typer.Option(help="A graph of `lnp datasets`, options after a colon.")],
    method: Annotated[str, typer.Option(help="A method of `lnp methods`.")] = "lnp-v2",
    noise: Annotated[
        str, typer.Option(help="none, uniform, uniform-mix, flip, flip-released, pair, instance or matrix:FILE.")
    ] = "flip",
    rate: Annotated[float, typer.Option(help="The share of labels to corrupt, from 0 to 1.")] = 0.4,
    protocol: Annotated[str, typer.Option(help="strict, random, paper, planetoid or large.")] = "strict",
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds: 0, 1, ….")] = 1,
    out: Annotated[
        Path | None, typer.Option(help="Keep models and result here; the same command goes on where it was stopped.")
    ] = None,
    backbone: Annotated[str | None, typer.Option(help="gcn, h2gcn or mlp.")] = None,
    preset: Annotated[str | None, typer.Option(help="A named configuration of the method.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="OPTION=VALUE", help="An option of the method; repeatable.")
    ] = None,
    selection: Annotated[
        str | None, typer.Option(help="trusted, val-noisy, val-clean or last, instead of the protocol's own.")
    ] = None,
    scaling: Annotated[
        str | None, typer.Option(help="none, row, standard or auto, instead of the dataset's own.")
    ] = None,
    trusted: Annotated[int, typer.Option(help="Trusted labels, shared out evenly among the classes.")] = 25,
    epochs: Annotated[int | None, typer.Option(help="Epochs of the main stage.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, ….")] = "cpu",
    together: Annotated[
        bool, typer.Option("--together/--one-by-one", help="Train the seeds in lock-step where the method allows.")
    ] = True,
    threads: Annotated[int, typer.Option(min=1, help="Threads to compute with.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Corrupts the labels of a graph, trains on them, and scores by the truth.

    With --json, test_accuracy, noise_detection.ap, noise_detection.auroc, epochs, seconds, seconds_per_epoch and
    peak_rss_mib are lists with one value per seed; realised_rate is the mean over the seeds.
    """
    import torch

    from lnp.engine.device import check_device
    from lnp.engine.progress import epoch_progress
    from lnp.experiments.spec import RunSpec
    from lnp.experiments.training import summarise, train_seeds

    spec = RunSpec(
        dataset=dataset,
        method=method,
        noise=noise,
        rate=rate,
        protocol=protocol,
        preset=preset,
        options=_options(settings or [], backbone=backbone, epochs=epochs),
        trusted_size=trusted,
        selection=selection,
        scaling=scaling,
    )
    check_device(device)
    torch.set_num_threads(threads)
    records = train_seeds(spec, seeds, folder=out, device=device, watch=epoch_progress, together=together)
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
