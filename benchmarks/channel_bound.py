"""Where lnp-channel misses the published LNP: its T, its judgement of labels, the noise, or the task.

The network of lnp-channel, in the variant that the run itself chose, is trained again and told more each time:

===========  ==========================================================================================================
``none``     nothing: the run as ``results/`` has it
``T``        the matrix that the noise was drawn from
``right``    which given labels are right; it learns from those alone, so no judgement of labels could be better
``clean``    the true label of every node of T_N: the same network without any noise
===========  ==========================================================================================================

The first that is above the larger of the published figures of LNP-v1 and v2 names the limit: ``chance`` (the run itself
is, with these seeds), ``T``, ``judgement``, ``noise`` (only without wrong labels), ``task`` (not even then). Under
``strict``, where the published figures do not apply, the mean of its own records under ``paper`` takes their place. All
else is the run: split, noise, seed, configuration, choice of epoch. ``results/channel-bound.csv`` has a row per run.

    python benchmarks/channel_bound.py run --datasets cora,citeseer --tables table-1 --seeds 2 --minutes 20
    python benchmarks/channel_bound.py show --markdown

One thread; LNP_DATA names the folder of the graphs.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import argparse
import csv
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from row_file import load_rows, save_rows

from lnp.datasets.catalog import load_dataset
from lnp.engine.fit import FitOptions, fit
from lnp.experiments.code_version import code_version
from lnp.experiments.grid import Choice, GridRun, expand
from lnp.experiments.tables import load_table
from lnp.experiments.tasks import task_of
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.channel.model import Channel
from lnp.methods.registry import create_method
from lnp.metrics.accuracy import accuracy
from lnp.seeds import Seeds

FILE = Path(__file__).parents[1] / "results" / "channel-bound.csv"
METHOD = "lnp-channel"
TABLES = ("table-1", "table-2")
DATASETS = ("cora", "citeseer", "chameleon", "squirrel", "actor")
RATES = (0.2, 0.4, 0.6, 0.8)
LIMITS = {"none": "chance", "T": "T", "right": "judgement", "clean": "noise"}
"""What the network is told → what is the limit if that is the first to suffice."""

TOLD = {"paper": tuple(LIMITS), "strict": ("none", "T")}
"""What it is told under each protocol. Labels that are right cannot be judged by a rule that expects wrong ones."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One run; ``seconds`` are processor time."""

    table: str
    protocol: str
    dataset: str
    noise: str
    rate: float
    seed: int
    told: str
    variant: str
    test_accuracy: float
    seconds: float
    config_hash: str
    code: str

    @property
    def place(self) -> tuple[object, ...]:
        """What it is a run of."""
        return place(self.table, self.protocol, self.dataset, self.rate, self.seed, self.told)


def place(table: str, protocol: str, dataset: str, rate: float, seed: int, told: str) -> tuple[object, ...]:
    """Equal for runs that are told the same of the same cell and seed."""
    return table, protocol, dataset, rate, seed, told


def published(table: str, dataset: str, rate: float) -> float:
    """The larger of the figures of LNP-v1 and v2."""
    cells = load_table(table).published
    figures = [cells[dataset, rate, method].value for method in ("lnp-v1", "lnp-v2")]
    return max(value for value in figures if value is not None)


def to_reach(row: Row) -> float:
    """What the cell of a row is compared with."""
    if row.protocol == "paper":
        return published(row.table, row.dataset, row.rate)
    with (FILE.parent / f"{row.table}.paper.csv").open(encoding="utf-8", newline="") as lines:
        records = csv.DictReader(lines)
        cell = (METHOD, row.dataset, row.rate)
        found = [one for one in records if (one["method"], one["dataset"], float(one["rate"])) == cell]
    return 100 * statistics.fmean(float(one["test_accuracy"]) for one in found)


def runs(tables: Sequence[str], choice: Choice) -> Iterator[GridRun]:
    """The runs of the tables, seed by seed."""
    for table in tables:
        yield from expand(load_table(table), choice)


