"""Finding wrong labels: ours beside cleanlab, and what reviewing suspects is worth; writes ``results/audit.csv``.

``python benchmarks/audit.py detection`` scores labels on six graphs, four noises and five seeds, and on the labels that
a language model gave (Cora); ``… loop`` lets a reviewer who knows the truth check the 100 most suspect labels of Cora
at flip 0.4, 100 suspects spread over the proposed classes, and 100 labels at random, and trains again after 25, 50 and
100; ``… show`` prints what is there. A part is taken by ``--datasets cora``, ``--noises flip-0.4,flip-0.6`` and
``--seeds 2``; ``… show --markdown`` prints the tables of docs/audit.md. A cell that is in the file is not computed
again, so it can be stopped at any moment; ``--again`` computes those anew that other code made than the present one.
One thread, one process; LNP_DATA names the folder of the graphs.

Protocol ``strict`` with all 25 trusted labels (nothing is held out to choose an epoch: the audit has its own rules).
cleanlab gets out-of-fold probabilities of networks of the same backbone, size, epochs and folds, trained on all given
labels, the trusted ones among them. The truth is used here only, to score.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import argparse
import csv
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

import lnp
from lnp.audit.calibration import quality_calibration_error
from lnp.audit.cleanlab_scores import cleanlab_scores, plain_probabilities
from lnp.audit.cross_fit import LabelScores, audit_network, cross_fit
from lnp.audit.order import spread_order
from lnp.datasets.catalog import load_dataset
from lnp.datasets.dataset import Dataset
from lnp.engine.fit import fit
from lnp.experiments.code_version import ROOTS, digest_modules
from lnp.experiments.protocol import Task, prepare
from lnp.methods.batch import full_batch
from lnp.methods.registry import create_method, make_config
from lnp.metrics.detection import noise_detection
from lnp.seeds import Seeds

ROOT = Path(__file__).parents[1]
FILE = ROOT / "results" / "audit.csv"
DATASETS = ("cora", "citeseer", "pubmed", "chameleon", "squirrel", "actor")
NOISES = (("uniform-mix", 0.4), ("flip", 0.2), ("flip", 0.4), ("flip", 0.6))
SCORERS = ("cross-fit", "cleanlab")
SEEDS = 5
REVIEWS = (0, 25, 50, 100)
ORDERS = ("suspects", "spread", "random")
"""Who is reviewed first: the most suspect, the most suspect of every proposed class in turn, or anybody."""
LEARNERS = ("lnp-channel", "lnp-v2")
"""Who learns from the reviewed labels; ``--learner`` takes other methods, with their default configurations."""
MODULES = {
    "cross-fit": ("cross_fit", "channel_fit", "first_channel", "folds", "network", "order", "posterior", "transition"),
    "cleanlab": ("cleanlab_scores", "folds", "network"),
}
KEY = ("part", "dataset", "noise", "rate", "seed", "who", "reviewed", "learner")
COLUMNS = [*KEY, "ap", "auroc", "calibration_error", "wrong", "estimated_wrong", "found", "test_accuracy", "seconds"]
COLUMNS += ["code"]


def code_of(scorer: str) -> str:
    """The version of what computes a score."""
    modules = [f"lnp.audit.{name}" for name in MODULES.get(scorer, MODULES["cross-fit"])]
    return digest_modules((*modules, *ROOTS), Path(lnp.__file__).parent)


def task_of(dataset: Dataset, noise: str, rate: float, seed: int) -> Task:
    """What the audit sees."""
    return prepare(dataset, "strict", noise, rate, Seeds(seed), selection="last")


def scores_of(scorer: str, task: Task, seed: int) -> LabelScores:
    """Scores of T_N."""
    batch = full_batch(task.graph, task.observed, task.split.train)
    config, seeds = audit_network(make_config("gcn")), Seeds(seed)
    if scorer == "cross-fit":
        return cross_fit(batch, config, seeds)
    return cleanlab_scores(plain_probabilities(batch, config, seeds), batch.noisy_labels.numpy())


def detect(dataset: Dataset, noise: str, rate: float, seed: int, scorer: str) -> dict[str, Any]:
    """One cell: how well a scorer finds the wrong labels."""
    started = time.process_time()
    task = task_of(dataset, noise, rate, seed)
    scores = scores_of(scorer, task, seed)
    noisy = np.intersect1d(task.split.train, task.observed.noisy_nodes)
    wrong = task.observed.given[noisy] != dataset.truth.labels[noisy]
    found = noise_detection(scores.quality, wrong)
    return {
        "ap": found.ap,
        "auroc": found.auroc,
        "calibration_error": quality_calibration_error(scores.quality, ~wrong),
        "wrong": float(wrong.mean()),
        "estimated_wrong": float(1 - scores.quality.mean()),
        "found": found.precision_at(100),
        "seconds": time.process_time() - started,
    }


def review(dataset: Dataset, task: Task, seed: int, checked: np.ndarray, learner: str) -> dict[str, Any]:
    """Accuracy on the test nodes after some labels were reviewed."""
    started, truth = time.process_time(), dataset.truth.labels
    observed = task.observed.checked(checked, truth[checked])
    batch = full_batch(task.graph, observed, task.split.train)
    seeds = Seeds(seed)
    method = create_method(learner, make_config(learner), batch, seeds.generator("initialisation"))
    predicted = fit(method, batch, task.selection, seeds.randomness()).probabilities.argmax(dim=1).numpy()
    return {
        "found": float((task.observed.given[checked] != truth[checked]).mean()) if checked.size else None,
        "test_accuracy": float((predicted[task.split.test] == truth[task.split.test]).mean()),
        "seconds": time.process_time() - started,
    }


def run_detection(rows: dict[tuple[str, ...], dict[str, Any]], arguments: argparse.Namespace) -> None:
    """Computes the cells that are missing."""
    cells = [(d, noise, rate) for d in arguments.datasets for noise, rate in NOISES]
    cells += [("cora", "annotations", 0.0)] if "cora" in arguments.datasets else []
    for name, noise, rate in cells:
        if arguments.noises and f"{noise}-{rate:g}" not in arguments.noises:
            continue
        dataset = load_dataset(name)
        for seed in range(arguments.seeds):
            for scorer in SCORERS:
                key = ("detection", name, noise, f"{rate:g}", str(seed), scorer, "", "")
                if not is_done(key, rows, arguments.again):
                    row = detect(dataset, noise, rate, seed, scorer)
                    rows[key] = dict(zip(KEY, key, strict=True)) | row | {"code": code_of(scorer)}
                    save(rows)
                    print(*key, f"AP {row['ap']:.3f}  AUROC {row['auroc']:.3f}  {row['seconds']:.1f} s", flush=True)


def run_loop(rows: dict[tuple[str, ...], dict[str, Any]], arguments: argparse.Namespace) -> None:
    """Reviews suspects and random labels of Cora at flip 0.4."""
    name, noise, rate = "cora", "flip", 0.4
    dataset = load_dataset(name)
    for seed in range(arguments.seeds):
        keys = {
            (learner, who, k): ("loop", name, noise, f"{rate:g}", str(seed), who, str(k), learner)
            for learner in arguments.learner
            for k in REVIEWS
            for who in ORDERS
        }
        if all(is_done(key, rows, arguments.again) for key in keys.values()):
            continue
        task = task_of(dataset, noise, rate, seed)
        noisy = np.intersect1d(task.split.train, task.observed.noisy_nodes)
        scores = scores_of("cross-fit", task, seed)
        orders = {
            "suspects": noisy[np.argsort(scores.quality, kind="stable")],
            "spread": noisy[spread_order(scores.quality, scores.posterior.argmax(axis=1))],
            "random": Seeds(seed).generator("random review").permutation(noisy),
        }
        row: dict[str, Any] = {}
        for (learner, who, k), key in keys.items():
            if not is_done(key, rows, arguments.again):
                if k > 0 or not row or row["learner"] != learner:  # before any review all orders are alike
                    row = {"learner": learner, **review(dataset, task, seed, orders[who][:k], learner)}
                rows[key] = row | dict(zip(KEY, key, strict=True)) | {"code": code_of("cross-fit")}
                save(rows)
                print(*key, f"{100 * row['test_accuracy']:.1f} %", flush=True)


def show(rows: dict[tuple[str, ...], dict[str, Any]]) -> None:
    """Prints both tables."""
    cells: dict[tuple[str, ...], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    curves: dict[str, dict[tuple[str, int], list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows.values():
        if row["part"] == "detection":
            cells[(row["dataset"], row["noise"], row["rate"])][row["who"]].append(row)
        else:
            curves[row["learner"]][(row["who"], int(row["reviewed"]))].append(float(row["test_accuracy"]))
    print("\nWrong labels among T_N, mean over seeds: ours / cleanlab (better in both: ✓)")
    print(f"{'graph':<11}{'noise':<17}{'seeds':>5}{'wrong':>7}{'AP':>15}{'AUROC':>15}  {'calibration error':<19}")
    for (dataset, noise, rate), found in sorted(cells.items(), key=lambda cell: DATASETS.index(cell[0][0])):
        means = {who: {c: mean(column(of, c)) for c in COLUMNS[len(KEY) : -1]} for who, of in found.items()}
        ours, theirs = (means.get(who) for who in SCORERS)
        label, seeds = f"{noise} {rate}" if noise != "annotations" else noise, min(map(len, found.values()))
        if ours is None or theirs is None:
            continue
        better = "✓" if ours["ap"] > theirs["ap"] and ours["auroc"] > theirs["auroc"] else "✗"
        pairs = (f"{ours[c]:.3f} / {theirs[c]:.3f}" for c in ("ap", "auroc", "calibration_error"))
        print(f"{dataset:<11}{label:<17}{seeds:>5}{ours['wrong']:>7.2f}", *(f"{pair:>14}" for pair in pairs), better)
    for learner, curve in curves.items():
        seeds = len(curve[("suspects", 0)])
        print(f"\nCora, flip 0.4, {learner}: test accuracy in % after k reviewed labels, mean of {seeds} seed(s)")
        print(f"{'k':<10}" + "".join(f"{k:>8}" for k in REVIEWS))
        for who in ORDERS:
            print(f"{who:<10}" + "".join(f"{100 * mean(curve[(who, k)]):>8.1f}" for k in REVIEWS))


def show_markdown(rows: dict[tuple[str, ...], dict[str, Any]]) -> None:
    """Prints both tables as docs/audit.md has them; only cells that both scorers have."""
    cells: dict[tuple[str, str, str], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    curves: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows.values():
        if row["part"] == "detection":
            cells[(row["dataset"], row["noise"], row["rate"])][row["who"]].append(row)
        else:
            curves[(row["learner"], row["who"])][int(row["reviewed"])].append(100 * float(row["test_accuracy"]))
    print("| cell | seeds | cross-fit | cleanlab | better in both | calibration error | wrong, estimated |")
    print("|---|---|---|---|---|---|---|")
    kinds = [noise for noise, _ in NOISES] + ["annotations"]
    for (dataset, noise, rate), found in sorted(
        cells.items(), key=lambda cell: (DATASETS.index(cell[0][0]), kinds.index(cell[0][1]), cell[0][2])
    ):
        if set(found) < set(SCORERS):
            continue
        ours, theirs = ({name: mean(column(found[who], name)) for name in COLUMNS[len(KEY) : -1]} for who in SCORERS)
        better = "yes" if ours["ap"] > theirs["ap"] and ours["auroc"] > theirs["auroc"] else "no"
        pairs = [f"{one['ap']:.3f} / {one['auroc']:.3f}" for one in (ours, theirs)]
        label = f"{dataset}, {noise}" + ("" if noise == "annotations" else f" {rate}")
        shares = f"{ours['wrong']:.2f}, {ours['estimated_wrong']:.2f}"
        cell = [label, str(min(map(len, found.values()))), *pairs, better, f"{ours['calibration_error']:.3f}", shares]
        print("| " + " | ".join(cell) + " |")
    print("\n| learner | reviewed | " + " | ".join(map(str, REVIEWS)) + " |\n|---|---|" + "---|" * len(REVIEWS))
    for (learner, who), curve in sorted(curves.items(), key=lambda one: (one[0][0], ORDERS.index(one[0][1]))):
        print(f"| {learner} | {who} | " + " | ".join(f"{mean(curve[k]):.1f}" for k in REVIEWS) + " |")


def column(rows: list[dict[str, Any]], name: str) -> list[float]:
    """The numbers of a column."""
    return [float(row[name]) for row in rows if row.get(name) not in (None, "")]


def mean(values: list[float]) -> float:
    """The mean; not a number of nothing."""
    return statistics.fmean(values) if values else float("nan")


def read() -> dict[tuple[str, ...], dict[str, Any]]:
    """The rows of the file."""
    if not FILE.exists():
        return {}
    with FILE.open(encoding="utf-8", newline="") as file:
        return {tuple(row.get(name) or "" for name in KEY): row for row in csv.DictReader(file) if row.get("part")}


def is_done(key: tuple[str, ...], rows: dict[tuple[str, ...], dict[str, Any]], again: bool) -> bool:
    """Whether a cell is there, and with ``again`` made by the present code."""
    return key in rows and (not again or rows[key]["code"] == code_of(rows[key]["who"]))


def save(rows: dict[tuple[str, ...], dict[str, Any]]) -> None:
    """Writes the file whole."""
    FILE.parent.mkdir(exist_ok=True)
    temporary = FILE.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for key in sorted(rows, key=lambda key: (*key[:6], int(key[6] or 0))):
            row = {name: rows[key].get(name, "") for name in COLUMNS}
            writer.writerow({n: f"{v:.5f}" if isinstance(v, float) else v for n, v in row.items()})
    temporary.replace(FILE)


def main() -> None:
    """Reads what to do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("detection", "loop", "all", "show"))
    parser.add_argument("--datasets", type=lambda text: text.split(","), default=list(DATASETS))
    parser.add_argument("--noises", type=lambda text: text.split(","), default=[])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--learner", type=lambda text: text.split(","), default=list(LEARNERS))
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = read()
    if arguments.part in ("detection", "all"):
        run_detection(rows, arguments)
    if arguments.part in ("loop", "all"):
        run_loop(rows, arguments)
    (show_markdown if arguments.markdown else show)(rows)


if __name__ == "__main__":
    main()
