"""Which labels should choose the epoch on one's own graph; writes ``results/own-labels.csv``, one row per run.

Four trusted nodes of each class, and so many others with labels that may be wrong: is it better to set a third of the
trusted ones aside (``trusted``) or a fifth of the others, behind a noise matrix learnt from the rest (``val-channel``)?
``lnp.engine.suitable_rule`` follows the answer.

    python benchmarks/own_labels.py run --minutes 20     # draw 0 of every cell first; goes on where it was stopped
    python benchmarks/own_labels.py show                 # the table, as Markdown

Default configurations, accuracy on all nodes without a label. LNP_DATA names the folder of the graphs.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import argparse
import itertools
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from row_file import load_rows, save_rows

from lnp import LNPClassifier
from lnp.datasets.catalog import load_dataset
from lnp.datasets.dataset import Dataset
from lnp.experiments.code_version import code_version
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.noise.registry import apply_noise
from lnp.seeds import Seeds

FILE = Path(__file__).parents[1] / "results" / "own-labels.csv"
GRAPHS = ("cora", "citeseer", "chameleon")
METHODS = ("gcn", "lnp-v2")
RULES = ("trusted", "val-channel")
SIZES = (10, 25, 60)
NOISES = (("uniform", 0.3), ("flip", 0.4), ("flip", 0.7))
DRAWS = 2
TRUSTED = 4


@dataclass(frozen=True, kw_only=True)
class Row:
    """One run; ``labels`` is the number of untrusted labels a class."""

    graph: str
    method: str
    labels: int
    noise: str
    rate: float
    draw: int
    selection: str
    accuracy: float
    seconds: float
    code: str

    @property
    def cell(self) -> tuple[object, ...]:
        """What determines it."""
        return self.graph, self.method, self.labels, self.noise, self.rate, self.draw, self.selection


def observed(dataset: Dataset, count: int, noise: str, rate: float, draw: int) -> ObservedLabels:
    """As many labels of each class as asked for, with noise, and four that are right."""
    truth, graph, seeds = dataset.truth.labels, dataset.graph, Seeds(draw)
    order = seeds.generator("split").permutation(truth.size)
    chosen = np.stack([order[truth[order] == label][: TRUSTED + count] for label in range(graph.class_count)])
    trusted = chosen[:, :TRUSTED].ravel()
    generator = seeds.generator("noise")
    noisy = apply_noise(
        noise, rate, truth, chosen[:, TRUSTED:].ravel(), graph.features, graph.class_count, generator
    ).labels
    noisy[trusted] = truth[trusted]
    return ObservedLabels(noisy, np.isin(np.arange(truth.size), trusted), class_count=graph.class_count)


def cells() -> Iterator[tuple[str, str, int, str, float, int, str]]:
    """All runs, one draw before the next."""
    for draw, graph, size, (noise, rate), method, rule in itertools.product(
        range(DRAWS), GRAPHS, SIZES, NOISES, METHODS, RULES
    ):
        yield graph, method, size, noise, rate, draw, rule


def run_missing(minutes: float) -> None:
    """Runs what is missing until the processor time is spent."""
    rows: list[Row] = load_rows(FILE, Row)
    done = {row.cell for row in rows}
    for cell in cells():
        if cell in done:
            continue
        if time.process_time() > 60 * minutes:
            print("The time is spent; the same command goes on.")
            return
        graph, method, size, noise, rate, draw, rule = cell
        started, dataset = time.process_time(), load_dataset(graph)
        labels = observed(dataset, size, noise, rate, draw)
        classifier = LNPClassifier(method=method, selection=rule, seed=draw).fit(dataset.graph, labels)
        accuracy = classifier.score(dataset.truth, np.flatnonzero(labels.given == UNKNOWN))
        rows.append(
            Row(
                graph=graph,
                method=method,
                labels=size,
                noise=noise,
                rate=rate,
                draw=draw,
                selection=rule,
                accuracy=accuracy,
                seconds=time.process_time() - started,
                code=code_version(method),
            )
        )
        save_rows(FILE, Row, rows, {"seconds": 2, "accuracy": 5})
        print(*cell, f"{100 * accuracy:.1f}", flush=True)


def show() -> None:
    """The mean over noises and draws, a line for each graph and number of labels."""
    rows: list[Row] = load_rows(FILE, Row)
    columns = list(itertools.product(METHODS, RULES))
    print(f"| graph | labels a class | {' | '.join(f'`{method}`, `{rule}`' for method, rule in columns)} |")
    print(f"|---|---:|{'---:|' * len(columns)}")
    for graph, size in itertools.product(GRAPHS, SIZES):
        means = []
        for method, rule in columns:
            asked = (graph, method, size, rule)
            found = [r.accuracy for r in rows if (r.graph, r.method, r.labels, r.selection) == asked]
            means.append(f"{100 * statistics.fmean(found):.1f}" if found else "–")
        print(f"| {graph} | {size} | {' | '.join(means)} |")


def main() -> None:
    """Reads the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "show"))
    parser.add_argument("--minutes", type=float, default=float("inf"), help="processor time to spend at most")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.command == "run":
        run_missing(arguments.minutes)
    show()


if __name__ == "__main__":
    main()