def train(run: GridRun, told: str, variant: str) -> Row:
    """One run. The only place that sees the truth."""
    spec = run.spec
    started, seeds, dataset = time.process_time(), Seeds(spec.seed), load_dataset(spec.dataset)
    task = task_of(spec, dataset, seeds)
    truth, observed = dataset.truth.labels, task.observed
    if told in ("right", "clean"):
        learnt = np.isin(np.arange(truth.size), task.split.train)
        wrong = learnt & (observed.given != truth)
        labels = np.where(wrong, truth if told == "clean" else UNKNOWN, observed.given)
        observed = ObservedLabels(labels, observed.trusted, class_count=observed.class_count)
    config = spec.config()
    if told != "none":  # nothing is left to find out about T
        config = replace(config, variant=variant, estimate_epochs=0)  # type: ignore[call-arg]
    batch = full_batch(task.graph, observed, task.split.train)
    method = create_method(METHOD, config, batch, seeds.generator("initialisation"))
    assert isinstance(method, Channel)
    if told == "T":
        assert task.corruption.matrix is not None
        method.transition.copy_(torch.from_numpy(task.corruption.matrix))
        method.findings.own_rows.fill_(True)
    result = fit(method, batch, task.selection, seeds.randomness(), FitOptions(patience=spec.patience))
    test = task.split.test
    return Row(
        table=run.table,
        protocol=run.protocol,
        dataset=spec.dataset,
        noise=spec.noise,
        rate=spec.rate,
        seed=spec.seed,
        told=told,
        variant=method.variant,
        test_accuracy=accuracy(truth[test], result.probabilities.argmax(dim=1).numpy()[test]),
        seconds=time.process_time() - started,
        config_hash=spec.config_hash,
        code=code_version(METHOD),
    )


def run_missing(wanted: Iterator[GridRun], minutes: float) -> None:
    """Runs what is missing, or was run with another configuration, until the processor time is spent."""
    rows: list[Row] = load_rows(FILE, Row)
    for run in wanted:
        spec, variant = run.spec, ""
        for told in TOLD[run.protocol]:
            here = place(run.table, run.protocol, spec.dataset, spec.rate, spec.seed, told)
            old = [row for row in rows if row.place == here]
            if not old or old[0].config_hash != spec.config_hash:
                if time.process_time() > 60 * minutes:
                    print("The time is spent; the same command goes on.")
                    return
                new = train(run, told, variant)
                rows = [row for row in rows if row not in old] + [new]
                save_rows(FILE, Row, rows, {"test_accuracy": 6, "seconds": 2})
                print(*here, new.variant, f"{100 * new.test_accuracy:.1f}  {new.seconds:.1f} s", flush=True)
                old = [new]
            variant = variant or old[0].variant  # the one of "none", which comes first


def line(rows: Sequence[Row]) -> list[str]:
    """A cell of the table, means over the seeds that have all runs."""
    by_seed: dict[int, dict[str, float]] = {}
    for row in rows:
        by_seed.setdefault(row.seed, {})[row.told] = 100 * row.test_accuracy
    first = rows[0]
    whole = [found for found in by_seed.values() if set(found) >= set(TOLD[first.protocol])]
    if not whole:
        return []
    means = {told: statistics.fmean(found[told] for found in whole) for told in TOLD[first.protocol]}
    needed = to_reach(first)
    limit = next((LIMITS[told] for told, mean in means.items() if mean > needed), "task" if len(means) > 2 else "")
    where = [
        first.table,
        first.protocol,
        first.dataset,
        f"{first.noise} {first.rate:g}",
        f"{needed:.1f}",
        str(len(whole)),
    ]
    return [*where, *(f"{means[told]:.1f}" if told in means else "–" for told in LIMITS), limit]


def show(markdown: bool) -> None:
    """Prints a line a cell."""
    cells: dict[tuple[object, ...], list[Row]] = {}
    for row in load_rows(FILE, Row):
        cells.setdefault((row.table, row.protocol, row.dataset, row.rate), []).append(row)
    head = ["table", "protocol", "graph", "noise", "to reach", "seeds", *LIMITS, "limit"]
    lines = [found for place in sorted(cells, key=str) if (found := line(cells[place]))]
    if markdown:
        print("| " + " | ".join(head) + " |")
        print("|---|---|---|---|" + "---:|" * (len(head) - 5) + "---|")
    for one in lines if markdown else [head, *lines]:
        print("| " + " | ".join(one) + " |" if markdown else "  ".join(text.ljust(16) for text in one).rstrip())


def main() -> None:
    """Reads the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "show"))
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--rates", default=",".join(map(str, RATES)))
    parser.add_argument("--protocol", default="paper", choices=("paper", "strict"))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="processor time to spend at most")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.command == "run":
        datasets, tables, rates = (text.split(",") for text in (arguments.datasets, arguments.tables, arguments.rates))
        choice = Choice(
            methods=[METHOD],
            datasets=datasets,
            rates=[float(rate) for rate in rates],
            seeds=arguments.seeds,
            protocol=arguments.protocol,
        )
        run_missing(runs(tables, choice), arguments.minutes)
    show(arguments.markdown)


if __name__ == "__main__":
    main()
