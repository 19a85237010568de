"""What scaling of sparse features serves graphs that nobody has tuned for; writes ``results/feature-scaling.csv``.

Rows that sum to 1 (``row``), the habit for bags of words, against rows of length 1 (``length``), which "auto" takes:
validation accuracy with default options, protocol ``random``, one row per run.

    python benchmarks/feature_scaling.py run --methods gcn --graphs blogcatalog,cora     # goes on where it was stopped
    python benchmarks/feature_scaling.py show                                            # the table of docs/own_data.md

LNP_DATA names the folder of the graphs.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import argparse
import itertools
import statistics
from dataclasses import dataclass
from pathlib import Path

import torch
from row_file import RunRow, load_rows, save_rows

from lnp.experiments.code_version import code_version
from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec

FILE = Path(__file__).parents[1] / "results" / "feature-scaling.csv"
GRAPHS = ("blogcatalog", "amazon-computers", "twitch-de", "cora", "citeseer", "texas")
METHODS = ("gcn", "lnp-channel")
SCALINGS = ("row", "length")
NOISES = (("flip", 0.2), ("uniform", 0.6))


@dataclass(frozen=True, kw_only=True)
class Row(RunRow):
    """One run."""

    scaling: str
    validation_accuracy: float
    seconds: float
    code: str

    @property
    def place(self) -> tuple[object, ...]:
        """What it is a run of."""
        return self.method, self.dataset, self.noise, self.rate, self.seed, self.scaling


def train(method: str, graph: str, noise: str, rate: float, seed: int, scaling: str) -> Row:
    """One run, scored by the nodes that choose its epoch."""
    where = {"method": method, "dataset": graph, "noise": noise, "rate": rate, "seed": seed, "scaling": scaling}
    outcome = run(RunSpec(protocol="random", patience=100, **where), keepers=1)  # type: ignore[arg-type]
    chosen = outcome.task.selection
    right = outcome.result.probabilities[chosen.nodes].argmax(1).numpy() == chosen.labels
    found = {"validation_accuracy": float(right.mean()), "seconds": outcome.record.seconds}
    return Row(**where, **found, code=code_version(method))  # type: ignore[arg-type]


def run_missing(methods: list[str], graphs: list[str], seeds: int) -> None:
    """Every run that is missing, one seed before the next."""
    rows = load_rows(FILE, Row)
    done = {row.place for row in rows}
    for seed, method, graph, (noise, rate), scaling in itertools.product(
        range(seeds), methods, graphs, NOISES, SCALINGS
    ):
        if (method, graph, noise, rate, seed, scaling) not in done:
            rows.append(train(method, graph, noise, rate, seed, scaling))
            save_rows(FILE, Row, rows, {"validation_accuracy": 6, "seconds": 2})


def show() -> None:
    """Prints the means over seeds, ``row`` → ``length``."""
    rows = load_rows(FILE, Row)
    columns = list(itertools.product(METHODS, NOISES))
    print(f"| graph | {' | '.join(f'`{method}`, {noise} {rate:g}' for method, (noise, rate) in columns)} |")
    print(f"|---|{'---:|' * len(columns)}")
    for graph in GRAPHS:
        cells = []
        for method, (noise, rate) in columns:
            of_cell = [row for row in rows if row.place[:4] == (method, graph, noise, rate)]
            found = [[row.validation_accuracy for row in of_cell if row.scaling == scaling] for scaling in SCALINGS]
            means = [f"{100 * statistics.fmean(values):.1f}" for values in found if values]
            cells.append(" → ".join(means) if len(means) == len(SCALINGS) else "–")
        print(f"| {graph} | {' | '.join(cells)} |")


def main() -> None:
    """Reads the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "show"))
    parser.add_argument("--methods", default=",".join(METHODS), help="only these, separated by commas")
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="only these, separated by commas")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.command == "run":
        run_missing(arguments.methods.split(","), arguments.graphs.split(","), arguments.seeds)
    show()


if __name__ == "__main__":
    main()
