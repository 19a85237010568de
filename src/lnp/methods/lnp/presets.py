"""Named configurations of LNP: the paper's text, the released code, and the variants of the ablation study."""

from __future__ import annotations

__all__ = ["PRESETS_V1", "PRESETS_V2", "VARIANTS"]

VARIANTS: dict[str, dict[str, object]] = {
    "nl": {"lambda_1": 0.0},
    "np": {"lambda_2": 0.0},
    "nc": {"lambda_3": 0.0},
    "nw": {"weights": "one"},
    "nv": {"fusion": "concatenation", "told": True},  # there is no other judge without prototypes
}
"""No L_CE(P_φ, Y_N); no prior knowledge; no contrastive loss; no weight w; no prototype vectors."""

RELEASED: dict[str, object] = {
    "normalisation": "row",
    "initialisation": "fan-out",
    "self_in_two_hop": True,
    "epochs": 500,
    "learning_rate": 0.01,
    "weight_decay": 5e-4,
    "hidden": 64,
    "dropout": 0.5,
    "embedding": "unit",
    "scale": 1.0,
    "similarity": "random",
    "odds_power": 0.0,
    "delta": 0.7,
    "lambda_3": 0.0,
    "kl_nodes": "outside-noisy",
}
"""What the released scripts do, with the training options of the first; official-lnp.md row by row."""

PRESETS_V1: dict[str, dict[str, object]] = {
    "paper": {},
    "released": {**RELEASED, "lambda_1": 0.01, "lambda_2": 1.0, "kl_direction": "PQ"},
    **VARIANTS,
}

PRESETS_V2: dict[str, dict[str, object]] = {
    "paper": {},
    "released": {
        **RELEASED,
        "learning_rate": 1e-4,
        "weight_decay": 5e-5,
        "hidden": 256,
        "dropout": 0.4,
        "lambda_1": 0.1,
        "lambda_2": 5.0,
        "kl_direction": "QP",
        "alpha": "dot",
        "beta": "random",
        "grown_as": "noisy",
    },
    **VARIANTS,
}
