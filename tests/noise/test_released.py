from __future__ import annotations

import numpy as np
import pytest

from lnp.errors import ConfigError
from lnp.noise.released import released_class_map, released_flip

CLASS_MAPS = {
    3: [2, 2, 0],
    5: [2, 4, 0, 0, 3],
    6: [4, 5, 0, 1, 3, 0],
    7: [6, 4, 5, 0, 1, 3, 5],
}


@pytest.mark.parametrize("c", CLASS_MAPS)
def test_class_maps_are_the_released_ones(c):
    assert released_class_map(c).tolist() == CLASS_MAPS[c]


@pytest.mark.parametrize("p", [0.0, 0.2, 0.6, 0.8, 1.0])
@pytest.mark.parametrize("c", [2, 3, 5, 7, 40])
def test_equals_one_legacy_choice_after_another(c, p):
    true = np.random.default_rng(c).integers(c, size=400)
    stream = np.random.RandomState(1)
    matrix = np.eye(c) * (1 - p)
    for k in range(c):
        matrix[k, stream.choice(np.delete(np.arange(c), k))] = p
    expected = [stream.choice(c, p=matrix[k]) for k in true]
    result = released_flip(true, p, c)
    assert result.labels.tolist() == expected
    assert result.matrix is not None
    np.testing.assert_array_equal(result.matrix, matrix)


def test_unlabelled_nodes_take_no_number():
    true = np.random.default_rng(0).integers(7, size=50)
    spread = np.full(100, -1)
    spread[::2] = true
    assert (released_flip(spread, 0.6, 7).labels[::2] == released_flip(true, 0.6, 7).labels).all()
    assert (released_flip(spread, 0.6, 7).labels[1::2] == -1).all()


def test_global_state_is_neither_read_nor_written():
    true = np.arange(300) % 5
    np.random.seed(8)  # noqa: NPY002
    first = released_flip(true, 0.5, 5).labels
    after = np.random.random_sample()  # noqa: NPY002
    np.random.seed(8)  # noqa: NPY002
    assert after == np.random.random_sample()  # noqa: NPY002
    assert (released_flip(true, 0.5, 5).labels == first).all()


def test_bad_input_is_refused():
    with pytest.raises(ConfigError, match="Expected `class_count` to be at least 2, but got 1"):
        released_class_map(1)
    with pytest.raises(ConfigError, match=r"Expected `rate` to be in \[0, 1\], but got -1"):
        released_flip([0, 1], -1, 2)
