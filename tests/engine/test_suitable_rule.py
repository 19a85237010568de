"""What suits which labels."""

from __future__ import annotations

import numpy as np
import pytest

from lnp.engine.suitable_rule import suitable_rule
from lnp.graph.labels import ObservedLabels
from lnp.nn.graph_tensors import LARGE


def labels(trusted: tuple[int, int, int], untrusted: int, nodes: int = 0) -> ObservedLabels:
    """So many trusted labels of each class, and so many others; further nodes have none."""
    classes = np.concatenate([np.repeat(np.arange(3), trusted), np.arange(untrusted) % 3])
    given = np.concatenate([classes, np.full(max(0, nodes - classes.size), -1)])
    return ObservedLabels(given, np.arange(given.size) < sum(trusted), class_count=3)


@pytest.mark.parametrize(
    ("trusted", "untrusted", "rule"),
    [
        ((1, 1, 1), 150, "val-channel"),
        ((9, 9, 9), 149, "trusted"),
        ((2, 2, 0), 150, "trusted"),
        ((2, 1, 0), 150, "val-noisy"),
        ((2, 1, 1), 29, "last"),
        ((0, 0, 0), 30, "val-noisy"),
        ((0, 0, 0), 29, "last"),
    ],
)
def test_by_what_there_is(trusted: tuple[int, int, int], untrusted: int, rule: str) -> None:
    assert suitable_rule("gcn", labels(trusted, untrusted)) == rule


@pytest.mark.parametrize(("trusted", "untrusted"), [((1, 1, 1), 30), ((9, 9, 9), 1000)])
def test_who_learns_the_noise_is_judged_behind_it(trusted: tuple[int, int, int], untrusted: int) -> None:
    assert suitable_rule("lnp-channel", labels(trusted, untrusted)) == "val-given"
    assert suitable_rule("lnp-channel", labels(trusted, 29)) in ("trusted", "last")
    assert suitable_rule("lnp-channel", labels((2, 2, 0), untrusted)) == "trusted"


def test_large_graphs_and_parts_of_them_learn_no_noise_but_for_who_does_anyway() -> None:
    small, large = labels((2, 2, 2), 150, LARGE - 1), labels((2, 2, 2), 150, LARGE)
    assert [suitable_rule("gcn", one) for one in (small, large)] == ["val-channel", "trusted"]
    assert suitable_rule("gcn", small, whole=False) == "trusted"
    assert suitable_rule("lnp-channel", large) == "val-given"
