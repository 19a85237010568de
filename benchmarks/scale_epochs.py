"""Epochs of one or several methods on one graph, measured in a process of their own (``scale.py`` starts it).

Methods run through the engine as they always do. Each has a thread, and only the one whose turn it is computes: after
every epoch it hands over to the next, so that a busy machine disturbs all of them alike. Processor time is that of the
thread. The peak of the memory is that of the process; ``base_mib`` is what it was before the graph was loaded, after an
epoch on a tiny one, so that what Python and PyTorch take themselves can be subtracted.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"  # before numpy and torch start their threads
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # as `lnp train` does (lnp.engine.allocator)

import json
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import torch

from lnp.datasets.catalog import load_dataset
from lnp.engine.allocator import has_room, keep_freed_memory
from lnp.engine.fit import FitOptions, fit
from lnp.engine.history import EpochRecord
from lnp.engine.memory import preflight
from lnp.experiments.protocol import Task, prepare
from lnp.experiments.run import peak_rss_mib
from lnp.methods.batch import Batch, full_batch
from lnp.methods.config import MethodConfig
from lnp.methods.registry import METHODS, create_method, make_config
from lnp.seeds import Seeds

HIDDEN = 64
TINY = "synthetic-patents:nodes=200"


class Turns:
    """Who computes: one contestant at a time, in a fixed order."""

    def __init__(self, names: Sequence[str], needed: int | None) -> None:
        self.needed = needed  # bytes of all together, where there is room to keep what is freed
        self.gates = {name: threading.Semaphore(0) for name in names}
        self.following = dict(zip(names, [*names[1:], names[0]], strict=True))
        self.cpu: dict[str, list[float]] = {name: [] for name in names}
        self.wall: dict[str, list[float]] = {name: [] for name in names}
        self.problems: list[BaseException] = []

    def run(self, name: str, method: str, batch: Batch, task: Task, epochs: int) -> None:
        """Trains in turns with the others."""
        self.gates[name].acquire()
        try:
            if not self.problems:
                self._fit(name, method, batch, task, epochs)
        except BaseException as error:
            self.problems.append(error)
        self.gates[self.following[name]].release()

    def _fit(self, name: str, method: str, batch: Batch, task: Task, epochs: int) -> None:
        seeds = Seeds(0)
        config = _config(method, epochs)
        network = create_method(method, config, batch, seeds.generator("initialisation"))
        main_stage = network.stages(batch)[0].name
        started = time.thread_time(), time.perf_counter()

        def on_epoch(record: EpochRecord, _: int) -> None:
            nonlocal started
            if self.problems:
                raise RuntimeError("another contestant failed")
            if record.stage == main_stage:
                self.cpu[name].append(time.thread_time() - started[0])
                self.wall[name].append(time.perf_counter() - started[1])
                self.gates[self.following[name]].release()
                self.gates[name].acquire()
            started = time.thread_time(), time.perf_counter()

        after = on_epoch if self.needed is None else keep_freed_memory(self.needed, on_epoch)
        fit(network, batch, task.selection, seeds.randomness(), FitOptions(on_epoch=after))


def _config(method: str, epochs: int) -> MethodConfig:
    known = {field.name for field in fields(METHODS[method].method.Config)}
    wanted = {"hidden": HIDDEN, "epochs": epochs, "fine_tune_epochs": 1}
    return make_config(method, {option: value for option, value in wanted.items() if option in known})


def take_turns(dataset: str, methods: Sequence[str], epochs: int) -> list[dict[str, Any]]:
    """One row per method: medians over the epochs, the first of each left out."""
    loaded = load_dataset(dataset)
    protocol = "large" if loaded.public_splits else "random"
    task = prepare(loaded, protocol, "flip", 0.4, Seeds(0))
    batch = full_batch(task.graph, task.observed, task.split.train)
    needed = sum(preflight(name, _config(name, epochs), batch) for name in methods)
    facts = {"nodes": task.graph.node_count, "edges": task.graph.edge_count}
    del loaded
    turns = Turns(methods, needed if has_room(needed) else None)
    threads = [threading.Thread(target=turns.run, args=(name, name, batch, task, epochs)) for name in methods]
    for thread in threads:
        thread.start()
    turns.gates[methods[0]].release()
    for thread in threads:
        thread.join()
    if turns.problems:
        raise turns.problems[0]
    return [
        {
            **facts,
            "method": name,
            "epochs": epochs,
            "cpu_seconds": statistics.median(turns.cpu[name][1:]),
            "wall_seconds": statistics.median(turns.wall[name][1:]),
        }
        for name in methods
    ]


def main(dataset: str, methods: Sequence[str], epochs: int) -> None:
    """Prints the rows as JSON."""
    torch.set_num_threads(1)
    take_turns(TINY, methods, 2)
    base = peak_rss_mib()
    rows = take_turns(dataset, methods, epochs)
    for row in rows:
        row |= {"base_mib": base, "peak_mib": peak_rss_mib()}
    print(json.dumps(rows))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].split(","), int(sys.argv[3]))
