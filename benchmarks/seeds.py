"""Five seeds together against one seed by itself on Cora; the target is a ratio of 2.5, five separate runs have 5.

``python benchmarks/seeds.py epoch [THREADS]``: an epoch with its evaluation, five seeds in lock-step in one process.
With one thread the time is that of the processor, which a busy machine disturbs less.

``python benchmarks/seeds.py run [THREADS]``: the whole of ``lnp train cora --seeds 5 --together`` once everything is
loaded, by the clock: a group of seeds in lock-step on each core (:mod:`lnp.experiments.seed_groups`), against
``--seeds 1`` with so many threads. The cores must have nothing else to do.

Both sides take turns and the median counts. Freed memory is kept, as ``lnp train`` does.
"""

from __future__ import annotations

import os
import sys

os.environ["OMP_NUM_THREADS"] = sys.argv[2] if len(sys.argv) > 2 else "1"  # before numpy and torch start their threads

os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # as `lnp train` does (lnp.engine.allocator)

import time
from functools import partial

import numpy as np
import torch
from lnp_epoch import epoch_step
from timing import Step

from lnp.datasets.catalog import load_dataset
from lnp.engine.allocator import keep_freed_memory
from lnp.engine.fit import FitOptions
from lnp.engine.lockstep.fit import _Lockstep
from lnp.experiments.protocol import prepare
from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec
from lnp.experiments.training import train_seeds
from lnp.methods.batch import full_batch
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds

WHAT = sys.argv[1] if len(sys.argv) > 1 else "epoch"
THREADS = int(os.environ["OMP_NUM_THREADS"])
COUNT = 5
TARGET = 2.5


def contestants(name: str) -> dict[str, Step]:
    """One epoch of one seed, and of all."""
    dataset, seeds = load_dataset("cora"), [Seeds(seed) for seed in range(COUNT)]
    tasks = [prepare(dataset, "paper", "uniform", 0.4, one) for one in seeds]
    batches = [full_batch(tasks[0].graph, task.observed, task.split.train) for task in tasks]
    config = make_config(name)
    methods = [
        create_method(name, config, batch, one.generator("initialisation"))
        for batch, one in zip(batches, seeds, strict=True)
    ]
    loop = _Lockstep(methods, batches, [task.selection for task in tasks], [one.randomness() for one in seeds])
    stage = loop.template.stages(batches[0])[0]
    adams = loop.create_optimisers(stage)
    return {
        "one": epoch_step(name, batches[0], tasks[0].selection),
        "five": lambda: loop._train_one_epoch(stage, adams, 0, FitOptions()),
    }


def whole_runs(name: str) -> dict[str, Step]:
    """One seed, and all, from the specification to the records."""
    spec = RunSpec(dataset="cora", method=name, noise="uniform", rate=0.4, protocol="paper")
    return {
        "one": lambda: train_seeds(spec, 1, runner=partial(run, keepers=1)),
        "five": lambda: train_seeds(spec, COUNT, together=True),
    }


def main() -> None:
    """Prints a line for each method."""
    torch.set_num_threads(THREADS)
    keep_freed_memory(2**30)
    make, rounds, warm_up = (contestants, 30, 5) if WHAT == "epoch" else (whole_runs, 5, 1)
    clock = time.thread_time if THREADS == 1 and WHAT == "epoch" else time.perf_counter
    for name in ("gcn", "lnp-v2"):
        steps = make(name)
        taken: dict[str, list[float]] = {who: [] for who in steps}
        for number in range(rounds + warm_up):
            for who, step in steps.items():
                before = clock()
                step()
                if number >= warm_up:
                    taken[who].append(1000 * (clock() - before))
        one, five = np.median(taken["one"]), np.median(taken["five"])
        least = min(taken["five"]) / min(taken["one"])
        print(
            f"{name:8} one {one:8.2f} ms   five {five:8.2f} ms   ratio {five / one:.2f} (least {least:.2f})"
            f"   target {TARGET}   {'met' if five / one <= TARGET else 'MISSED'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
