"""How long runs will take: by runs of the same kind that are done, else by the size of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lnp.datasets.catalog import CATALOG
from lnp.experiments.spec import RunSpec

__all__ = ["Measured", "estimate_seconds", "guess_seconds"]

Measured = Mapping[tuple[str, str, str], float]
"""(dataset, method, backbone) → mean seconds of a run."""

FIXED, PER_ENTRY = 2e-3, 2e-10
"""Seconds of an epoch: a constant, and one multiply-add with its share of everything around it. Rough."""

WEIGHTS = {"lnp-v1": 4.0, "lnp-v2": 4.0, "coteaching-plus": 2.5, "nrgnn": 4.0, "lpm": 6.0, "rtgnn": 5.0}
"""How many times the epochs of a plain network others cost. Rough."""


def estimate_seconds(specs: Iterable[RunSpec], measured: Measured, workers: int = 1) -> float:
    """Seconds for all runs together on so many workers."""
    total = 0.0
    for spec in specs:
        kind = (spec.dataset, spec.method, spec.config().backbone)
        total += measured[kind] if kind in measured else guess_seconds(spec)
    return total / max(1, workers)


def guess_seconds(spec: RunSpec) -> float:
    """A guess where nothing was measured: right to a factor of about three on one thread.

    An epoch costs two products per layer with the hidden width h, forward, backward and once more to evaluate:
    features n·d (bags of words count a fiftieth) and edges m. H2GCN has the denser two-hop graph, taken as ten times m.
    """
    config = spec.config()
    row = CATALOG.get(spec.dataset.partition(":")[0].lower().replace("_", "-"))
    nodes, edges, features = (row.nodes, row.edges, row.features) if row else (10_000, 50_000, 500)
    edges *= 20 if config.backbone == "h2gcn" else 2
    inputs = nodes * features / (50 if features > 200 else 1)
    entries = 3 * config.hidden * (inputs + (nodes + edges) * config.layers)
    return 0.5 + config.epochs * WEIGHTS.get(spec.method, 1.5) * (FIXED + PER_ENTRY * entries)
