"""Time and memory of every method of Tables 5 and 8 on a random graph of the size of snap-patents.

A run at that size takes an hour and more, and its accuracy would mean nothing, so each stage of a method is measured
for a few epochs, as the run would do it, evaluation included. An epoch costs the median of all but the first, in which
memory is new, and the last, in which some methods look back; a run is the sum over its stages of the epochs that the
stage has by default, with the last as measured. Seconds are processor time in one thread, and each method has a process
of its own, whose peak memory counts.

    python benchmarks/patents_size.py run --methods gcn,lnp-v2     # adds to results/patents-size.csv
    python benchmarks/patents_size.py show

"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from row_file import load_rows, save_rows
from scale import finish

ROOT = Path(__file__).parents[1]
FILE = ROOT / "results" / "patents-size.csv"
DATASET = "synthetic-patents"
EPOCHS = 4
METHODS = (
    "gcn", "coteaching-plus", "gce", "apl", "dgnn", "lpm", "lnp-v1", "lnp-v2", "glc", "forward", "smodel",
    "lnp-channel", "nrgnn",
)  # fmt: skip
FIXED = {"estimate_epochs": EPOCHS, "label_epochs": EPOCHS, "fine_tune_epochs": EPOCHS, "start_epochs": 1}
"""Options of any method that say how long something takes before or after its main stage."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A stage of a method: seconds of an epoch, of the last one, and of what comes before the first of all."""

    method: str
    dataset: str
    nodes: int
    edges: int
    stage: str
    epochs_of_a_run: int
    seconds: float
    last: float
    set_up: float
    base_mib: float
    peak_mib: float
    code: str


def measure(method: str, dataset: str) -> list[Row]:
    """The stages of one method, in this process."""
    import torch

    from lnp.datasets.catalog import load_dataset
    from lnp.engine.allocator import keep_freed_memory
    from lnp.engine.batching import Batching
    from lnp.engine.fit import FitOptions, fit
    from lnp.engine.history import EpochRecord
    from lnp.engine.set_up import set_up
    from lnp.experiments.code_version import code_version
    from lnp.experiments.protocol import prepare
    from lnp.experiments.run import peak_rss_mib
    from lnp.methods.registry import make_config
    from lnp.seeds import Seeds

    torch.set_num_threads(1)
    base, seeds, loaded = peak_rss_mib(), Seeds(0), load_dataset(dataset)
    task = prepare(loaded, "large" if loaded.public_splits else "random", "flip", 0.8, seeds)
    usual = make_config(method, {})
    known = {name: value for name, value in FIXED.items() if hasattr(usual, name)}
    short = replace(usual, epochs=EPOCHS, **known)  # type: ignore[arg-type]
    started = time.process_time()
    ready = set_up(
        method,
        short,
        task.graph,
        task.observed,
        task.split.train,
        seeds,
        original=loaded.graph,
        batching=Batching(),
        keeps=True,
    )
    prepared = time.process_time() - started
    facts = {"nodes": task.graph.node_count, "edges": task.graph.edge_count}
    lengths = _epochs_by_stage(method, task.graph.class_count)
    taken: dict[str, list[float]] = defaultdict(list)
    last = time.process_time()

    def on_epoch(record: EpochRecord, _: int) -> None:
        nonlocal last
        taken[record.stage].append(time.process_time() - last)
        last = time.process_time()

    options = FitOptions(on_epoch=keep_freed_memory(ready.needed, on_epoch) if ready.needed else on_epoch)
    fit(ready.method, ready.feed, task.selection, seeds.randomness(), options)
    return [
        Row(
            method=method,
            dataset=dataset,
            **facts,
            stage=stage,
            epochs_of_a_run=lengths[stage],
            seconds=statistics.median(seconds[1:-1]),
            last=seconds[-1],
            set_up=prepared,
            base_mib=base,
            peak_mib=peak_rss_mib(),
            code=code_version(method),
        )
        for stage, seconds in taken.items()
    ]


def _epochs_by_stage(method: str, class_count: int) -> dict[str, int]:
    """How many epochs each stage has by default: asked of a method on a small graph with as tiny a share of T_C."""
    from lnp.datasets.catalog import load_dataset
    from lnp.experiments.protocol import prepare
    from lnp.methods.batch import full_batch
    from lnp.methods.registry import create_method, make_config
    from lnp.seeds import Seeds

    seeds, loaded = Seeds(0), load_dataset("synthetic-patents:nodes=60000")
    task = prepare(loaded, "large" if loaded.public_splits else "random", "flip", 0.8, seeds)
    assert loaded.graph.class_count == class_count
    batch = full_batch(task.graph, task.observed, task.split.train)
    made = create_method(method, make_config(method, {}), batch, seeds.generator("initialisation"))
    return {stage.name: stage.epochs for stage in made.stages(batch)}


def run(methods: list[str], dataset: str) -> None:
    """Measures what the file does not have, a process a method."""
    for method in methods:
        rows: list[Row] = load_rows(FILE, Row)
        if any((row.method, row.dataset) == (method, dataset) for row in rows):
            continue
        print(f"{method} …", flush=True)
        try:
            done = finish([sys.executable, __file__, "measure", "--methods", method, "--dataset", dataset])
        except RuntimeError as error:
            print(f"  not measured: {error}", flush=True)
            continue
        new = [Row(**row) for row in json.loads(done.output)]
        save_rows(FILE, Row, [*rows, *new], {"seconds": 4, "last": 4, "set_up": 2, "base_mib": 1, "peak_mib": 1})
        for row in new:
            print(f"  {row.stage}: {row.seconds:.1f} s an epoch, {row.peak_mib / 1024:.1f} GiB", flush=True)


def show(dataset: str) -> None:
    """A line a method, as Markdown: main stage and whole run beside those of GCN, and the peak."""
    by_method: dict[str, list[Row]] = defaultdict(list)
    for row in load_rows(FILE, Row):
        if row.dataset == dataset:
            by_method[row.method].append(row)
    print("| method | main stage, s an epoch | / gcn | a run by default, minutes | / gcn | peak, GiB |")
    print("|---|---:|---:|---:|---:|---:|")
    costs = {}
    for method in (name for name in METHODS if name in by_method):  # gcn, which all are compared with, is the first
        rows = by_method[method]
        main = next(row.seconds for row in rows if row.stage == "train")
        minutes = (rows[0].set_up + sum(row.seconds * (row.epochs_of_a_run - 1) + row.last for row in rows)) / 60
        costs[method] = main, minutes
        parts = [f"{cost:.1f} | {cost / of_gcn:.1f}" for cost, of_gcn in zip(costs[method], costs["gcn"], strict=True)]
        print(f"| `{method}` | {parts[0]} | {parts[1]} | {max(row.peak_mib for row in rows) / 1024:.1f} |")


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "show", "measure"))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--dataset", default=DATASET, help="another graph, such as synthetic-patents:nodes=100000")
    options = parser.parse_args()
    methods = options.methods.split(",")
    if options.command == "measure":
        print(json.dumps([asdict(row) for row in measure(methods[0], options.dataset)]))
    elif options.command == "run":
        run(methods, options.dataset)
    else:
        show(options.dataset)


if __name__ == "__main__":
    main()
