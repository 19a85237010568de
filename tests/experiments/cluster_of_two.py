"""A Ray cluster of two nodes, one of which is taken away while runs are on it. Run by ``test_ray_executor.py``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from ray.cluster_utils import Cluster

from lnp.experiments.grid import Choice
from lnp.experiments.jobs import Event
from lnp.experiments.ray_executor import RayExecutor
from lnp.experiments.reproduce import make_plan, reproduce
from lnp.experiments.store import Store
from lnp.experiments.tables import parse_table

TABLE = """
title = "tiny"
source = "test"
seeds = 10
[protocols]
random = { protocol = "random" }
[[panel]]
noise = "flip"
datasets = ["synthetic:nodes=200,classes=3,features=8,mean_degree=6"]
rates = [0.4]
methods = ["clean-only"]
[panel.variants]
short = { epochs = 600, hidden = 4 }
"""


def main(path: Path) -> None:
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": 10**8}
    )
    second = cluster.add_node(num_cpus=2, object_store_memory=10**8)
    cluster.wait_for_nodes()
    kinds: Counter[str] = Counter()

    def on_event(event: Event) -> None:
        kinds[event.kind] += 1
        if kinds["finished"] == 3 and len(cluster.list_all_nodes()) == 2:
            cluster.remove_node(second, allow_graceful=False)

    with Store(path) as store:
        plan = make_plan([parse_table("tiny", TABLE)], Choice(protocol="random"), store)
        reproduce(plan, RayExecutor(cluster.address), store, on_event)
        result = {
            "runs": len(store),
            "failures": len(store.failures()),
            "nodes": len(cluster.list_all_nodes()),
            **kinds,
        }
    cluster.shutdown()
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
