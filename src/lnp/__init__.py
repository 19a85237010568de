"""Node classification on graphs whose labels cannot be trusted."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lnp.audit.table import AuditTable
    from lnp.datasets.catalog import load_dataset
    from lnp.datasets.load_graph import load_graph
    from lnp.errors import InputError, LNPError
    from lnp.estimator import LNPClassifier
    from lnp.graph.graph import Graph
    from lnp.graph.labels import ObservedLabels, Truth
    from lnp.graph.split import Split

__version__ = "0.1.0"

__all__ = [
    "AuditTable",
    "Graph",
    "InputError",
    "LNPClassifier",
    "LNPError",
    "ObservedLabels",
    "Split",
    "Truth",
    "__version__",
    "audit",
    "load_dataset",
    "load_graph",
]

_HOMES = {
    "AuditTable": "lnp.audit.table",
    "Graph": "lnp.graph.graph",
    "InputError": "lnp.errors",
    "LNPClassifier": "lnp.estimator",
    "LNPError": "lnp.errors",
    "ObservedLabels": "lnp.graph.labels",
    "Split": "lnp.graph.split",
    "Truth": "lnp.graph.labels",
    "audit": "lnp.audit",
    "load_dataset": "lnp.datasets.catalog",
    "load_graph": "lnp.datasets.load_graph",
}
"""Public name → the module it lives in, imported when the name is first used: ``import lnp`` loads no torch."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
