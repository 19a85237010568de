"""What networks gain by seeing more than their links' averages: validation accuracy without and with it.

=============  =====================================================================  ===============================
``similar``    the ten nodes with the most similar features (``similar_weight = 1``)  :mod:`lnp.nn.similar_links`
``links``      a path from a node's row of A (``links_width = 64``)                   :mod:`lnp.nn.with_links`
``diffusion``  outputs that spread to neighbours (``diffusion_steps = 10``)           :mod:`lnp.nn.with_diffusion`
=============  =====================================================================  ===============================

    python benchmarks/network_options.py run similar --methods gcn --graphs cora,citeseer
    python benchmarks/network_options.py show links

Protocol ``paper``, all other options as by default; for lnp-channel the variants ``smooth``, ``similar`` and ``links``.
Up to 500 epochs, patience 100, as in Tables 1 and 2. A finished run is kept in ``results/network-options.csv`` at once,
and the same command goes on from there. One thread; LNP_DATA names the folder of the graphs.
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
from row_file import RunRow, load_rows, save_rows

from lnp.experiments.code_version import code_version
from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec

FILE = Path(__file__).parents[1] / "results" / "network-options.csv"
GRAPHS = ("cora", "citeseer", "pubmed", "chameleon", "squirrel", "actor")
CELLS = (("uniform-mix", 0.2), ("uniform-mix", 0.8), ("flip", 0.2), ("flip", 0.6))
SEEDS = range(2)
OPTIONS: dict[str, dict[str, object]] = {
    "none": {},
    "similar": {"similar_weight": 1.0},
    "links": {"links_width": 64},
    "diffusion": {"diffusion_steps": 10},
}
VARIANTS = {"none": "smooth", "similar": "similar", "links": "links"}
"""What takes the place of an option in lnp-channel."""


@dataclass(frozen=True, kw_only=True)
class Row(RunRow):
    """One run."""

    option: str
    validation_accuracy: float
    seconds: float
    code: str

    @property
    def place(self) -> tuple[object, ...]:
        """What it is a run of."""
        return self.method, self.dataset, self.noise, self.rate, self.seed, self.option


def train(method: str, graph: str, noise: str, rate: float, seed: int, option: str) -> Row:
    """One run, scored by the nodes that choose its epoch."""
    options = {"variant": VARIANTS[option]} if method == "lnp-channel" else OPTIONS[option]
    spec = RunSpec(
        dataset=graph,
        method=method,
        noise=noise,
        rate=rate,
        protocol="paper",
        seed=seed,
        options={"epochs": 500, **options},
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
        option=option,
        validation_accuracy=float(right.mean()),
        seconds=outcome.record.seconds,
        code=code_version(method),
    )


def run_all(option: str, methods: list[str], graphs: list[str]) -> None:
    """Every run that is missing, without the option and with it."""
    rows = load_rows(FILE, Row)
    done = {row.place for row in rows}
    for seed in SEEDS:
        for place in (
            (m, g, n, r, seed, s) for m in methods for g in graphs for n, r in CELLS for s in ("none", option)
        ):
            if place not in done:
                rows.append(train(*place))
                save_rows(
                    FILE, Row, sorted(rows, key=lambda row: str(row.place)), {"validation_accuracy": 6, "seconds": 2}
                )


def lines(option: str) -> Iterator[str]:
    """The table, one line for each method and graph that was run with the option."""
    rows = load_rows(FILE, Row)
    places = {row.place[:2] for row in rows if row.option == option}
    yield f"| method | graph | {' | '.join(f'{noise} {rate:g}' for noise, rate in CELLS)} |"
    yield f"|---|---|{'---:|' * len(CELLS)}"
    for method in dict.fromkeys(row.method for row in rows):
        for graph in (one for one in GRAPHS if (method, one) in places):
            cells = []
            for noise, rate in CELLS:
                here = [row for row in rows if row.place[:4] == (method, graph, noise, rate)]
                means = [
                    statistics.mean(100 * row.validation_accuracy for row in here if row.option == seen)
                    for seen in ("none", option)
                ]
                cells.append(f"{means[0]:.1f} → {means[1]:.1f}")
            yield f"| `{method}` | {graph} | {' | '.join(cells)} |"


def main() -> None:
    """Runs or shows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("option", choices=[option for option in OPTIONS if option != "none"])
    parser.add_argument("--methods", default="gcn", help="separated by commas")
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="separated by commas")
    chosen = parser.parse_args()
    if chosen.option not in VARIANTS and "lnp-channel" in chosen.methods.split(","):
        parser.error("lnp-channel has its diffusion in the variant smooth, which is its 'none' here")
    torch.set_num_threads(1)
    if chosen.what == "run":
        run_all(chosen.option, chosen.methods.split(","), chosen.graphs.split(","))
    print("\n".join(lines(chosen.option)))


if __name__ == "__main__":
    main()
