from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lnp.errors import ConfigError, LabelError, UnknownNameError
from lnp.noise.registry import NOISES, apply_noise, check_noise
from lnp.noise.released import released_flip
from lnp.noise.transition import pair_matrix, uniform_matrix, uniform_mix_matrix

C, N = 5, 4000
LABELS = np.random.default_rng(0).integers(C, size=N)
FEATURES = np.random.default_rng(1).standard_normal((N, 6)).astype(np.float32)
NODES = np.sort(np.random.default_rng(2).permutation(N)[:3000])

NAMES = ["none", "uniform", "uniform-mix", "flip", "flip-released", "pair", "instance"]


def run(name, rate=0.6, labels=LABELS, nodes=NODES, seed=0):
    return apply_noise(name, rate, labels, nodes, FEATURES, C, np.random.default_rng(seed))


def test_names_are_the_documented_ones():
    assert list(NOISES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_only_the_given_nodes_have_labels_at_the_rate_the_name_promises(name):
    result = run(name)
    outside = np.setdiff1d(np.arange(N), NODES)
    assert (result.labels[outside] == -1).all()
    assert (result.labels[NODES] >= 0).all()
    wrong = int((result.labels[NODES] != LABELS[NODES]).sum())
    assert result.realised_rate == pytest.approx(wrong / NODES.size, abs=1e-12)
    expected = {"none": 0.0, "uniform-mix": 0.6 * (1 - 1 / C)}.get(name, 0.6)
    low, high = stats.binom.interval(1 - 1e-9, NODES.size, expected)
    assert low <= wrong <= high


@pytest.mark.parametrize("name", NAMES)
def test_truth_outside_the_nodes_and_their_order_do_not_matter(name):
    other = LABELS.copy()
    outside = np.setdiff1d(np.arange(N), NODES)
    other[outside] = (other[outside] + 1) % C
    expected = run(name).labels
    assert (run(name, labels=other).labels == expected).all()
    assert (run(name, nodes=NODES[::-1]).labels == expected).all()


@pytest.mark.parametrize("name", NAMES)
def test_seeds_reproduce(name):
    same = (run(name, seed=0).labels == run(name, seed=1).labels).all()
    assert same == (name in ("none", "flip-released"))
    assert (run(name, seed=5).labels == run(name, seed=5).labels).all()


@pytest.mark.parametrize("name", NAMES)
def test_rate_zero_is_the_truth(name):
    assert (run(name, rate=0.0).labels[NODES] == LABELS[NODES]).all()


@pytest.mark.parametrize(
    ("name", "matrix"),
    [
        ("none", np.eye(C)),
        ("uniform", uniform_matrix(C, 0.6)),
        ("uniform-mix", uniform_mix_matrix(C, 0.6)),
        ("pair", pair_matrix(C, 0.6)),
    ],
)
def test_each_name_has_its_matrix(name, matrix):
    np.testing.assert_allclose(run(name).matrix, matrix, atol=1e-15)


def test_flip_has_one_wrong_class_for_each_class_and_draws_it_by_seed():
    maps = []
    for seed in range(5):
        realised = run("flip", seed=seed).realised_matrix
        assert ((realised > 0).sum(axis=1) == 2).all()
        maps.append(tuple((realised - np.diag(np.diag(realised))).argmax(axis=1)))
    assert len(set(maps)) > 1


def test_flip_released_is_the_released_draw_over_the_nodes_in_order():
    assert (run("flip-released").labels[NODES] == released_flip(LABELS[NODES], 0.6, C).labels).all()


def test_a_matrix_from_a_file(tmp_path: Path):
    path = tmp_path / "T.npy"
    np.save(path, pair_matrix(C, 1.0))
    result = run(f"matrix:{path}", rate=0.0)
    assert (result.labels[NODES] == (LABELS[NODES] + 1) % C).all()
    with pytest.raises(ConfigError, match=r"T\.npy to hold 3 rows of 3 numbers"):
        apply_noise(f"matrix:{path}", 0.0, LABELS % 3, NODES, FEATURES, 3, np.random.default_rng(0))


def test_a_node_without_a_true_label_stays_without():
    labels = LABELS.copy()
    labels[NODES[:10]] = -1
    assert (run("uniform", labels=labels).labels[NODES[:10]] == -1).all()


def test_no_nodes_give_no_labels():
    assert (run("flip", nodes=[]).labels == -1).all()


def test_bad_input_is_refused():
    with pytest.raises(UnknownNameError, match=r"Unknown noise 'flop'\. Did you mean 'flip'\? Choices: .*matrix:PATH"):
        run("flop")
    with pytest.raises(ConfigError, match=r"Expected `rate` to be in \[0, 1\], but got 1\.3"):
        run("none", rate=1.3)
    with pytest.raises(LabelError, match=f"Expected `nodes` to be from 0 to {N - 1}, but got {N}"):
        run("flip", nodes=[0, N])
    with pytest.raises(LabelError, match="Expected `nodes` to be node numbers, but got bool"):
        run("flip", nodes=LABELS == 0)
    with pytest.raises(LabelError, match="classes 0 to 4 or -1 for unknown, but node 0 has 5"):
        run("flip", labels=np.full(N, C))
    with pytest.raises(ConfigError, match=r"but got 'matrix\.txt'|to end in"):
        run("matrix:matrix.txt")
    check_noise("matrix:anything.csv", 0.5)
