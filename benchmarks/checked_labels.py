"""What it is worth to an audit to know what checked labels had been; writes ``results/checked-labels.csv``.

Somebody who knows the truth checks 25 or 50 labels at random. All others are scored as networks see them, and again in
the light of what was found (:mod:`lnp.audit.recalibration`).

    python benchmarks/checked_labels.py run      # goes on where it was stopped
    python benchmarks/checked_labels.py show     # the table of docs/audit.md

LNP_DATA names the folder of the graphs. Seeds 100 and 101, as for all options of the audit; the form of the correction
was chosen on them, with other checked labels. The truth is used here only, to check and to measure.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import argparse
import itertools
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from row_file import load_rows, save_rows

import lnp
from lnp.audit.calibration import quality_calibration_error
from lnp.audit.cross_fit import audit_network, cross_fit
from lnp.audit.scores import in_the_light_of_checks
from lnp.datasets.catalog import load_dataset
from lnp.experiments.code_version import ROOTS, digest_modules
from lnp.experiments.protocol import prepare
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.registry import make_config
from lnp.metrics.detection import noise_detection
from lnp.seeds import Seeds

FILE = Path(__file__).parents[1] / "results" / "checked-labels.csv"
CELLS = (
    ("cora", "annotations", 0.0),
    ("cora", "flip", 0.4),
    ("cora", "uniform-mix", 0.4),
    ("citeseer", "flip", 0.2),
    ("chameleon", "flip", 0.4),
    ("chameleon", "uniform-mix", 0.4),
    ("actor", "flip", 0.2),
)
CHECKED = (25, 50)
SEEDS = (100, 101)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One audit; shares of wrong labels, and how far the quality is off before and after."""

    dataset: str
    noise: str
    rate: float
    seed: int
    checked: int
    wrong_among_checked: float
    wrong: float
    estimated_before: float
    estimated_after: float
    error_before: float
    error_after: float
    ap: float
    seconds: float
    code: str

    @property
    def cell(self) -> tuple[object, ...]:
        """What determines it."""
        return self.dataset, self.noise, self.rate, self.seed, self.checked


def measure(dataset: str, noise: str, rate: float, seed: int, checked: int) -> Row:
    """Checks some labels of the training nodes, none of which is trusted before, and audits the rest."""
    started, data = time.process_time(), load_dataset(dataset)
    task, truth = prepare(data, "strict", noise, rate, Seeds(seed), selection="last"), data.truth.labels
    noisy = np.intersect1d(task.split.train, task.observed.noisy_nodes)
    given = np.full(truth.size, UNKNOWN)
    given[noisy] = task.observed.given[noisy]
    nodes = Seeds(seed).generator("checked").choice(noisy, checked, replace=False)
    observed = ObservedLabels(given, class_count=task.graph.class_count).checked(nodes, truth[nodes])
    batch = full_batch(task.graph, observed, task.split.train)
    before = cross_fit(batch, audit_network(make_config("gcn")), Seeds(seed), before=observed.before)
    after = in_the_light_of_checks(before, batch, observed.before)
    right = batch.noisy_labels.numpy() == truth[batch.noisy.numpy()]
    return Row(
        dataset=dataset,
        noise=noise,
        rate=rate,
        seed=seed,
        checked=checked,
        wrong_among_checked=float((given[nodes] != truth[nodes]).mean()),
        wrong=float(1 - right.mean()),
        estimated_before=float(1 - before.quality.mean()),
        estimated_after=float(1 - after.quality.mean()),
        error_before=quality_calibration_error(before.quality, right),
        error_after=quality_calibration_error(after.quality, right),
        ap=noise_detection(after.quality, ~right).ap or 0.0,
        seconds=time.process_time() - started,
        code=digest_modules(("lnp.audit.scores", *ROOTS), Path(lnp.__file__).parent),
    )


def run() -> None:
    """What is missing."""
    rows = load_rows(FILE, Row)
    done = {row.cell for row in rows}
    digits = {name: 4 for name, kind in Row.__annotations__.items() if kind == "float"}
    for seed, (dataset, noise, rate), checked in itertools.product(SEEDS, CELLS, CHECKED):
        if (dataset, noise, rate, seed, checked) not in done:
            rows.append(measure(dataset, noise, rate, seed, checked))
            save_rows(FILE, Row, sorted(rows, key=lambda row: CELLS.index(row.cell[:3])), digits)
            print(rows[-1], flush=True)


def lines() -> Iterator[str]:
    """A line for each cell, mean over seeds."""
    cells: dict[tuple[str, str, float, int], list[Row]] = defaultdict(list)
    for row in load_rows(FILE, Row):
        cells[row.dataset, row.noise, row.rate, row.checked].append(row)
    yield "| labels | checked | seeds | wrong | estimated, before → after | calibration error, before → after |"
    yield "|---|---:|---:|---:|---:|---:|"
    for (dataset, noise, rate, checked), rows in cells.items():

        def mean(name: str, rows: list[Row] = rows) -> float:
            return statistics.fmean(getattr(row, name) for row in rows)

        label = f"{dataset}, {noise}" + (f" {rate:g}" if rate else "")
        pairs = [f"{mean(f'{name}_before'):.2f} → {mean(f'{name}_after'):.2f}" for name in ("estimated", "error")]
        yield f"| {label} | {checked} | {len(rows)} | {mean('wrong'):.2f} | {pairs[0]} | {pairs[1]} |"


def main() -> None:
    """Reads what to do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("run", "show"))
    torch.set_num_threads(1)
    if parser.parse_args().part == "run":
        run()
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
