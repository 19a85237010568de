"""Where ``lnp tune`` looks: for each method the options that vary and the values that they may take.

For LNP it is the paper's grid (Table 4) with what a working LNP needs beside it: the scale of unit embeddings, which is
a temperature; how embeddings and similarities are normalised; the power of the odds; and λ below 0.1. Every other
method has the same step sizes, penalties, widths and dropouts, and its own knobs. Epochs do not vary.

The paper's larger networks, and step sizes with which Adam moves no weight by more than 0.02 in 200 epochs, are in the
space only if it is asked to be wide. A method's own default is always in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from lnp.errors import UnknownNameError
from lnp.methods.config import MethodConfig

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

__all__ = ["SPACES", "WIDE", "Space", "decode", "digest", "distributions", "encode", "is_ordered", "space_of"]

Value = bool | int | float | str | None

Space = Mapping[str, tuple[Value, ...]]
"""Option → its values; numbers in rising order."""

LAMBDAS = (0.01, 0.03, 0.1, 0.5, 1.0, 1.5, 5.0, 10.0, 100.0)

NETWORK: dict[str, tuple[Value, ...]] = {
    "learning_rate": (1e-3, 3e-3, 1e-2, 3e-2),
    "weight_decay": (5e-5, 5e-4, 5e-3, 5e-2),
    "hidden": (32, 64),
    "dropout": (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
    "normalisation": ("row", "symmetric"),
    "loop_weight": (0.1, 0.3, 1.0, 3.0, 10.0, 30.0),
    "similar_weight": (0.0, 1.0, 3.0),
    "links_width": (0, 16, 64),
    "diffusion_steps": (0, 2, 10),
}
"""What every network has."""

SEES_MORE = ("similar_weight", "links_width", "diffusion_steps")
"""What methods that learn links of their own are not offered."""

WIDE: dict[str, tuple[Value, ...]] = {"learning_rate": (1e-5, 1e-4), "hidden": (128, 256)}
"""What a wide space adds: the rest of Table 4."""

OF_BACKBONE: dict[str, dict[str, tuple[Value, ...]]] = {"h2gcn": {"layers": (1, 2)}}
"""What varies with a backbone only: H2GCN's authors report one and two rounds."""

LNP: dict[str, tuple[Value, ...]] = {
    **NETWORK,
    "lambda_1": LAMBDAS,
    "lambda_2": LAMBDAS,
    "lambda_3": LAMBDAS,
    "delta": (0.7, 0.8, 0.9),
    "scale": (2.0, 3.0, 5.0, 8.0),
    "embedding": ("unit", "raw"),
    "similarity": ("cosine", "minmax"),
    "told": (True, False),
    "odds_power": (0.0, 2.0, 4.0, 6.0),
}

FINE_TUNED: dict[str, tuple[Value, ...]] = {**NETWORK, "fine_tune_learning_rate": (1e-3, 3e-3, 1e-2, 3e-2)}

LEARNS_LINKS: dict[str, tuple[Value, ...]] = {
    option: values for option, values in FINE_TUNED.items() if option not in SEES_MORE
}

TRANSITION: dict[str, tuple[Value, ...]] = {
    **FINE_TUNED,
    "estimator": ("estimate", "anchors"),
    "percentile": (90.0, 97.0, 100.0),
    "estimate_nodes": ("outside", "noisy", "all"),
    "estimate_epochs": (50, 100, 200),
}

