"""Where LNP misses a published figure: the method, or its judgement of labels.

An oracle knows which labels of T_N are right. It gives LNP the weights w = 1 for right and 0 for wrong labels, and so
also a T_C that grows by exactly the right ones (any δ below 1). Everything else is the run that missed: same
configuration, seeds, split and choice of epoch. An oracle that reaches the figure says that LNP's own weights are the
limit; one that does not says that the networks, or their tuning, are.

    python benchmarks/oracle.py --cells lnp-v1:cora:flip:0.8 lnp-v2:actor:uniform-mix:0.2
    python benchmarks/oracle.py                    # every cell of Tables 1 and 2 that misses, from results/

Writes results/oracle.csv.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnp.datasets.catalog import load_dataset
from lnp.engine.files import write_text
from lnp.engine.fit import FitOptions, fit
from lnp.experiments.configs import shipped_config
from lnp.experiments.protocol import prepare
from lnp.experiments.spec import RunSpec
from lnp.experiments.tables import load_table
from lnp.methods.batch import full_batch
from lnp.methods.lnp import model
from lnp.methods.registry import create_method
from lnp.metrics.accuracy import accuracy
from lnp.seeds import Generator, Seeds

ROOT = Path(__file__).parents[1]
TABLES = {"uniform-mix": "table-1", "flip": "table-2"}
METHODS = ("lnp-v1", "lnp-v2")


@dataclass(frozen=True)
class Cell:
    """A cell of Table 1 or 2."""

    method: str
    dataset: str
    noise: str
    rate: float

    @classmethod
    def parse(cls, text: str) -> Cell:
        """From "lnp-v1:cora:flip:0.8"."""
        method, dataset, noise, rate = text.split(":")
        return cls(method, dataset, noise, float(rate))


def missed_cells(results: Path) -> Iterator[tuple[Cell, float]]:
    """The cells whose mean stays below the published figure minus its standard deviation, with that mean."""
    for table in map(load_table, TABLES.values()):
        path = results / f"{table.name}.paper.csv"
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["method"] in METHODS]
        groups: dict[Cell, list[float]] = {}
        for row in rows:
            cell = Cell(row["method"], row["dataset"], row["noise"], float(row["rate"]))
            groups.setdefault(cell, []).append(100 * float(row["test_accuracy"]))
        for cell, values in groups.items():
            published = table.published.get((cell.dataset, cell.rate, cell.method))
            if published is None or published.value is None:
                continue
            if float(np.mean(values)) < published.value - (published.deviation or 0):
                yield cell, float(np.mean(values))


def oracle_accuracy(cell: Cell, seed: int) -> float:
    """Test accuracy in per cent of one run whose weights are the truth."""
    table = load_table(TABLES[cell.noise])
    options = shipped_config(cell.method, cell.dataset, cell.noise, cell.rate, protocol="paper") or {}
    spec = RunSpec(**vars(cell), protocol="paper", seed=seed, options=options, patience=table.patience)
    seeds, dataset = Seeds(seed), load_dataset(cell.dataset)
    task = prepare(dataset, spec.protocol, spec.noise, spec.rate, seeds, trusted_size=spec.trusted_size)
    batch = full_batch(task.graph, task.observed, task.split.train)
    truth = dataset.truth.labels
    right = torch.from_numpy((truth[batch.noisy.numpy()] == batch.noisy_labels.numpy()).astype(np.float32))

    def known(probabilities: Tensor, labels: Tensor, kind: str, generator: Generator, extremes: object) -> Tensor:
        return right

    with patch.object(model, "label_similarity", known):  # the only place where truth enters
        method = create_method(spec.method, spec.config(), batch, seeds.generator("initialisation"))
        result = fit(method, batch, task.selection, seeds.randomness(), FitOptions(patience=spec.patience))
    predicted: NDArray[np.int64] = result.probabilities.argmax(dim=1).numpy()
    return 100 * accuracy(truth[task.split.test], predicted[task.split.test])


def main() -> None:
    """Prints and writes one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", nargs="*", help="method:dataset:noise:rate")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.cells:
        cells: list[tuple[Cell, float | None]] = [(Cell.parse(text), None) for text in arguments.cells]
    else:
        cells = list(missed_cells(ROOT / "results"))
    lines = ["method,dataset,noise,rate,published,reproduced,oracle,seeds"]
    print(lines[0])
    for cell, reproduced in cells:
        published = load_table(TABLES[cell.noise]).published[(cell.dataset, cell.rate, cell.method)].value
        oracle = float(np.mean([oracle_accuracy(cell, seed) for seed in range(arguments.seeds)]))
        ours = "" if reproduced is None else f"{reproduced:.2f}"
        line = f"{cell.method},{cell.dataset},{cell.noise},{cell.rate:g},{published:.2f},{ours},{oracle:.2f}"
        lines.append(f"{line},{arguments.seeds}")
        print(lines[-1], flush=True)
    write_text(ROOT / "results" / "oracle.csv", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
