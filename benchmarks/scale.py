"""How cost grows with the graph: time and memory per epoch, ratios, mini-batches, processes.

``python benchmarks/scale.py PART …`` measures, every measurement in a fresh process and one at a time, and appends it
to ``results/scale.csv``. What is there is not measured again (``--again`` does), so a part can be stopped any time.

=============  =========================================================================================================
``slope``      gcn, lnp-v1, lnp-v2 on 10⁴ to 3·10⁶ nodes at constant degree; ``--up-to N`` leaves out larger ones
``ratio``      lnp-v2 against gcn, epoch by epoch in turns, on ogbn-arxiv-structural and on synthetic-patents
``memory``     the peak of lnp-v2 on synthetic-patents: full batch, and mini-batches
``accuracy``   lnp-v2 on ogbn-arxiv-structural: full batch against mini-batches; ``--epochs N``, ``--seeds N``, and
               ``--batch-epochs N`` for mini-batches, which take many steps an epoch
``nrgnn``      some epochs of nrgnn on ogbn-arxiv-structural, with the peak of its memory
``processes``  two processes against one, with the backbone sign, in turns
``show``       prints everything that was measured beside its target; draws ``docs/figures/scaling.svg`` and ``.png``
=============  =========================================================================================================

``--only TEXT`` keeps measurements whose name contains it. Everything runs in one thread per process; graphs are found
through ``LNP_DATA``.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
FILE = ROOT / "results" / "scale.csv"
KEY = ("part", "dataset", "method", "batch", "processes", "round")
MEASURED = ("nodes", "edges", "epochs", "cpu_seconds", "wall_seconds", "base_mib", "peak_mib", "test_accuracy")
COLUMNS = (*KEY, *MEASURED, "code")

ARXIV, PATENTS = "ogbn-arxiv-structural", "synthetic-patents"
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
METHODS = ("gcn", "lnp-v1", "lnp-v2")
NEIGHBOURS = ("--batch", "neighbours", "--batch-size", "4096", "--fan-out", "10,10")
CLUSTERS = ("--batch", "clusters", "--clusters", "1500", "--clusters-per-batch", "15")
BATCHES = {"full": (), "neighbours": NEIGHBOURS, "clusters": CLUSTERS}
ROUNDS = 3

Row = dict[str, Any]

TELLING = ("error:", "terminate called", "what():", "Fatal Python error", "Assertion", "malloc", "corrupt")
"""What lines of standard error have that say why a process ended."""


@dataclass(frozen=True)
class Job:
    """A measurement: its rows' keys, and what gives the rows."""

    keys: Sequence[tuple[str, ...]]
    measure: Callable[[], list[Row]]

    @property
    def name(self) -> str:
        """What is shown while it runs."""
        return " | ".join(" ".join(filter(None, key)) for key in self.keys)


