"""Numbers, masks, everything, and what is none of them."""

from __future__ import annotations

import numpy as np
import pytest

from lnp.errors import LabelError
from lnp.graph.chosen_rows import chosen_rows

VALUES = np.array([10, 11, 12])


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [(None, [10, 11, 12]), ([2, 0, 0], [12, 10, 10]), ([True, False, True], [10, 12]), ([], []), ([False] * 3, [])],
)
def test_picks(nodes: object, expected: list[int]) -> None:
    assert VALUES[chosen_rows(nodes, 3)].tolist() == expected


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([3], "from 0 to 2, but got 3"),
        ([-1], "from 0 to 2, but got -1"),
        ([True, False], r"mask of the 3 nodes .* shape \(2,\) of bool"),
        ([[0, 1]], "shape"),
        ([0.5], "of float64"),
        (["a"], "Expected `nodes` to be node numbers"),
    ],
)
def test_refuses(nodes: object, message: str) -> None:
    with pytest.raises(LabelError, match=message):
        chosen_rows(nodes, 3)
