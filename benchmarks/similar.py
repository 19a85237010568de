"""What links between nodes with similar features are worth: validation accuracy without and with them.

    python benchmarks/similar.py run --methods gcn --graphs cora,citeseer
    python benchmarks/similar.py show

Protocol ``paper``, default options: ``similar_weight`` 0 and 1, for lnp-channel the variants ``smooth`` and
``similar``. Up to 500 epochs, patience 100, as in Tables 1 and 2. A finished run is kept in ``results/similar.csv`` at
once, and the same command goes on from there. One thread; LNP_DATA names the folder of the graphs.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import argparse
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from row_file import load_rows, save_rows

from lnp.experiments.code_version import code_version
from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec

FILE = Path(__file__).parents[1] / "results" / "similar.csv"
GRAPHS = ("cora", "citeseer", "pubmed", "chameleon", "squirrel", "actor")
CELLS = (("uniform-mix", 0.2), ("uniform-mix", 0.8), ("flip", 0.2), ("flip", 0.6))
SEEDS = range(2)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One run."""

    method: str
    dataset: str
    noise: str
    rate: float
    seed: int
    similar: int
    validation_accuracy: float
    seconds: float
    code: str

    @property
    def place(self) -> tuple[object, ...]:
        """What it is a run of."""
        return self.method, self.dataset, self.noise, self.rate, self.seed, self.similar


def options(method: str, similar: int) -> dict[str, object]:
    """The default but for the links."""
    if method == "lnp-channel":
        return {"epochs": 500, "variant": "similar" if similar else "smooth"}
    return {"epochs": 500, "similar_weight": float(similar)}


def train(method: str, graph: str, noise: str, rate: float, seed: int, similar: int) -> Row:
    """One run, scored by the nodes that choose its epoch."""
    spec = RunSpec(
        dataset=graph,
        method=method,
        noise=noise,
        rate=rate,
        protocol="paper",
        seed=seed,
        options=options(method, similar),
        patience=100,
    )
    outcome = run(spec)
    chosen = outcome.task.selection
    right = outcome.result.probabilities[chosen.nodes].argmax(1).numpy() == chosen.labels
    return Row(
        method=method,
        dataset=graph,
        noise=noise,
        rate=rate,
        seed=seed,
        similar=similar,
        validation_accuracy=float(right.mean()),
        seconds=outcome.record.seconds,
        code=code_version(method),
    )


def run_all(methods: list[str], graphs: list[str]) -> None:
    """Every run that is missing."""
    rows = load_rows(FILE, Row)
    done = {row.place for row in rows}
    for seed in SEEDS:
        for place in ((m, g, n, r, seed, s) for m in methods for g in graphs for n, r in CELLS for s in (0, 1)):
            if place not in done:
                rows.append(train(*place))
                save_rows(
                    FILE, Row, sorted(rows, key=lambda row: str(row.place)), {"validation_accuracy": 6, "seconds": 2}
                )


def lines() -> Iterator[str]:
    """The table, one line for each method and graph."""
    rows = load_rows(FILE, Row)
    yield f"| method | graph | {' | '.join(f'{noise} {rate:g}' for noise, rate in CELLS)} |"
    yield f"|---|---|{'---:|' * len(CELLS)}"
    for method in dict.fromkeys(row.method for row in rows):
        for graph in (one for one in GRAPHS if any(row.place[:2] == (method, one) for row in rows)):
            cells = []
            for noise, rate in CELLS:
                here = [row for row in rows if row.place[:4] == (method, graph, noise, rate)]
                means = [
                    statistics.mean(100 * row.validation_accuracy for row in here if row.similar == similar)
                    for similar in (0, 1)
                ]
                cells.append(f"{means[0]:.1f} → {means[1]:.1f}")
            yield f"| `{method}` | {graph} | {' | '.join(cells)} |"


def main() -> None:
    """Runs or shows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("--methods", default="gcn", help="separated by commas")
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="separated by commas")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.what == "run":
        run_all(chosen.methods.split(","), chosen.graphs.split(","))
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
