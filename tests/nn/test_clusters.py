"""Cuts of graphs whose best cut is known, the file they are kept in, and the message without METIS."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from lnp.errors import ConfigError
from lnp.nn import clusters
from lnp.nn.clusters import clusters_of, metis_clusters

RINGS = 4
SIZE = 12


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "lnp" / "clusters"


@pytest.fixture
def cliques() -> sp.csr_array:
    """Four cliques of twelve, one edge from each to the next, nodes in no order."""
    n = RINGS * SIZE
    matrix = np.kron(np.eye(RINGS), np.ones((SIZE, SIZE)))
    for ring in range(RINGS - 1):
        matrix[ring * SIZE, (ring + 1) * SIZE] = matrix[(ring + 1) * SIZE, ring * SIZE] = 1
    np.fill_diagonal(matrix, 0)
    order = np.random.default_rng(0).permutation(n)
    return sp.csr_array(matrix[order][:, order].astype(np.float32))


def test_cliques_are_not_cut(cliques) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("pymetis")
    numbers = metis_clusters(cliques, RINGS)
    entries = cliques.tocoo()
    assert np.bincount(numbers).tolist() == [SIZE] * RINGS
    assert (numbers[entries.row] != numbers[entries.col]).sum() == 2 * (RINGS - 1)
    np.testing.assert_array_equal(metis_clusters(cliques, RINGS), numbers)  # drawn, but the same every time


def test_clusters_hold_every_node_once(cliques) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("pymetis")
    found = clusters_of(cliques, 5)
    assert np.sort(np.concatenate(found)).tolist() == list(range(RINGS * SIZE))
    assert all(nodes.size and (np.diff(nodes) > 0).all() for nodes in found)


def test_a_partition_is_kept_and_a_broken_file_made_again(cliques, cache, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("pymetis")
    first = clusters_of(cliques, RINGS, kept_nodes=1)
    (file,) = cache.iterdir()
    monkeypatch.setattr(clusters, "metis_clusters", lambda *_: pytest.fail("was cut again"))
    for one, other in zip(first, clusters_of(cliques, RINGS, kept_nodes=1), strict=True):
        np.testing.assert_array_equal(one, other)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.parent.parent))
    file.write_bytes(b"nonsense")
    assert len(clusters_of(cliques, RINGS, kept_nodes=1)) == RINGS
    assert np.load(file).shape == (RINGS * SIZE,)
    clusters_of(cliques, 3, kept_nodes=1)
    assert len(list(cache.iterdir())) == 2  # another number of clusters is another partition


def test_one_cluster_needs_no_metis_and_more_say_what_to_install(cliques, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setitem(sys.modules, "pymetis", None)
    assert clusters_of(cliques, 1)[0].size == RINGS * SIZE
    with pytest.raises(ConfigError, match=r"not installed\. Install it with `pip install 'lnp\[scale\]'`"):
        clusters_of(cliques, 2)


@pytest.mark.parametrize("count", [0, RINGS * SIZE + 1])
def test_impossible_numbers_of_clusters(cliques, count: int) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ConfigError, match="`clusters` to be from 1 to 48"):
        metis_clusters(cliques, count)
