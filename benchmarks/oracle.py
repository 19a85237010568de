"""Where LNP misses a published figure: its judgement of labels, its tuning, its networks, or the task.

An oracle knows which given labels of T_N are right. It may tell LNP two things: the weights w, 1 for right and 0 for
wrong labels, in place of similarity and odds; and which nodes join T_C, exactly those with right labels. All else is
the run that missed: seed, split, noise, configuration, choice of epoch. Writes ``results/oracle.csv``, a row per run.

    python benchmarks/oracle.py run --most 10 --minutes 20               # cells of results/ that miss by most
    python benchmarks/oracle.py run --cells lnp-v1:cora:flip:0.8 lnp-v2:actor:uniform-mix:0.2
    python benchmarks/oracle.py show                                     # the table, also as --markdown
    python benchmarks/oracle.py check                                    # that without an oracle it is the run it says

For each cell: LNP as it is (``none``), with true ``T_C``, with true ``w``, and with ``both``. What a λ1 was tuned for,
labels that may be wrong, is not the case under the oracle, so ``both`` is also run with other λ1 and with the default
configuration, and ``show`` takes the one whose kept epoch has the best score on the validation nodes. ``gcn`` is one
plain network that learns from T_C and the right labels of T_N alone: what the same labels are worth without LNP.

The first that reaches the published figure minus its standard deviation names the limit: ``chance`` (LNP itself does,
with this seed), ``judgement`` (a true T_C, true weights, or both), ``tuning`` (both, with another configuration),
``method`` (the plain network), ``task`` (nothing did). One thread; LNP_DATA names the folder of the graphs.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import argparse
import csv
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
from row_file import RunRow, load_rows, save_rows
from torch import Tensor

from lnp.datasets.catalog import load_dataset
from lnp.engine.fit import FitOptions, FitResult, fit
from lnp.experiments.code_version import code_version
from lnp.experiments.configs import shipped_config
from lnp.experiments.protocol import prepare
from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec
from lnp.experiments.tables import load_table
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import Batch, full_batch
from lnp.methods.lnp.model import LNP
from lnp.methods.registry import create_method
from lnp.metrics.accuracy import accuracy
from lnp.seeds import Randomness, Seeds

RESULTS = Path(__file__).parents[1] / "results"
FILE = RESULTS / "oracle.csv"
TABLES = {"uniform-mix": "table-1", "flip": "table-2"}
METHODS = ("lnp-v1", "lnp-v2")
LAMBDAS = (1.0, 10.0, 100.0)
TELLS: dict[str, tuple[str, ...]] = {"none": (), "T_C": ("T_C",), "w": ("w",), "both": ("w", "T_C")}
"""Oracle → what it tells LNP."""


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

    @property
    def published(self) -> tuple[float, float]:
        """The figure and its standard deviation."""
        found = load_table(TABLES[self.noise]).published.get((self.dataset, self.rate, self.method))
        if found is None or found.value is None:
            raise SystemExit(f"Expected a cell of Table 1 or 2 that has a figure, but got {self}.")
        return found.value, found.deviation or 0.0

    @property
    def needed(self) -> float:
        """The figure minus its standard deviation."""
        value, deviation = self.published
        return value - deviation


@dataclass(frozen=True, kw_only=True)
class Row(RunRow):
    """One run: ``score`` is that of the kept epoch on the validation nodes; ``seconds`` are processor time."""

    oracle: str
    configuration: str
    score: float
    test_accuracy: float
    epochs: int
    seconds: float
    config_hash: str
    code: str

    @property
    def cell(self) -> Cell:
        """Where it belongs."""
        return Cell(self.method, self.dataset, self.noise, self.rate)


def reproduced() -> dict[Cell, float]:
    """Mean test accuracy of LNP in per cent, by the records in ``results/``."""
    groups: dict[Cell, list[float]] = {}
    for name in TABLES.values():
        with (RESULTS / f"{name}.paper.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["method"] in METHODS:
                    cell = Cell(row["method"], row["dataset"], row["noise"], float(row["rate"]))
                    groups.setdefault(cell, []).append(100 * float(row["test_accuracy"]))
    return {cell: statistics.fmean(values) for cell, values in groups.items()}


def missed_cells() -> list[Cell]:
    """The cells whose mean stays below what is needed, the furthest first."""
    short = {cell: cell.needed - mean for cell, mean in reproduced().items()}
    return sorted((cell for cell in short if short[cell] > 0), key=lambda cell: -short[cell])


def runs_of(cell: Cell, seed: int) -> Iterator[tuple[str, str, RunSpec]]:
    """Oracle, name of the configuration, and the run, all that a cell needs."""
    table = load_table(TABLES[cell.noise])
    where = {"dataset": cell.dataset, "noise": cell.noise, "rate": cell.rate, "seed": seed, "patience": table.patience}
    fixed: dict[str, object] = {} if table.epochs is None else {"epochs": table.epochs}
    tuned = fixed | (shipped_config(cell.method, cell.dataset, cell.noise, cell.rate, protocol="paper") or {})
    lnp = RunSpec(method=cell.method, protocol="paper", options=tuned, **where)  # type: ignore[arg-type]
    for oracle in TELLS:
        yield oracle, "tuned", lnp
    for value in LAMBDAS:
        yield "both", f"tuned, λ1 = {value:g}", replace(lnp, options={**tuned, "lambda_1": value})
    for normalisation in ("row", "symmetric"):
        plain = fixed | {"normalisation": normalisation}
        yield "both", f"default, {normalisation}, λ1 = 10", replace(lnp, options={**plain, "lambda_1": 10.0})
        yield "gcn", normalisation, replace(lnp, method="clean-only", options=plain)


def train(spec: RunSpec, oracle: str) -> tuple[FitResult, float]:
    """Trains with an oracle; the result, and its test accuracy. The only place that sees the truth."""
    seeds, dataset = Seeds(spec.seed), load_dataset(spec.dataset)
    task = prepare(dataset, spec.protocol, spec.noise, spec.rate, seeds, trusted_size=spec.trusted_size)
    truth, observed = dataset.truth.labels, task.observed
    if oracle == "gcn":  # clean-only reads T_C alone
        learnt = np.isin(np.arange(truth.size), task.split.train) & (observed.given == truth)
        observed = ObservedLabels(observed.given, observed.trusted | learnt, class_count=observed.class_count)
    batch = full_batch(task.graph, observed, task.split.train)
    method = create_method(spec.method, spec.config(), batch, seeds.generator("initialisation"))
    right = torch.from_numpy(truth)[batch.noisy] == batch.noisy_labels
    with told(method, right, TELLS[oracle]) if isinstance(method, LNP) else nullcontext():
        result = fit(method, batch, task.selection, seeds.randomness(), FitOptions(patience=spec.patience))
    test = task.split.test
    return result, accuracy(truth[test], result.probabilities.argmax(dim=1).numpy()[test])


@contextmanager
def told(method: LNP, right: Tensor, what: Sequence[str]) -> Iterator[None]:
    """LNP that is told which given labels of T_N are right, as weights, as members of T_C, as both or not at all."""

    def weigh(batch: Batch, predictions: Tensor, randomness: Randomness) -> Tensor:
        weights = LNP.weigh(method, batch, predictions, randomness)
        if "T_C" in what:
            method.trusted_set.propose(batch.noisy, right, 0.5)
        return right.to(weights.dtype) if "w" in what else weights

    with patch.object(method, "weigh", weigh):
        yield


def measure(cell: Cell, oracle: str, configuration: str, spec: RunSpec) -> Row:
    """One run."""
    started = time.process_time()
    result, right = train(spec, oracle)
    return Row(
        **asdict(cell),
        seed=spec.seed,
        oracle=oracle,
        configuration=configuration,
        score=[record.score for record in result.history if record.selected][-1],
        test_accuracy=right,
        epochs=result.epochs,
        seconds=time.process_time() - started,
        config_hash=spec.config_hash,
        code=code_version(spec.method),
    )


def load() -> list[Row]:
    """What is in the file."""
    return load_rows(FILE, Row)


def save(rows: Sequence[Row]) -> None:
    """Writes the file as a whole."""
    save_rows(FILE, Row, rows, {"score": 6, "test_accuracy": 6, "seconds": 6})


def run_missing(cells: Sequence[Cell], seeds: int, minutes: float, again: bool) -> None:
    """Runs what is missing until the processor time is spent; a configuration that was tuned since is run anew."""
    rows = load()
    for seed in range(seeds):
        for cell in cells:
            for oracle, configuration, spec in runs_of(cell, seed):
                place = (cell, seed, oracle, configuration)
                old = [row for row in rows if (row.cell, row.seed, row.oracle, row.configuration) == place]
                same = old and old[0].config_hash == spec.config_hash
                if same and not (again and old[0].code != code_version(spec.method)):
                    continue
                if time.process_time() > 60 * minutes:
                    print("The time is spent; the same command goes on.")
                    return
                new = measure(cell, oracle, configuration, spec)
                rows = [row for row in rows if row not in old] + [new]
                save(rows)
                print(*asdict(cell).values(), seed, oracle, f"({configuration})", end="  ")
                print(f"{100 * new.test_accuracy:.1f}  {new.seconds:.1f} s", flush=True)


def check() -> None:
    """Compares training without an oracle with a run of its own, and shows that each oracle changes something."""
    graph = "synthetic:nodes=300,classes=4,features=16,mean_degree=5,homophily=0.7"
    for method in METHODS:
        spec = RunSpec(dataset=graph, method=method, noise="flip", rate=0.5, protocol="random", options={"epochs": 40})
        found = {oracle: train(spec, oracle)[0].probabilities for oracle in TELLS}
        if not torch.equal(found["none"], run(spec).result.probabilities):
            raise SystemExit(f"{method}: without an oracle it is another run.")
        for oracle in ("T_C", "w", "both"):
            if any(torch.equal(found[oracle], other) for name, other in found.items() if name != oracle):
                raise SystemExit(f"{method}: the oracle {oracle} changes nothing.")
        print(f"{method}: without an oracle the same bits as its run; every oracle tells it something else.")


def best(rows: Sequence[Row]) -> Row:
    """The run whose kept epoch has the best validation score."""
    return max(rows, key=lambda row: row.score)


def line(cell: Cell, rows: Sequence[Row], ours: float | None) -> list[str]:
    """A cell of the table, means over seeds."""
    found: dict[str, float] = {}
    for name in (*TELLS, "retuned", "gcn"):
        oracle = "both" if name == "retuned" else name
        chosen = [row for row in rows if row.oracle == oracle and (row.configuration == "tuned" or name not in TELLS)]
        kept = [best([row for row in chosen if row.seed == seed]) for seed in sorted({row.seed for row in chosen})]
        if kept:
            found[name] = 100 * statistics.fmean(row.test_accuracy for row in kept)
    value, deviation = cell.published
    numbers = [f"{found[name]:.1f}" if name in found else "–" for name in (*TELLS, "retuned", "gcn")]
    mean = "–" if ours is None else f"{ours:.1f}"
    where = [cell.method, cell.dataset, f"{cell.noise} {cell.rate:g}"]
    seeds = len({row.seed for row in rows})
    return [*where, f"{value:.1f} ± {deviation:.1f}", mean, str(seeds), *numbers, limit(found, cell.needed)]


def limit(found: dict[str, float], needed: float) -> str:
    """The first that reaches what is needed names the limit."""
    words = {"none": "chance", "T_C": "judgement", "w": "judgement", "both": "judgement"}
    words |= {"retuned": "tuning", "gcn": "method"}
    if found.keys() < words.keys():
        return "–"
    return next((word for name, word in words.items() if found[name] >= needed), "task")


def show(markdown: bool) -> None:
    """Prints a line a cell, in the order of :func:`missed_cells`, then others."""
    rows, ours = load(), reproduced()
    head = ["method", "graph", "noise", "published", "reproduced", "seeds", *TELLS, "both, retuned", "gcn", "limit"]
    cells = sorted({row.cell for row in rows}, key=lambda cell: ours.get(cell, 0.0) - cell.needed)
    lines = [line(cell, [row for row in rows if row.cell == cell], ours.get(cell)) for cell in cells]
    if markdown:
        print("| " + " | ".join(head) + " |")
        print("|---|---|---|" + "---:|" * (len(head) - 4) + "---|")
        for cells_of_line in lines:
            print("| " + " | ".join(cells_of_line) + " |")
        return
    widths = [max(len(one[i]) for one in [head, *lines]) for i in range(len(head))]
    for one in [head, *lines]:
        print("  ".join(text.ljust(width) for text, width in zip(one, widths, strict=True)).rstrip())


def main() -> None:
    """Reads the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "show", "check"))
    parser.add_argument("--cells", nargs="+", default=[], help="method:dataset:noise:rate")
    parser.add_argument("--most", type=int, default=10, help="without --cells: so many of those that miss by most")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="processor time to spend at most")
    parser.add_argument("--again", action="store_true", help="also run what other code than the present one ran")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.command == "check":
        check()
        return
    if arguments.command == "run":
        cells = [Cell.parse(text) for text in arguments.cells] or missed_cells()[: arguments.most]
        run_missing(cells, arguments.seeds, arguments.minutes, arguments.again)
    show(arguments.markdown)


if __name__ == "__main__":
    main()
