"""A run in mini-batches in a process of its own: prints what it was expected to hold at its peak over what it held.

Neither counts what the program takes, nor the making of the graph. Arguments: a method, a dataset, how it is cut, and
options as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))

from peak_of_a_run import Watch, held

from lnp.datasets.catalog import load_dataset
from lnp.engine.batching import Batching, make_feed
from lnp.engine.fit import fit
from lnp.engine.memory_estimate import PROGRAM
from lnp.engine.memory_estimate_parts import batch_sizes, estimate_parts
from lnp.engine.sizes import Sizes
from lnp.experiments.protocol import prepare
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds


def train(name: str, dataset: str, batching: Batching, options: dict[str, object]) -> tuple[dict[str, int], int]:
    """The bytes expected of the run, by what takes them, and those at its peak."""
    task = prepare(load_dataset(dataset), "random", "flip", 0.4, Seeds(0))
    config = make_config(name, options)
    graph, observed = task.graph, task.observed
    with Watch() as watch:
        feed = make_feed(batching, config, graph, observed, task.split.train)
        method = create_method(name, config, feed.batch, Seeds(0).generator("initialisation"))
        fit(method, feed, task.selection, Seeds(0).randomness())
    sizes = Sizes.of(graph, two_hop=config.backbone == "h2gcn")
    degrees = np.diff(graph.adjacency.indptr).astype(np.int64)
    batch = batch_sizes(config, sizes, batching, degrees, observed.trusted_nodes.size)
    return estimate_parts(name, config, sizes, batching, batch), watch.peak


def main(name: str, dataset: str, cut: str, options: dict[str, object]) -> None:
    torch.set_num_threads(1)
    tiny = f"{dataset.partition(chr(58))[0]}:nodes=300"
    train(name, tiny, Batching.parse(cut.replace("count=", "count=1,together=1#").split("#")[0]), options)
    before = held()
    parts, peak = train(name, dataset, Batching.parse(cut), options)
    said = ", ".join(f"{part} {bytes_ / 2**20:.0f}" for part, bytes_ in parts.items())
    sys.stderr.write(f"{said}; held {(peak - before) / 2**20:.0f} MiB\n")
    sys.stdout.write(f"{(sum(parts.values()) - PROGRAM) / (peak - before)}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))
