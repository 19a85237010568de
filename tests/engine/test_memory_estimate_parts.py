from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from lnp.engine.batching import Batching
from lnp.engine.memory_estimate import COLUMNS, LABELS, PROGRAM
from lnp.engine.memory_estimate_parts import BatchSizes, batch_sizes, estimate_parts, expected_rows
from lnp.engine.sizes import Sizes
from lnp.methods.registry import make_config
from lnp.nn.sampling import NeighbourSampler

N, E, D, C, H = 3_000_000, 28_000_000, 269, 5, 64
SPARSE = Sizes(nodes=N, entries=E, features=D, feature_entries=12 * N, classes=C)
DENSE = Sizes(nodes=N, entries=E, features=D, feature_entries=None, classes=C)
CONFIG = make_config("lnp-v2", {"hidden": H, "layers": 2})
NEIGHBOURS = Batching.parse("neighbours:size=4096,fan_out=10/10")


def random_graph(nodes: int, generator: np.random.Generator) -> sp.csr_array:
    """Links between nodes of very different degrees."""
    weights = generator.lognormal(0, 0.9, nodes)
    ends = generator.choice(nodes, (2, 5 * nodes), p=weights / weights.sum())
    ends = ends[:, ends[0] != ends[1]]
    links = sp.csr_array((np.ones(ends.shape[1], np.float32), (ends[0], ends[1])), shape=(nodes, nodes))
    links = sp.csr_array(links + links.T)
    links.data[:] = 1
    return links


@pytest.mark.parametrize("fan_out", [(3, 3), (10, 10), (None, 5), (4,), (2, 2, 2)])
def test_expected_rows_are_those_of_the_sampler(fan_out: tuple[int | None, ...]) -> None:
    generator = np.random.default_rng(0)
    links = random_graph(20_000, generator)
    sampler = NeighbourSampler(links, fan_out)
    drawn = [sampler.sample(generator.permutation(20_000)[:400], generator) for _ in range(5)]
    found = expected_rows(np.diff(links.indptr).astype(np.int64), 400, fan_out)
    # A neighbour may lead back to where it was drawn, which is not counted: the estimate is a little high.
    np.testing.assert_allclose(found.rows, np.mean([one.sizes for one in drawn], axis=0), rtol=0.1)
    np.testing.assert_allclose(found.links, np.mean([one.one_hop.columns.size for one in drawn]), rtol=0.1)


def test_a_batch_of_all_nodes_has_all_nodes_and_their_links_once() -> None:
    degrees = np.array([3, 1, 0, 2, 2])
    found = expected_rows(degrees, 5, (None, None))
    np.testing.assert_allclose(found.rows, 5)
    assert found.links == 8  # nobody is new after the first hop, so nobody draws again


def test_evaluation_by_hand() -> None:
    parts = estimate_parts("lnp-v2", CONFIG, SPARSE, NEIGHBOURS, BatchSizes((4_096.0, 10_000.0), 0.0))
    assert parts == {
        "program": PROGRAM,
        "graph": E * (4 + 4) + N * 4 + N * LABELS + 60 * N,
        "features": 12 * N * 8 + 4 * N,
        "propagation": (E + N) * 8 + 4 * N,
        "predictions": N * (6 * C * 4 + 60),
        # X W, outputs and what becomes of them, four matrices of a block
        "evaluation": round(1.1 * (N * (H + 4 * C) * 4 + 4 * 2**15 * H * 4)),
    }


def test_a_large_batch_by_hand() -> None:
    rows = BatchSizes((1_000_000.0, 2_000_000.0, 3_000_000.0), 2e7)
    parts = estimate_parts("lnp-v2", CONFIG, SPARSE, NEIGHBOURS, rows)
    hidden = 3 * 3 * 2_000_000 * H * 4 + 2 * 3_000_000 * H * 4  # three networks keep a layer of the first hop
    losses = 1_000_000 * (34 * C * 4 + COLUMNS)
    assert "evaluation" not in parts
    assert parts["batch"] == round(1.1 * (3 * (12 * N * 8 + 4 * N) + 64 * 20_000_000 + hidden + losses))


