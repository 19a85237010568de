from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lnp.errors import ConfigError
from lnp.noise.transition import (
    check_matrix,
    draw_class_map,
    flip_matrix,
    pair_matrix,
    read_matrix,
    uniform_matrix,
    uniform_mix_matrix,
)

COUNTS = st.integers(2, 12)
RATES = st.floats(0, 1)


@settings(max_examples=40, deadline=None)
@given(COUNTS, RATES, st.integers(0, 100))
def test_every_matrix_is_row_stochastic_with_the_stated_error_rate(c, p, seed):
    class_map = draw_class_map(c, np.random.default_rng(seed))
    stays = {
        "uniform": (uniform_matrix(c, p), 1 - p),
        "mix": (uniform_mix_matrix(c, p), 1 - p * (1 - 1 / c)),
        "flip": (flip_matrix(c, p, class_map), 1 - p),
        "pair": (pair_matrix(c, p), 1 - p),
    }
    for matrix, stay in stays.values():
        assert matrix.dtype == np.float64
        assert (matrix >= 0).all()
        np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(np.diag(matrix), stay, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(COUNTS, RATES)
def test_the_two_uniform_forms_are_one_family(c, p):
    # (1 - p) I + p / c is the uniform matrix of rate p (1 - 1/c).
    np.testing.assert_allclose(uniform_mix_matrix(c, p), uniform_matrix(c, p * (1 - 1 / c)), atol=1e-12)


@pytest.mark.parametrize(("c", "wrong"), [(3, 0.533), (5, 0.64), (6, 0.667), (7, 0.686)])
def test_uniform_mix_is_weaker_than_its_rate(c, wrong):
    np.testing.assert_allclose(1 - np.diag(uniform_mix_matrix(c, 0.8)), wrong, atol=5e-4)


def test_uniform_is_pure_noise_for_five_classes_and_majority_wrong_for_three():
    assert np.linalg.matrix_rank(uniform_matrix(5, 0.8)) == 1
    np.testing.assert_allclose(uniform_matrix(3, 0.8)[1], [0.4, 0.2, 0.4])


@settings(max_examples=40, deadline=None)
@given(COUNTS)
def test_rate_zero_is_the_identity(c):
    for matrix in (uniform_matrix(c, 0), uniform_mix_matrix(c, 0), pair_matrix(c, 0)):
        np.testing.assert_array_equal(matrix, np.eye(c))


def test_flip_at_rate_one_is_the_map():
    class_map = [3, 0, 0, 1]
    np.testing.assert_array_equal(flip_matrix(4, 1.0, class_map), np.eye(4)[class_map])


def test_a_swapped_pair_is_singular_at_one_half():
    assert np.linalg.matrix_rank(flip_matrix(3, 0.5, [2, 2, 0])) == 2
    assert np.linalg.matrix_rank(flip_matrix(3, 0.4, [2, 2, 0])) == 3


def test_pair_is_a_cyclic_shift():
    np.testing.assert_allclose(pair_matrix(5, 0.3), 0.7 * np.eye(5) + 0.3 * np.roll(np.eye(5), 1, axis=1))


def test_class_maps_are_uniform_over_the_other_classes():
    c, draws = 4, 6000
    generator = np.random.default_rng(0)
    maps = np.stack([draw_class_map(c, generator) for _ in range(draws)])
    assert (maps != np.arange(c)).all()
    expected, slack = draws / (c - 1), 5 * np.sqrt(draws * (1 / 3) * (2 / 3))
    for k in range(c):
        counts = np.bincount(maps[:, k], minlength=c)
        assert (np.abs(np.delete(counts, k) - expected) < slack).all()


def test_class_map_of_two_classes_swaps_them():
    assert draw_class_map(2, np.random.default_rng(3)).tolist() == [1, 0]


@pytest.mark.parametrize("class_map", [[0, 0, 1], [1, 2], [1, 2, 3], [1, 0, 0.5], [-1, 0, 0]])
def test_a_bad_class_map_is_refused(class_map):
    with pytest.raises(ConfigError, match="Expected `class_map` to name another of the 3 classes"):
        flip_matrix(3, 0.5, class_map)


@pytest.mark.parametrize("build", [uniform_matrix, uniform_mix_matrix, pair_matrix])
@pytest.mark.parametrize("rate", [-0.1, 1.3, float("nan")])
def test_a_bad_rate_is_refused(build, rate):
    with pytest.raises(ConfigError, match=r"Expected `rate` to be in \[0, 1\], but got"):
        build(3, rate)


def test_one_class_is_refused():
    with pytest.raises(ConfigError, match="Expected `class_count` to be at least 2, but got 1"):
        uniform_matrix(1, 0.5)


MATRIX = [[0.5, 0.25, 0.25], [0.125, 0.875, 0.0], [0.0, 0.0, 1.0]]


@pytest.fixture
def write(tmp_path):
    def _write(name, content):
        path = tmp_path / name
        if isinstance(content, np.ndarray):
            np.save(path, content)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8")
        return path

    return _write


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.csv", "0.5,0.25,0.25\n0.125, 0.875 ,0\n0,0,1\n\n"),
        ("m.CSV", "\ufeff0.5,0.25,0.25\r\n0.125,0.875,0\r\n0,0,1"),
        ("m.json", json.dumps(MATRIX)),
        ("m.npy", np.array(MATRIX)),
        ("m.npy", np.array(MATRIX, np.float32)),
    ],
)
def test_every_format_reads_the_same_matrix(write, name, content):
    read = read_matrix(write(name, content), 3)
    assert read.dtype == np.float64
    np.testing.assert_array_equal(read, MATRIX)


