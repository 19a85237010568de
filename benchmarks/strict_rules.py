"""Who should choose the epoch when no clean label is to be had; writes ``results/strict-rules.csv``, one row per run.

Labels as under the protocol ``strict``, default configurations with up to 500 epochs, the patience of the tables; the
epoch is chosen by each rule in turn. What is compared is accuracy on the *validation* nodes, so that a rule can be
chosen by it and no test label has a say.

    python benchmarks/strict_rules.py run --minutes 30     # goes on where it was stopped
    python benchmarks/strict_rules.py show                 # the table of docs/selection.md
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import argparse
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from row_file import RunRow, load_rows, save_rows

from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec
from lnp.metrics.accuracy import accuracy

FILE = Path(__file__).parents[1] / "results" / "strict-rules.csv"
METHODS = ("gcn", "lnp-v1", "lnp-v2")
DATASETS = ("cora", "chameleon", "citeseer")
NOISES = (("uniform-mix", 0.4), ("uniform-mix", 0.8), ("flip", 0.4), ("flip", 0.6), ("flip", 0.8))
RULES = ("trusted", "val-given", "val-channel", "val-clean")


@dataclass(frozen=True, kw_only=True)
class Row(RunRow):
    """One run."""

    selection: str
    validation_accuracy: float

    @property
    def key(self) -> tuple[object, ...]:
        """Everything but what was found."""
        return self.method, self.dataset, self.noise, self.rate, self.seed, self.selection


def cells(seeds: int) -> Iterator[RunSpec]:
    """Every run, all of one seed before the next, all of one noise together: they share what is learnt of it."""
    for seed in range(seeds):
        for dataset in DATASETS:
            for noise, rate in NOISES:
                for method in METHODS:
                    one = RunSpec(
                        dataset=dataset,
                        method=method,
                        noise=noise,
                        rate=rate,
                        seed=seed,
                        options={"epochs": 500},
                        patience=100,
                    )
                    yield from (replace(one, selection=rule) for rule in RULES)


def measure(spec: RunSpec) -> Row:
    """Runs it, and asks how often it is right about validation nodes that nobody trusts."""
    outcome = run(spec)
    task = outcome.task
    asked = np.setdiff1d(task.split.validation, task.observed.trusted_nodes)
    predicted = outcome.result.probabilities.argmax(dim=1).numpy()
    where = {name: getattr(spec, name) for name in ("method", "dataset", "noise", "rate", "seed", "selection")}
    return Row(**where, validation_accuracy=accuracy(outcome.dataset.truth.labels[asked], predicted[asked]))


def run_missing(seeds: int, minutes: float) -> None:
    """Runs what is missing until the processor time is spent."""
    rows = load_rows(FILE, Row)
    known = {row.key for row in rows}
    for spec in cells(seeds):
        key = (spec.method, spec.dataset, spec.noise, spec.rate, spec.seed, spec.selection)
        if key in known:
            continue
        if time.process_time() > 60 * minutes:
            print("The time is spent; the same command goes on.")
            return
        rows.append(measure(spec))
        save_rows(FILE, Row, rows, {"validation_accuracy": 4})
        print(*key, f"{100 * rows[-1].validation_accuracy:.1f}", flush=True)


def show() -> None:
    """Prints the mean of every method and of every noise, over the runs that have all rules."""
    rows = load_rows(FILE, Row)
    found: dict[tuple[object, ...], dict[str, float]] = {}
    for row in rows:
        found.setdefault(row.key[:-1], {})[row.selection] = 100 * row.validation_accuracy
    whole = {key: scores for key, scores in found.items() if len(scores) == len(RULES)}
    groups = {f"`{method}`": [one for key, one in whole.items() if key[0] == method] for method in METHODS}
    for noise, rate in NOISES:
        groups[f"all, {noise} {rate:g}"] = [one for key, one in whole.items() if key[2:4] == (noise, rate)]
    print("| | runs | " + " | ".join(f"`{rule}`" for rule in RULES) + " |")
    print("|---|" + "---:|" * (len(RULES) + 1))
    for name, chosen in groups.items():
        if chosen:
            means = [f"{statistics.fmean(one[rule] for one in chosen):.1f}" for rule in RULES]
            print("| " + " | ".join([name, str(len(chosen)), *means]) + " |")


def main() -> None:
    """Reads the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "show"))
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="processor time to spend at most")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.command == "run":
        run_missing(arguments.seeds, arguments.minutes)
    show()


if __name__ == "__main__":
    main()
