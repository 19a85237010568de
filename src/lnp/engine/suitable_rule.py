"""Which selection rule suits labels as they come, for whoever does not want to choose one.

- Where every class has a trusted label and there are many others: a fifth of the untrusted labels, behind a noise
  matrix that is learnt from the rest (``val-channel``, :mod:`lnp.engine.noise_channel`), so that all trusted ones
  teach. On large graphs, and in mini-batches, learning that takes longer than most methods themselves, so it is left to
  the one that learns it anyway.
- Else held-out trusted labels (``trusted``), where at least half of the classes have two or more.
- Else a fifth of the untrusted labels as they are (``val-noisy``), where there are enough.
- Else nobody (``last``).
"""

from __future__ import annotations

import numpy as np

from lnp.engine.noise_channel import METHOD, RULE, rule_for
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.nn.graph_tensors import LARGE

__all__ = ["AUTO", "LABELS_PER_CLASS", "LABELS_TO_LEARN_FROM", "suitable_rule"]

AUTO = "auto"
"""What asks for it."""

LABELS_PER_CLASS = 10
"""Untrusted labels, on average, from which on a fifth of them can be spared to choose the epoch."""

LABELS_TO_LEARN_FROM = 50
"""Untrusted labels, on average, from which on the noise behind them is known well enough to judge others by. On Cora
held-out trusted labels are the better judge with 25 a class, and the worse one with 60 (docs/selection.md)."""


def suitable_rule(method: str, observed: ObservedLabels, *, whole: bool = True) -> str:
    """The rule for a method.

    Args:
        method: By name.
        observed: Given and trusted labels.
        whole: Whether every step sees the whole graph.

    >>> labels = ObservedLabels([0, 1] * 51, [True, True, *[False] * 100], class_count=2)
    >>> suitable_rule("gcn", labels), suitable_rule("lnp-channel", labels), suitable_rule("gcn", labels, whole=False)
    ('val-channel', 'val-given', 'val-noisy')
    """
    trusted = np.bincount(observed.given[observed.trusted], minlength=observed.class_count)
    untrusted = int(((observed.given != UNKNOWN) & ~observed.trusted).sum())
    enough = untrusted >= LABELS_PER_CLASS * observed.class_count
    learns = untrusted >= LABELS_TO_LEARN_FROM * observed.class_count and whole and observed.node_count < LARGE
    if trusted.all() and (learns or (enough and method == METHOD)):
        return rule_for(method, RULE)
    if 2 * int((trusted >= 2).sum()) >= observed.class_count:
        return "trusted"
    return "val-noisy" if enough else "last"