def test_rounded_rows_are_made_to_sum_to_one(write):
    read = read_matrix(write("m.csv", "0.3333333,0.6666666\n0,1"), 2)
    np.testing.assert_allclose(read.sum(axis=1), 1, atol=1e-15)
    np.testing.assert_allclose(read[0], [1 / 3, 2 / 3], atol=1e-7)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.csv", "1,0\nx,1", r"m\.csv, row 2, column 1 to be a number, but got 'x'"),
        ("m.csv", "1,0\n,1", r"m\.csv, row 2, column 1 to be a number, but got ''"),
        ("m.csv", "1,0\n0,1,0", r"m\.csv, row 2 to hold 2 numbers, but got 3 of them"),
        ("m.csv", "1,0", r"m\.csv to hold 2 rows, one for each true class, but got 1"),
        ("m.csv", "", r"m\.csv to hold 2 rows, one for each true class, but got 0"),
        ("m.csv", b"\xff\xfe1,0", r"m\.csv is not a readable transition matrix"),
        ("m.csv", "1,0\n1.5,-0.5", r"m\.csv, row 2, column 1 \(true class 1, given class 0\) to be in \[0, 1\].*1\.5"),
        ("m.csv", "1,0\n0.5,nan", r"m\.csv, row 2, column 2 .* to be in \[0, 1\], but got nan"),
        ("m.csv", "0.9,0.1\n0.5,0.4", r"m\.csv, row 2 \(true class 1\) to sum to 1, but it sums to 0\.9"),
        ("m.json", "[[1, 0], [0, 1]", r"m\.json is not a readable transition matrix"),
        ("m.json", "[" * 100_000, r"m\.json is not a readable transition matrix"),
        ("m.json", '{"a": 1}', r"m\.json to hold a list of rows, but got dict"),
        ("m.json", "[[1, 0], 7]", r"m\.json, row 2 to hold 2 numbers, but got 7"),
        ("m.json", "[[1, 0], [null, 1]]", r"m\.json, row 2, column 1 to be a number, but got None"),
        ("m.json", f"[[1, 0], [1{'0' * 400}, 1]]", r"m\.json, row 2, column 1 to be a number"),
        ("m.npy", np.eye(3), r"m\.npy to hold 2 rows of 2 numbers, .*, but got shape \(3, 3\)"),
        ("m.npy", np.array([["a", "b"], ["c", "d"]]), r"m\.npy to hold 2 rows of 2 numbers"),
        ("m.npy", np.eye(2) * 1j, r"m\.npy to hold real numbers"),
        ("m.npy", b"\x93NUMPY\x01\x00", r"m\.npy is not a readable transition matrix"),
        ("m.npy", b"", r"m\.npy is not a readable transition matrix"),
        ("m.txt", "1,0\n0,1", r"to end in \.csv, \.json, \.npy, but got .*m\.txt"),
    ],
)
def test_bad_files_are_refused_with_their_place(write, name, content, message):
    with pytest.raises(ConfigError, match=message):
        read_matrix(write(name, content), 2)


def test_a_pickled_array_is_never_opened(tmp_path):
    path = tmp_path / "m.npy"
    np.save(path, np.array([[{}, 0], [0, 1]], dtype=object), allow_pickle=True)
    with pytest.raises(ConfigError, match=r"m\.npy is not a readable transition matrix"):
        read_matrix(path, 2)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"transition matrix at .*absent\.csv, but there is no such file"):
        read_matrix(tmp_path / "absent.csv", 2)


def test_rows_may_be_off_by_a_millionth_and_no_more():
    check_matrix([[1 - 0.9e-6, 0], [0, 1]], 2)
    with pytest.raises(ConfigError, match="row 1"):
        check_matrix([[1 - 1.2e-6, 0], [0, 1]], 2)
