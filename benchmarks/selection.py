"""What choosing the epoch without clean labels costs; writes ``results/selection.csv``, one row per run.

Every method with a noise matrix, and gcn for comparison, on Cora, CiteSeer and Chameleon, with uniform-mix and flip
noise at 0.4 and 0.8, protocol ``random``, default configurations; the epoch is chosen by each rule in turn.

    python benchmarks/selection.py run --minutes 25     # seed 0 of every cell first; goes on where it was stopped
    python benchmarks/selection.py show                 # the tables, also as --markdown
    python benchmarks/selection.py check                # that shared training gives what `lnp train --selection` gives

Up to the end of its main stage a method learns the same under every rule, because the rule only picks one of its
epochs. So that much is trained once for all rules; fine-tuning, which starts from the epoch picked, once for each.
``check`` compares that with a training of its own for each rule, bit by bit.

``val-noisy`` is measured twice: as the protocol has it, where flip noise draws other wrong classes for the validation
nodes than for the training nodes, and as ``val-noisy, same labels`` on the very labels that ``val-likelihood`` sees.
One thread, one process; LNP_DATA names the folder of the graphs. The truth is used for ``val-clean`` and to score.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import argparse
import copy
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest.mock import patch

import torch
from row_file import RunRow, load_rows, save_rows
from torch import Tensor

from lnp.datasets.catalog import load_dataset
from lnp.datasets.dataset import Dataset
from lnp.engine.feed import predict
from lnp.engine.fit import FitOptions, fit
from lnp.engine.history import EpochRecord
from lnp.engine.selection import Selection
from lnp.experiments.code_version import code_version
from lnp.experiments.protocol import Task, prepare
from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec
from lnp.methods.batch import full_batch
from lnp.methods.registry import create_method
from lnp.metrics.accuracy import accuracy
from lnp.seeds import Seeds

FILE = Path(__file__).parents[1] / "results" / "selection.csv"
METHODS = ("lnp-channel", "glc", "forward", "dgnn", "smodel", "gcn")
DATASETS = ("cora", "citeseer", "chameleon")
NOISES = tuple((noise, rate) for noise in ("uniform-mix", "flip") for rate in (0.4, 0.8))
SAME = "val-noisy, same labels"
RULES = ("val-clean", "val-given", "val-likelihood", "val-noisy", SAME, "last")
SEEDS = 3
PROTOCOL = "random"


@dataclass(frozen=True, kw_only=True)
class Row(RunRow):
    """One run: ``epoch`` is the one kept of the main stage, from 1; ``seconds`` are processor time for all rules."""

    selection: str
    test_accuracy: float
    epoch: int
    seconds: float
    code: str

    @property
    def cell(self) -> tuple[str, str, str, float, int]:
        """Everything but the rule."""
        return self.method, self.dataset, self.noise, self.rate, self.seed


@dataclass
class Kept:
    """What a rule would have kept so far."""

    score: float | None = None
    epoch: int = 0
    state: dict[str, Tensor] = field(default_factory=dict)


def train(spec: RunSpec, dataset: Dataset) -> tuple[Task, dict[str, tuple[Tensor, int]]]:
    """For each rule the probabilities that training under it ends with, and the epoch kept of the main stage."""
    seeds = Seeds(spec.seed)
    tasks = {
        rule: prepare(dataset, PROTOCOL, spec.noise, spec.rate, seeds, selection=rule, trusted_size=spec.trusted_size)
        for rule in RULES
        if rule != SAME
    }
    task = tasks["val-clean"]
    assert all((other.observed.given == task.observed.given).all() for other in tasks.values())
    selections = {rule: one.selection for rule, one in tasks.items()}
    given = selections["val-likelihood"]
    selections[SAME] = Selection("val-noisy", given.nodes, given.labels)

    batch = full_batch(task.graph, task.observed, task.split.train)
    method = create_method(spec.method, spec.config(), batch, seeds.generator("initialisation"))
    names = [stage.name for stage in method.stages(batch)]
    main = names.index("train")
    kept = {rule: Kept() for rule in RULES}

    def watch(record: EpochRecord, count: int) -> None:
        if record.stage != "train":
            return
        probabilities = predict(method, batch)
        for rule, selection in selections.items():
            best, score = kept[rule], selection.score(probabilities, method.given_distribution)
            if selection.improves(score, best.score):
                state = {name: value.clone() for name, value in method.state_dict().items()}
                kept[rule] = Kept(score, record.epoch + 1, state)

    randomness = seeds.randomness()
    with patch.object(method, "stages", lambda batch: type(method).stages(method, batch)[: main + 1]):
        fit(method, batch, selections["last"], randomness, FitOptions(on_epoch=watch))
    found: dict[str, tuple[Tensor, int]] = {}
    for rule, selection in selections.items():
        method.load_state_dict(kept[rule].state)
        with patch.object(method, "stages", lambda batch: type(method).stages(method, batch)[main + 1 :]):
            result = fit(method, batch, selection, copy.deepcopy(randomness))
        found[rule] = result.probabilities, kept[rule].epoch
    return task, found


def measure(spec: RunSpec) -> list[Row]:
    """One run for each rule."""
    started, dataset = time.process_time(), load_dataset(spec.dataset)
    task, found = train(spec, dataset)
    seconds, code, test = time.process_time() - started, code_version(spec.method), task.split.test
    where = {name: getattr(spec, name) for name in ("method", "dataset", "noise", "rate", "seed")}
    rows = []
    for rule in RULES:
        probabilities, epoch = found[rule]
        right = accuracy(dataset.truth.labels[test], probabilities.argmax(dim=1).numpy()[test])
        rows.append(Row(**where, selection=rule, test_accuracy=right, epoch=epoch, seconds=seconds, code=code))
    return rows


def cells() -> Iterator[RunSpec]:
    """Every run but for the rule, all of one seed before the next."""
    for seed in range(SEEDS):
        for dataset in DATASETS:
            for noise, rate in NOISES:
                for method in METHODS:
                    yield RunSpec(dataset=dataset, method=method, noise=noise, rate=rate, protocol=PROTOCOL, seed=seed)


def load() -> list[Row]:
    """What is in the file."""
    return load_rows(FILE, Row)


def save(rows: list[Row]) -> None:
    """Writes the file as a whole."""
    save_rows(FILE, Row, rows, {"seconds": 2})


def run_missing(minutes: float, again: bool) -> None:
    """Runs what is missing until the processor time is spent."""
    rows = load()
    for spec in cells():
        cell = (spec.method, spec.dataset, spec.noise, spec.rate, spec.seed)
        present = [row for row in rows if row.cell == cell]
        whole = {row.selection for row in present} == set(RULES)  # a rule may be newer than the rows
        if whole and not (again and present[0].code != code_version(spec.method)):
            continue
        if time.process_time() > 60 * minutes:
            print("The time is spent; the same command goes on.")
            return
        new = measure(spec)
        rows = [row for row in rows if row.cell != cell] + new
        save(rows)
        found = "  ".join(f"{row.selection} {100 * row.test_accuracy:.1f}" for row in new)
        print(*cell, f" {found}  {new[0].seconds:.1f} s", flush=True)


def check() -> None:
    """Compares shared training with one training for each rule, on a small graph."""
    graph = "synthetic:nodes=300,classes=4,features=16,mean_degree=5,homophily=0.7"
    for method in METHODS:
        spec = RunSpec(dataset=graph, method=method, noise="flip", rate=0.5, protocol=PROTOCOL)
        for rule, (probabilities, _) in train(spec, load_dataset(graph))[1].items():
            if rule == SAME:
                continue
            alone = run(replace(spec, selection=rule))
            if not torch.equal(probabilities, alone.result.probabilities):
                raise SystemExit(f"{method} under {rule}: shared training differs.")
            print(f"{method} under {rule}: the same bits, test accuracy {alone.record.test_accuracy:.3f}", flush=True)


def differences(rows: list[Row], rule: str) -> list[float]:
    """Points lost against val-clean in the same runs."""
    best = {row.cell: row.test_accuracy for row in rows if row.selection == "val-clean"}
    return [100 * (row.test_accuracy - best[row.cell]) for row in rows if row.selection == rule]


def table(rows: list[Row], labels: list[tuple[str, ...]], key: str) -> list[list[str]]:
    """One line for each method and group of runs: accuracy under val-clean, and what every other rule changes."""
    lines = []
    for method in METHODS:
        for label in labels:
            chosen = [row for row in rows if row.method == method and group(row, key) == label]
            if not chosen:
                continue
            clean = [100 * row.test_accuracy for row in chosen if row.selection == "val-clean"]
            lost = [differences(chosen, rule) for rule in RULES[1:]]
            means = [f"{statistics.fmean(one):+.1f}".replace("-", "−") if one else "–" for one in lost]
            lines.append([method, *label, str(len(clean)), f"{statistics.fmean(clean):.1f}", *means])
    return lines


def group(row: Row, key: str) -> tuple[str, ...]:
    """What the runs of a line have in common."""
    return {"all": (), "noise": (f"{row.noise} {row.rate:g}",), "dataset": (row.dataset,)}[key]


def show(markdown: bool) -> None:
    """Prints the tables: over everything, by noise, by graph."""
    rows = load()
    parts: dict[str, list[tuple[str, ...]]] = {
        "all": [()],
        "noise": [(f"{noise} {rate:g}",) for noise, rate in NOISES],
        "dataset": [(name,) for name in DATASETS],
    }
    for key, labels in parts.items():
        head = ["method", *([] if key == "all" else ["noise" if key == "noise" else "graph"]), "runs", *RULES]
        lines = table(rows, labels, key)
        print()
        if markdown:
            print("| " + " | ".join(head) + " |")
            texts = len(head) - len(RULES) - 1
            print("|" + "---|" * texts + "---:|" * (len(RULES) + 1))
            for line in lines:
                print("| " + " | ".join(line) + " |")
        else:
            widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
            for line in [head, *lines]:
                print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def main() -> None:
    """Reads the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "show", "check"))
    parser.add_argument("--minutes", type=float, default=float("inf"), help="processor time to spend at most")
    parser.add_argument("--again", action="store_true", help="also run what other code than the present one ran")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.command == "run":
        run_missing(arguments.minutes, arguments.again)
    elif arguments.command == "check":
        check()
    if arguments.command != "check":
        show(arguments.markdown)


if __name__ == "__main__":
    main()