def test_what_is_known_of_the_whole_graph_saves_a_hop() -> None:
    small = Sizes(nodes=10_000, entries=80_000, features=32, feature_entries=None, classes=C)
    degrees = np.full(10_000, 8)
    batching = Batching.parse("neighbours:size=100,fan_out=3/5")
    known = batch_sizes(CONFIG, small, batching, degrees, trusted=20)
    assert len(known.rows) == 2  # S X is at hand
    assert known.rows[0] == pytest.approx(120)
    assert known.links == pytest.approx(120 * 3)
    assert len(batch_sizes(CONFIG, SPARSE, batching, degrees).rows) == 3
    assert len(batch_sizes(CONFIG, DENSE, batching, degrees).rows) == 3  # S X would be too large to keep
    assert estimate_parts("lnp-v2", CONFIG, small, batching, known)["propagation"] == small.propagation + 4 * 320_000


def test_clusters_and_rows_of_hops_by_hand() -> None:
    clusters = Batching.parse("clusters:count=100,together=5")
    assert batch_sizes(CONFIG, SPARSE, clusters, np.zeros(0, np.int64)) == BatchSizes((N / 20,), E / 20)
    assert batch_sizes(CONFIG, SPARSE, Batching(kind="clusters"), np.zeros(0, np.int64)).rows[0] == pytest.approx(
        20 * 160, rel=1e-3
    )
    sign = make_config("lnp-v2", {"backbone": "sign", "layers": 2})
    rows = batch_sizes(sign, DENSE, NEIGHBOURS, np.zeros(0, np.int64), trusted=5_000)
    assert rows == BatchSizes((4_096 + 1_024,), 0)  # a quarter of the batch size may visit


def test_visitors_and_own_nodes_are_never_more_than_all() -> None:
    few = Sizes(nodes=50, entries=100, features=4, feature_entries=None, classes=2)
    assert batch_sizes(CONFIG, few, NEIGHBOURS, np.full(50, 2), trusted=10).rows == (50.0, 50.0)


def test_metis_counts_until_the_graph_is_cut() -> None:
    clusters = Batching.parse("clusters:count=10000,together=5")
    sizes = batch_sizes(CONFIG, SPARSE, clusters, np.zeros(0, np.int64))
    before, after = (estimate_parts("lnp-v2", CONFIG, SPARSE, clusters, sizes, cut=cut) for cut in (True, False))
    assert before["preparation"] == round(1.1 * 110 * E)
    assert "evaluation" in after


SHORT: dict[str, object] = {"epochs": 1, "hidden": 64}
DENSE_GRAPH = "synthetic:features=64,classes=8,mean_degree=8,nodes=100000"
SPARSE_GRAPH = "synthetic-patents:nodes=200000"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dataset", "cut", "options"),
    [
        ("lnp-v2", DENSE_GRAPH, "neighbours:size=50000,fan_out=10", SHORT),
        ("lnp-v2", SPARSE_GRAPH, "neighbours:size=50000,fan_out=10", SHORT),
        ("lnp-v2", SPARSE_GRAPH, "neighbours:size=10000,fan_out=2", SHORT),
        ("lnp-v2", SPARSE_GRAPH, "clusters:count=12,together=3", SHORT),
        ("lnp-v2", DENSE_GRAPH, "neighbours:size=50000", {**SHORT, "backbone": "sign"}),
        ("gcn", SPARSE_GRAPH, "neighbours:size=50000,fan_out=all", SHORT),
    ],
)
def test_the_estimate_against_the_peak_of_a_run(
    tmp_path: Path, name: str, dataset: str, cut: str, options: dict[str, object]
) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell how much memory is held besides pages of files")
    if cut.startswith("clusters") and importlib.util.find_spec("pymetis") is None:
        pytest.skip("pymetis is not installed")
    script = [str(Path(__file__).parent / "peak_of_parts.py"), name, dataset, cut, json.dumps(options)]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *script], env=environment, capture_output=True, text=True, check=True)
    assert 0.8 < float(done.stdout) < 1.4, done.stderr
