"""Every method side by side: accuracy on Cora, time and memory on Cora and PubMed; writes ``docs/methods.md``.

``python benchmarks/methods.py run`` adds what is missing to ``results/sanity.paper.csv`` (a run that is there is not
run again, so it can be stopped at any moment); ``… cost`` measures time and memory into ``results/methods-cost.csv``;
``… write`` turns both files into the page. One thread per process, two processes.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import csv
import json
import multiprocessing
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "results" / "sanity.paper.csv"
COSTS = ROOT / "results" / "methods-cost.csv"
PAGE = ROOT / "docs" / "methods.md"
CELLS = (("uniform-mix", 0.2), ("flip", 0.2), ("flip", 0.8))
SEEDS = range(5)
EPOCH: dict[str, dict[str, Any]] = {"lnp-channel": {"stage": -1, "variant": "smooth"}}
"""Which epoch stands for a method; of all others one of the first stage does."""
COLUMNS = [
    "table",
    "protocol",
    "dataset",
    "noise",
    "rate",
    "backbone",
    "method",
    "seed",
    "test_accuracy",
    "detection_ap",
    "detection_auroc",
    "epochs",
    "seconds",
    "config_hash",
    "code_version",
]


def one_run(job: tuple[str, str, float, int]) -> dict[str, Any]:
    """One row of the CSV."""
    import torch

    from lnp import __version__
    from lnp.experiments.run import run
    from lnp.experiments.spec import RunSpec

    torch.set_num_threads(1)
    method, noise, rate, seed = job
    record = run(RunSpec(dataset="cora", method=method, noise=noise, rate=rate, protocol="paper", seed=seed)).record
    values = record.to_json()
    values |= {"table": "sanity", "protocol": "paper", "dataset": "cora", "rate": rate, "method": method, "seed": seed}
    values |= {"backbone": record.spec.config().backbone, "code_version": __version__}
    return {column: _rounded(values[column]) for column in COLUMNS}


def run_missing(only: list[str]) -> None:
    """Runs what the CSV lacks for the current configurations; rows of older configurations are dropped."""
    from lnp.experiments.spec import RunSpec
    from lnp.methods.registry import METHODS

    hashes = {method: RunSpec(dataset="cora", method=method).config_hash for method in METHODS}
    kept = [row for row in read(RUNS) if hashes.get(row["method"]) == row["config_hash"]]
    done = {
        (row["method"], row["noise"].removesuffix("-released"), float(row["rate"]), int(row["seed"])) for row in kept
    }
    wanted = [(m, noise, rate, s) for s in SEEDS for m in METHODS for noise, rate in CELLS if not only or m in only]
    jobs = [job for job in wanted if job not in done]
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=20) as pool:
        for row in pool.imap_unordered(one_run, jobs):
            kept.append(row)
            save(RUNS, COLUMNS, sorted(kept, key=lambda r: (r["method"], r["noise"], float(r["rate"]), int(r["seed"]))))
            print(row["method"], row["noise"], row["rate"], row["seed"], row["test_accuracy"], flush=True)


def one_cost(method: str, dataset: str) -> dict[str, Any]:
    """Milliseconds per epoch beside a GCN measured in turns with it, and the peak memory of a process of its own."""
    text = subprocess.run(
        [sys.executable, __file__, "cost-of", method, dataset], check=True, capture_output=True, text=True
    ).stdout
    measured: dict[str, Any] = json.loads(text.splitlines()[-1])
    return measured


def cost_of(method: str, dataset: str) -> None:
    """Prints what :func:`one_cost` reads."""
    import torch
    from lnp_epoch import epoch_step, task
    from speed import load
    from timing import measure

    from lnp.experiments.run import peak_rss_mib
    from lnp.methods.batch import full_batch

    torch.set_num_threads(1)
    graph, truth = load(dataset)
    observed, split, selection = task(graph, truth)
    batch = full_batch(graph, observed, split.train)
    steps = {name: epoch_step(name, batch, selection, **EPOCH.get(name, {})) for name in {"gcn", method}}
    taken = measure(steps, seconds=4)
    ratio = taken[method] / taken["gcn"]
    print(json.dumps({"method": method, "dataset": dataset, "ratio": round(ratio, 2), "mib": round(peak_rss_mib())}))


def write() -> None:
    """The page, from the two files and the registry."""
    from lnp.methods.registry import METHODS

    accuracy: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    for row in read(RUNS):
        key = row["method"], row["noise"].removesuffix("-released"), float(row["rate"])
        accuracy[key].append(100 * float(row["test_accuracy"]))
    costs = {(row["method"], row["dataset"]): row for row in read(COSTS)}
    lines = [*(ROOT / "benchmarks" / "methods_head.md").read_text(encoding="utf-8").splitlines(), ""]
    lines += [
        "## Needs and cost",
        "",
        "Time is that of an epoch with its evaluation over that of a GCN's, one thread, hidden 64",
        "(of `lnp-channel` one of the last stage with the variant `smooth`; [channel.md](channel.md#time) has others);",
    ]
    lines += ["memory is the peak of the process, PyTorch included (about 350 MiB).", ""]
    lines += ["| method | what it does | needs | × GCN, Cora | × GCN, PubMed | MiB, Cora | MiB, PubMed | reference |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for name, entry in METHODS.items():
        needs = ["T_C in every class"] * entry.method.needs_trusted + [
            "noise rate (estimated)"
        ] * entry.method.needs_noise_rate
        cells = [costs.get((name, d), {}).get(what, "–") for what in ("ratio", "mib") for d in ("cora", "pubmed")]
        summary = entry.summary.replace("|", "given")
        lines += [f"| `{name}` | {summary} | {', '.join(needs) or '–'} | {' | '.join(cells)} | {entry.reference} |"]
    lines += ["", "## Accuracy on Cora", ""]
    lines += [
        "Protocol `paper`, shipped default configuration, test accuracy in %, mean ± sd of the seeds (published)."
    ]
    lines += ["A mark ▼ stands where the published figure minus 2 is not reached.", ""]
    lines += ["| method | uniform-mix 0.2 | flip 0.2 | flip 0.8 | seeds |", "|---|---|---|---|---|"]
    for name in METHODS:
        values = [accuracy[(name, noise, rate)] for noise, rate in CELLS]
        lines += [f"| `{name}` | {' | '.join(cells_of(name, values))} | {min(len(v) for v in values)} |"]
    tail = ROOT / "benchmarks" / "methods_tail.md"
    lines += ["", *(tail.read_text(encoding="utf-8").splitlines() if tail.exists() else [])]
    PAGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def cells_of(name: str, values: list[list[float]]) -> Iterator[str]:
    """The accuracy cells of a row, each beside the paper's figure where there is one."""
    from lnp.experiments.tables import load_table

    for (noise, rate), found in zip(CELLS, values, strict=True):
        if not found:
            yield "–"
            continue
        mean, spread = statistics.mean(found), statistics.stdev(found) if len(found) > 1 else 0.0
        table = load_table("table-2" if noise == "flip" else "table-1")
        cell = table.published.get(("cora", rate, name))
        published = cell.value if cell is not None else None
        mark = " ▼" if published is not None and rate < 0.5 and mean < published - 2 else ""
        yield f"{mean:.1f} ± {spread:.1f}" + (f" ({published:.1f})" if published is not None else "") + mark


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV; none where there is no file."""
    return list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []


def save(path: Path, columns: list[str], rows: list[dict[str, Any]]) -> None:
    """Writes a CSV whole."""
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    temporary.replace(path)


def _rounded(value: object) -> object:
    return round(value, 5) if isinstance(value, float) else value


def main(command: str, rest: list[str]) -> None:
    """Dispatches."""
    if command == "run":
        run_missing(rest)
    elif command == "cost-of":
        cost_of(*rest)
    elif command == "cost":
        from lnp.methods.registry import METHODS

        rows = {(row["method"], row["dataset"]): row for row in read(COSTS)}
        for dataset in ("cora", "pubmed"):
            for method in rest or METHODS:
                rows[(method, dataset)] = one_cost(method, dataset)
                save(COSTS, ["method", "dataset", "ratio", "mib"], [rows[key] for key in sorted(rows)])
                print(rows[(method, dataset)], flush=True)
    write()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