def slope(options: argparse.Namespace) -> Iterator[Job]:
    """One method on one size at a time, the small sizes first."""
    for n in (size for size in SIZES if size <= options.up_to):
        for method in METHODS:
            # No fewer than four epochs, of which three count; more where an epoch is short.
            yield in_turns("slope", f"{PATENTS}:nodes={n}", (method,), max(4, min(30, 600_000 // n)))


def ratio(options: argparse.Namespace) -> Iterator[Job]:
    """LNP-v2 and GCN in turns, three times over.

    Thirty epochs: in the first six a process still takes new memory, and LNP more of it; a run has hundreds.
    """
    for dataset, epochs in ((ARXIV, 30), (PATENTS, 5)):
        for number in range(ROUNDS if dataset == ARXIV else 1):
            yield in_turns("ratio", dataset, ("gcn", "lnp-v2"), epochs, str(number))


def memory(options: argparse.Namespace) -> Iterator[Job]:
    """The whole command as a user runs it."""
    for batch, flags in BATCHES.items():
        epochs = 3 if batch == "full" else 1
        yield by_command("memory", PATENTS, "lnp-v2", epochs, flags, batch=batch)


def accuracy(options: argparse.Namespace) -> Iterator[Job]:
    """To the end, as tuned for this graph; the round is the number of the seed."""
    from lnp.experiments.configs import shipped_config

    found = shipped_config("lnp-v2", ARXIV, "flip", 0.4, protocol="large") or {}
    tuned = [text for name, value in found.items() for text in ("--set", f"{name}={value}")]
    noise = ("--noise", "flip", "--rate", "0.4")
    for batch, flags in BATCHES.items():
        epochs = options.epochs if batch == "full" else options.batch_epochs
        flags = (*flags, *noise, *tuned)
        yield by_command("accuracy", ARXIV, "lnp-v2", epochs, flags, batch=batch, seeds=options.seeds)


def nrgnn(options: argparse.Namespace) -> Iterator[Job]:
    """Out of memory in the paper."""
    yield by_command("nrgnn", ARXIV, "nrgnn", 3, ("--set", "fine_tune_epochs=1"))


def processes(options: argparse.Namespace) -> Iterator[Job]:
    """One and two processes in turns, with rows that are independent of one another.

    Sixty epochs, a third of a usual run: in the first twenty a process still takes new memory now and then, and every
    other process waits for it.
    """
    for number in range(ROUNDS):
        for ranks in (1, 2):
            flags = ("--backbone", "sign")
            yield by_command("processes", ARXIV, "lnp-v2", 60, flags, processes=ranks, round_=number, start=3)


PARTS: dict[str, Callable[[argparse.Namespace], Iterator[Job]]] = {
    "slope": slope,
    "ratio": ratio,
    "memory": memory,
    "accuracy": accuracy,
    "nrgnn": nrgnn,
    "processes": processes,
}


def in_turns(part: str, dataset: str, methods: tuple[str, ...], epochs: int, round_: str = "0") -> Job:
    """Epochs of one or several methods, by ``scale_epochs.py``."""
    keys = [(part, dataset, method, "full", "1", round_) for method in methods]
    command = [sys.executable, str(ROOT / "benchmarks" / "scale_epochs.py"), dataset, ",".join(methods), str(epochs)]

    def measure() -> list[Row]:
        rows: list[Row] = json.loads(finish(command).output)
        return [row | dict(zip(KEY, key, strict=True)) for row, key in zip(rows, keys, strict=True)]

    return Job(keys, measure)


def by_command(
    part: str,
    dataset: str,
    method: str,
    epochs: int,
    flags: tuple[str, ...],
    *,
    batch: str = "full",
    processes: int = 1,
    round_: int = 0,
    seeds: int = 1,
    start: int = 0,
) -> Job:
    """``lnp train`` as a user runs it; one row per seed, all with the peak of the largest process.

    With ``start``, a run of so many epochs is subtracted, so that what is done once does not count. Then processor time
    is known, too: of one process and epoch. It says what a machine with a free core for each process would show.
    """
    keys = [(part, dataset, method, batch, str(processes), str(round_ + seed)) for seed in range(seeds)]
    started = [sys.executable, "-m", "lnp"]
    if processes > 1:
        started = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(processes), "-m", "lnp"]
        flags = (*flags, "--distributed")

    def train(length: int) -> tuple[dict[str, Any], Finished]:
        said = ["train", dataset, "--protocol", "large", "--method", method, "--epochs", str(length), "--json"]
        done = finish([*started, *said, "--seeds", str(seeds), *flags])
        return json.loads(done.output[done.output.index("{") :]), done

    def measure() -> list[Row]:
        nothing: dict[str, Any] = {"seconds": [0.0] * seeds, "epochs": [0] * seeds}
        before, start_done = train(start) if start else (nothing, None)
        found, done = train(start + epochs)
        rows = []
        for seed, key in enumerate(keys):
            run = found["epochs"][seed] - before["epochs"][seed]
            seconds = (found["seconds"][seed] - before["seconds"][seed]) / run
            row = dict(zip(KEY, key, strict=True)) | {"epochs": run, "wall_seconds": seconds, "peak_mib": done.peak_mib}
            if start_done is not None and seeds == 1:
                row["cpu_seconds"] = (done.cpu_seconds - start_done.cpu_seconds) / (run * processes)
            rows.append(row | {"test_accuracy": found["test_accuracy"][seed]})
        return rows

    return Job(keys, measure)


class Finished(NamedTuple):
    """What a command printed, the peak memory of its largest process, and the processor time of all of them."""

    output: str
    peak_mib: float
    cpu_seconds: float


def finish(command: list[str]) -> Finished:
    """Runs a command in one thread."""
    # One arena: the threads of scale_epochs.py would each have one of their own, which keeps no large block.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    environment["PYTHONFAULTHANDLER"] = "1"  # a process that aborts says where it was
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors, env=environment)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.terminate()  # torchrun ends its processes then
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            said = errors.read().strip().splitlines()
            told = [line for line in said if any(sign in line for sign in TELLING)][:8] or said[-3:]
            raise RuntimeError(f"exit code {process.returncode}: {' '.join(line.strip() for line in told)}")
        peak = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
        return Finished(output.read(), peak, usage.ru_utime + usage.ru_stime)


def read_rows() -> list[Row]:
    """The rows of the file; none where there is no file."""
    if not FILE.exists():
        return []
    with FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def append(rows: list[Row]) -> None:
    """Adds rows to the file."""
    from lnp.experiments.code_version import code_version

    FILE.parent.mkdir(exist_ok=True)
    fresh = not FILE.exists()
    with FILE.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        for row in rows:
            row["code"] = code_version(row["method"])
            writer.writerow({name: _plain(row.get(name)) for name in COLUMNS})


def _plain(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def carry_out(part: str, options: argparse.Namespace) -> int:
    """Measures what the file does not have; says what could not be measured. The number of failures."""
    failed = 0
    for job in PARTS[part](options):
        done = {tuple(row[name] for name in KEY) for row in read_rows()}
        if options.only not in job.name or (not options.again and all(key in done for key in job.keys)):
            continue
        print(f"{job.name} …", flush=True)
        try:
            rows = job.measure()
        except (RuntimeError, ValueError) as error:
            failed += 1
            print(f"  not measured: {error}", flush=True)
            continue
        append(rows)
        for row in rows:
            told = ", ".join(f"{name} {_plain(row[name])}" for name in MEASURED if row.get(name) is not None)
            print(f"  {row['method']}: {told}", flush=True)
    return failed


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*PARTS, "show"], nargs="+")
    parser.add_argument("--up-to", type=int, default=SIZES[-1], help="slope: the largest number of nodes")
    parser.add_argument("--epochs", type=int, default=200, help="accuracy: epochs of a run")
    parser.add_argument("--batch-epochs", type=int, default=20, help="accuracy: epochs of a run in mini-batches")
    parser.add_argument("--seeds", type=int, default=1, help="accuracy: how many")
    parser.add_argument("--only", default="", help="only measurements whose name contains this")
    parser.add_argument("--again", action="store_true", help="measure again what is there; the last counts")
    options = parser.parse_args()
    failed = sum(carry_out(part, options) for part in options.part if part != "show")
    if "show" in options.part:
        from scale_show import show

        show(read_rows())
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
