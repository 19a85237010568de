"""How near the T that lnp-channel learns is to the noise, and what it makes of it; writes ``results/transition.csv``.

Default options, protocol ``strict``, accuracy on validation nodes. Beside flip noise, where every class loses as many
labels, there are three kinds with a rate for each class, between 10 and 65 %: all to the next class (``next``), to two
others (``two``), or to all others alike (``all``).

    python benchmarks/transition.py run --minutes 20      # what the present code has not run; goes on where it stopped
    python benchmarks/transition.py show OLD NEW          # two versions of the code side by side, as Markdown

A version is what ``lnp.experiments.code_version`` says, or as much of it as is needed. With another revision in a
worktree, ``PYTHONPATH=WORKTREE/src`` runs that one. LNP_DATA names the folder of the graphs.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from row_file import load_rows, save_rows

from lnp.datasets.catalog import load_dataset
from lnp.engine.fit import FitOptions, fit
from lnp.experiments.code_version import code_version
from lnp.experiments.protocol import prepare
from lnp.methods.batch import full_batch
from lnp.methods.channel.config import ChannelConfig
from lnp.methods.channel.model import Channel
from lnp.metrics.accuracy import accuracy
from lnp.seeds import Seeds

FILE = Path(__file__).parents[1] / "results" / "transition.csv"
METHOD = "lnp-channel"
KEPT = (0.9, 0.35, 0.6, 0.8, 0.4, 0.7, 0.5)
"""What share of its labels each class keeps where rates differ."""

PLACES = {"next": {1: 1.0}, "two": {1: 0.6, 3: 0.4}}
"""How many classes further on the others go, and how many of them."""

CELLS = (
    *(("flip", rate, graph, range(3)) for rate in (0.4, 0.6, 0.8) for graph in ("cora", "citeseer", "chameleon")),
    ("flip", 0.2, "cora", range(2)),
    ("flip", 0.6, "actor", range(2)),
    *((noise, 0.0, graph, range(2)) for noise in ("next", "two", "all") for graph in ("cora", "citeseer", "chameleon")),
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One run; ``distance`` is the mean over classes of the sum of absolute differences between T and the noise."""

    code: str
    dataset: str
    noise: str
    rate: float
    seed: int
    accuracy: float
    distance: float
    variant: str
    gain: float

    @property
    def place(self) -> tuple[object, ...]:
        """What it is a run of."""
        return self.dataset, self.noise, self.rate, self.seed


def uneven(noise: str, classes: int) -> np.ndarray:
    """The matrix of a kind of noise with a rate for each class."""
    kept = np.array(KEPT[:classes])
    places = (1 - np.eye(classes)) / (classes - 1)
    if noise != "all":
        moved = [share * np.roll(np.eye(classes), step, axis=1) for step, share in PLACES[noise].items()]
        places = np.sum(moved, axis=0)
    return np.diag(kept) + (1 - kept)[:, None] * places


def train(noise: str, rate: float, graph: str, seed: int) -> Row:
    """One run. The only place that sees the truth."""
    seeds, dataset = Seeds(seed), load_dataset(graph)
    with tempfile.TemporaryDirectory() as folder:
        name = noise
        if noise != "flip":
            name = f"matrix:{folder}/noise.csv"
            np.savetxt(f"{folder}/noise.csv", uneven(noise, dataset.graph.class_count), delimiter=",")
        task = prepare(dataset, "strict", name, rate, seeds, selection="val-given")
    batch = full_batch(task.graph, task.observed, task.split.train)
    method = Channel(ChannelConfig(), batch, seeds.generator("initialisation"))
    result = fit(method, batch, task.selection, seeds.randomness(), FitOptions(patience=100))
    nodes = np.setdiff1d(task.split.validation, task.observed.trusted_nodes)
    predicted = result.probabilities.argmax(dim=1).numpy()
    difference = np.abs(method.transition.numpy() - task.corruption.realised_matrix)
    return Row(
        code=code_version(METHOD),
        dataset=graph,
        noise=noise,
        rate=rate,
        seed=seed,
        accuracy=accuracy(dataset.truth.labels[nodes], predicted[nodes]),
        distance=float(difference.sum(axis=1).mean()),
        variant=method.variant,
        gain=float(method.findings.gain),
    )


def cells() -> Iterator[tuple[str, float, str, int]]:
    """All runs."""
    for noise, rate, graph, seeds in CELLS:
        for seed in seeds:
            yield noise, rate, graph, seed


def run_missing(minutes: float) -> None:
    """Runs what the present code has not, until the processor time is spent."""
    rows: list[Row] = load_rows(FILE, Row)
    code = code_version(METHOD)
    done = {row.place for row in rows if row.code == code}
    for noise, rate, graph, seed in cells():
        if (graph, noise, rate, seed) in done:
            continue
        if time.process_time() > 60 * minutes:
            print("The time is spent; the same command goes on.")
            return
        rows.append(train(noise, rate, graph, seed))
        save_rows(FILE, Row, rows, {"accuracy": 3, "distance": 2, "gain": 3})
        print(rows[-1], flush=True)


def show(old: str, new: str) -> None:
    """A line for each graph and noise that both versions have run: means over the draws of both."""
    rows: list[Row] = load_rows(FILE, Row)
    before, after = ({row.place: row for row in rows if row.code.startswith(code)} for code in (old, new))
    print("| graph | noise | draws | T off by | accuracy, % |\n|---|---|---:|---|---|")
    for noise, rate, graph, _ in CELLS:
        pairs = [
            (before[p], after[p])
            for p in sorted(before.keys() & after.keys(), key=str)
            if p[:3] == (graph, noise, rate)
        ]
        if pairs:
            off, right = (
                [statistics.fmean(getattr(row, name) for row in side) for side in zip(*pairs, strict=True)]
                for name in ("distance", "accuracy")
            )
            what = f"{noise} {rate:g}" if rate else f"a rate for each class, {noise}"
            shown = f"{off[0]:.2f} → {off[1]:.2f} | {100 * right[0]:.1f} → {100 * right[1]:.1f}"
            print(f"| {graph} | {what} | {len(pairs)} | {shown} |")


def main() -> None:
    """Reads the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run").add_argument("--minutes", type=float, default=float("inf"), help="processor time")
    shown = commands.add_parser("show")
    shown.add_argument("old")
    shown.add_argument("new")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.command == "run":
        run_missing(arguments.minutes)
    else:
        show(arguments.old, arguments.new)


if __name__ == "__main__":
    main()