SPACES: dict[str, dict[str, tuple[Value, ...]]] = {
    "lnp-v1": LNP,
    "lnp-v2": LNP,
    "lnp-channel": {
        # Paths and diffusion are variants of its own.
        **{option: values for option, values in NETWORK.items() if option not in ("links_width", "diffusion_steps")},
        "variant": ("smooth", "similar", "features", "links", "plain"),
        "trusted_weight": (0.03, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0),
        "gain": (0.0, 0.05, 10.0),
        "targets": ("given", "posterior"),
    },
    "gcn": FINE_TUNED,
    "h2gcn": FINE_TUNED,
    "mlp": FINE_TUNED,
    "gce": {**FINE_TUNED, "q": (0.1, 0.3, 0.5, 0.7, 0.9, 1.0), "truncated": (False, True), "k": (0.2, 0.3, 0.5)},
    "apl": {
        **FINE_TUNED,
        "active": ("nce", "nfl"),
        "passive": ("rce", "mae"),
        "active_weight": (0.1, 1.0, 10.0),
        "passive_weight": (0.1, 1.0, 10.0),
    },
    "forward": TRANSITION,
    "dgnn": {
        **TRANSITION,
        "correction": ("backward", "compound"),
        "max_condition": (5.0, 20.0, 100.0),
        "ill_conditioned": ("shrink", "pseudo-inverse"),
    },
    "smodel": {**FINE_TUNED, "start_error": (0.05, 0.1, 0.2, 0.4, 0.6)},
    "glc": {
        **NETWORK,
        "estimate_epochs": (50, 100, 200),
        "smoothing": (0.0, 1.0, 3.0),
        "trusted_weight": (1.0, 3.0, 10.0, 30.0, 100.0),
    },
    "nrgnn": {
        **LEARNS_LINKS,
        "candidates": (5, 10, 25),
        "pseudo_links": (5, 10, 25),
        "link_threshold": (0.05, 0.1, 0.3),
        "confidence": (0.7, 0.8, 0.9, 0.95),
        "edge_term": (0.03, 0.1, 0.3, 1.0),
        "pseudo_term": (0.01, 0.1, 1.0, 10.0),
    },
    "rtgnn": {
        **LEARNS_LINKS,
        "candidates": (5, 10, 25),
        "link_threshold": (0.05, 0.2, 0.5),
        "confidence": (0.7, 0.8, 0.9, 0.95),
        "edge_term": (0.1, 0.3, 1.0),
        "agreement": (0.03, 0.1, 0.3, 1.0),
    },
    "coteaching-plus": {
        **FINE_TUNED,
        "ramp_epochs": (50, 100, 200, 300),
        "schedule": ("ramp", "official", "growing"),
        "warm_up": (50, 100, 150, 200),
        "noise_rate": (None, 0.2, 0.4, 0.6),
    },
    "unionnet": {
        **FINE_TUNED,
        "support_size": (5, 10, 20),
        "reweighting": (0.2, 0.5, 0.8),
        "prior_weight": (0.1, 0.5, 1.0, 2.0),
        "warm_up": (20, 50, 100),
    },
    "pignn": {**FINE_TUNED, "pair_weight": (0.03, 0.1, 0.3, 1.0, 3.0), "confidence_start": (20, 50, 100)},
    "lpm": {
        **NETWORK,
        "steps": (10, 20, 50),
        "grow": (False, True),
        "inner_learning_rate": (0.1, 0.3, 1.0, 3.0),
        "aggregator_learning_rate": (1e-4, 1e-3, 1e-2),
    },
    "label-propagation": {
        "seeds": ("trusted", "noisy", "both"),
        "noisy_weight": (0.003, 0.01, 0.03, 0.05, 0.1, 0.3, 1.0),
        "alpha": (0.5, 0.7, 0.8, 0.9, 0.95, 0.99),
        "diffusion": ("symmetric", "row", "column"),
    },
    "correct-and-smooth": {
        **FINE_TUNED,
        "correction": ("autoscale", "fixed"),
        "correct_alpha": (0.5, 0.8, 0.9, 0.95, 1.0),
        "correct_scale": (0.5, 1.0, 2.0),
        "smooth_alpha": (0.2, 0.5, 0.8, 0.9),
        "smooth_diffusion": ("symmetric", "row", "column"),
    },
    "joint": {**NETWORK, "trusted_weight": (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)},
    "clean-only": NETWORK,
}
"""Method → option → values."""


def space_of(method: str, default: MethodConfig, *, wide: bool = False) -> Space:
    """What varies in a study: the method's space, with its default among the values.

    Args:
        method: A name of :data:`SPACES`.
        default: The configuration that is tried first. Options without effect on its backbone do not vary.
        wide: Add :data:`WIDE`.
    """
    if method not in SPACES:
        raise UnknownNameError("method with a search space", method, SPACES)
    space: dict[str, tuple[Value, ...]] = {}
    for option, values in (SPACES[method] | OF_BACKBONE.get(default.backbone, {})).items():
        if option in ("normalisation", "loop_weight", "similar_weight") and default.backbone != "gcn":
            continue
        every = (*values, *(WIDE.get(option, ()) if wide else ()), getattr(default, option))
        distinct = tuple(dict.fromkeys(every))
        space[option] = _rising(distinct) if is_ordered(distinct) else distinct
    return space


def digest(space: Space) -> str:
    """A short name for exactly this space."""
    return hashlib.sha256(json.dumps(dict(space), sort_keys=True).encode()).hexdigest()[:12]


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """The space in Optuna's words: numbers by their place in the row, so that near values count as near."""
    from optuna.distributions import CategoricalDistribution, IntDistribution

    return {
        option: IntDistribution(0, len(values) - 1) if is_ordered(values) else CategoricalDistribution(values)
        for option, values in space.items()
    }


def encode(space: Space, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as parameters of :func:`distributions`."""
    return {
        option: values.index(options[option]) if is_ordered(values) else options[option]
        for option, values in space.items()
    }


def decode(space: Space, parameters: Mapping[str, Any]) -> dict[str, object]:
    """The reverse of :func:`encode`."""
    return {
        option: values[parameters[option]] if is_ordered(values) else parameters[option]
        for option, values in space.items()
    }


def is_ordered(values: tuple[Value, ...]) -> TypeGuard[tuple[int | float, ...]]:
    """Whether the values are numbers, which have neighbours."""
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _rising(values: tuple[int | float, ...]) -> tuple[Value, ...]:
    return tuple(sorted(values))
