"""A run in a process of its own: prints what was expected to be held at the peak over what was, besides the program.

Arguments: a method, a number of nodes, bytes up to which hops stay in memory, and options as JSON.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from pathlib import Path

import torch

from lnp.datasets.catalog import load_dataset
from lnp.engine.fit import fit
from lnp.engine.memory_estimate import PROGRAM, estimate_memory
from lnp.engine.sizes import Sizes
from lnp.experiments.protocol import prepare
from lnp.methods.batch import full_batch
from lnp.methods.registry import create_method, make_config
from lnp.nn import hops
from lnp.seeds import Seeds

__all__ = ["held"]


def held() -> int:
    """Bytes of memory without pages of files; 0 where the system does not tell."""
    try:
        found = re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())
    except OSError:
        return 0
    return 0 if found is None else 1024 * int(found[1])


class Watch:
    """The most that is held while it lasts."""

    def __enter__(self) -> Watch:
        self.peak, self.done = 0, threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self) -> None:
        while not self.done.is_set():
            self.peak = max(self.peak, held())
            time.sleep(0.003)

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()


def train(name: str, nodes: int, options: dict[str, object]) -> tuple[int, int]:
    """The bytes expected of the run, and those at its peak; making the graph does not count."""
    dataset = load_dataset(f"synthetic:features=64,classes=8,mean_degree=8,nodes={nodes}")
    task = prepare(dataset, "random", "flip", 0.4, Seeds(0))
    config = make_config(name, options)
    with Watch() as watch:
        batch = full_batch(task.graph, task.observed, task.split.train)
        method = create_method(name, config, batch, Seeds(0).generator("initialisation"))
        fit(method, batch, task.selection, Seeds(0).randomness())
    return sum(estimate_memory(name, config, Sizes.of(task.graph)).values()) - PROGRAM, watch.peak


def main(name: str, nodes: int, in_memory: int, options: dict[str, object]) -> None:
    torch.set_num_threads(1)
    hops.IN_MEMORY = in_memory
    train(name, 300, options)
    before = held()
    expected, peak = train(name, nodes, options)
    sys.stdout.write(f"{expected / (peak - before)}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4]))
