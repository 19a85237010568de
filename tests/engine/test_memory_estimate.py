from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lnp.engine.memory_estimate import COLUMNS, LABELS, PROGRAM, estimate_memory, hops_file_bytes
from lnp.engine.sizes import Sizes
from lnp.methods.registry import make_config

N, E, D, C, H = 200_000, 1_900_000, 100, 5, 64
DENSE = Sizes(nodes=N, entries=E, features=D, feature_entries=None, classes=C)
SPARSE = Sizes(nodes=N, entries=E, features=D, feature_entries=12 * N, classes=C)
FEW = Sizes(nodes=1_000, entries=9_500, features=D, feature_entries=None, classes=C)


def test_large_and_dense_by_hand() -> None:
    parts = estimate_memory("lnp-v2", make_config("lnp-v2", {"hidden": H}), DENSE)
    assert parts == {
        "program": PROGRAM,
        "graph": E * (4 + 4) + N * 4 + N * LABELS,  # columns, values, row pointer
        "features": N * D * 4,
        # S with its transpose, S X, and at most three quarters of S with their transpose for the decoder
        "propagation": 2 * ((E + N) * (4 + 4) + N * 4) + N * D * 4 + 3 * ((E + N) * (4 + 4) + N * 4) // 2,
        "hidden layers": (3 + 1) * N * H * 4,  # one for each network, one gradient
        "predictions": 9 * N * C * 4 + COLUMNS * N,
    }


def test_large_and_sparse_by_hand() -> None:
    config = make_config("gcn", {"hidden": H, "normalisation": "symmetric"})
    parts = estimate_memory("gcn", config, SPARSE)
    assert parts["features"] == 3 * 12 * N * 8 + 2 * N * 4  # as given, and for products with X and its transpose
    assert parts["propagation"] == (E + N) * 8 + N * 4  # its own transpose, and no S X
    assert parts["hidden layers"] == (1 + 2) * N * H * 4
    assert parts["predictions"] == 6 * N * C * 4


def test_recomputing_keeps_the_layers_of_one_network() -> None:
    config = make_config("lnp-v1", {"hidden": H, "layers": 3})
    kept, again = (estimate_memory("lnp-v1", config, SPARSE, recompute=flag) for flag in (False, True))
    assert kept["hidden layers"] - again["hidden layers"] == 2 * 2 * N * H * 4
    assert again["hidden layers"] == (2 + 2) * N * H * 4
    assert {**kept, "hidden layers": 0} == {**again, "hidden layers": 0}


def test_small_graphs_keep_more_of_each_layer_and_the_exponentials() -> None:
    parts = estimate_memory("lnp-v2", make_config("lnp-v2", {"hidden": H, "negatives": 64}), FEW)
    assert parts["hidden layers"] == (3 * 3 + 3) * 1_000 * H * 4
    assert parts["contrastive"] == 2 * 1_000 * 2 * 64 * 4  # both directions, both predictions of those drawn
    exact = estimate_memory("lnp-v2", make_config("lnp-v2", {"negatives": 0}), FEW)
    assert exact["contrastive"] == 2 * 1_000 * 2 * 1_000 * 4  # one block of all rows
    assert "contrastive" not in estimate_memory("lnp-v2", make_config("lnp-v2", {"lambda_3": 0.0}), FEW)
    assert parts["predictions"] == 34 * 1_000 * C * 4 + COLUMNS * 1_000


def test_an_objective_that_is_not_written_out_keeps_more_of_a_large_graph() -> None:
    usual, other = (
        estimate_memory("lnp-v1", make_config("lnp-v1", {"kl_direction": way}), DENSE) for way in ("QP", "PQ")
    )
    assert other["predictions"] - usual["predictions"] == (19 - 11) * N * C * 4
    assert usual["propagation"] > other["propagation"]  # no rows of their own for the decoder


def test_the_estimate_is_linear_in_the_size_of_the_graph() -> None:
    config = make_config("lnp-v2", {"hidden": H})
    totals = []
    for times in (1, 2, 3):
        sizes = Sizes(nodes=times * N, entries=times * E, features=D, feature_entries=times * 12 * N, classes=C)
        totals.append(sum(estimate_memory("lnp-v2", config, sizes).values()))
    assert totals[2] - totals[1] == totals[1] - totals[0]


def test_two_rounds_of_h2gcn_by_hand() -> None:
    sizes = Sizes(nodes=10, entries=40, features=D, feature_entries=None, classes=C, two_hop_entries=70)
    parts = estimate_memory("h2gcn", make_config("h2gcn", {"hidden": 4, "layers": 2}), sizes)
    assert parts["propagation"] == (40 + 70) * 8 + 2 * 10 * 4
    columns = 4 + (4 + 8 + 8) + (8 + 16 + 16 + 16) + (4 + 8 + 16)  # ego, first round, second round, side by side
    assert parts["hidden layers"] == (columns + 32) * 10 * 4


@pytest.mark.parametrize("rows", [N, 1_000])
def test_hops_in_memory_by_hand(rows: int) -> None:
    sizes = Sizes(nodes=rows, entries=9 * rows, features=D, feature_entries=None, classes=C)
    parts = estimate_memory("gcn", make_config("gcn", {"backbone": "sign", "hidden": H, "layers": 3}), sizes)
    assert parts["hops"] == 3 * rows * D * 4  # X is among the features
    assert parts["propagation"] == 0
    kept, added = (1, 2) if rows == N else (4, 3)
    assert parts["hidden layers"] == (kept + added) * 4 * H * rows * 4


def test_hops_of_sparse_features_fill_up() -> None:
    sizes = Sizes(nodes=1_000, entries=9_000, features=1_000, feature_entries=2_000, classes=C)
    parts = estimate_memory("gcn", make_config("gcn", {"backbone": "sign", "layers": 3}), sizes)
    # 2, 20, 200 and 2,000 entries a row: the first two hops take 16 bytes an entry, the third is dense
    assert parts["hops"] == 16 * (20_000 + 200_000) + 2 * 8_000 + 4 * 1_000_000


def test_hops_in_a_file_take_none(monkeypatch: pytest.MonkeyPatch) -> None:
    config = make_config("lnp-v2", {"backbone": "sign", "hidden": H, "layers": 2})
    monkeypatch.setattr("lnp.nn.hops.IN_MEMORY", 2 * N * D * 4)
    assert estimate_memory("lnp-v2", config, DENSE)["hops"] == 2 * N * D * 4
    monkeypatch.setattr("lnp.nn.hops.IN_MEMORY", 2 * N * D * 4 - 1)
    assert estimate_memory("lnp-v2", config, DENSE)["hops"] == 0
    assert hops_file_bytes(config, DENSE) == 3 * N * D * 4


WIDTH = 16
ROWS = N * WIDTH * 4


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("plain", 9 * ROWS),  # weights of three networks, and those of the best epoch, old and new
        ("smooth", 9 * ROWS),
        ("features", (9 + 8) * ROWS),
        ("links", (9 + 8 + 3) * ROWS + 8 * E + 4 * N),
        ("auto", (9 + 8 + 3) * ROWS + 8 * E + 4 * N),
    ],
)
def test_the_path_of_the_channel_by_hand(variant: str, expected: int) -> None:
    config = make_config("lnp-channel", {"variant": variant, "path_width": WIDTH, "hidden": H})
    parts = estimate_memory("lnp-channel", config, DENSE)
    assert parts["path"] == expected
    assert parts["hidden layers"] == (1 + 1) * N * H * 4  # two networks of half the width, or one of the whole
    assert parts["predictions"] == 12 * N * C * 4 + COLUMNS * N


@pytest.mark.parametrize(("name", "networks"), [("gcn", 1), ("lnp-v2", 3)])
def test_a_path_from_the_links_by_hand(name: str, networks: int) -> None:
    without, path = (
        estimate_memory(name, make_config(name, {"links_width": width, "hidden": H}), DENSE) for width in (0, WIDTH)
    )
    # Of each network weights, gradients, two moments, two copies of the best epoch, three activations; A once.
    assert path == without | {"path": (9 * networks + 2) * ROWS + 8 * E + 4 * N}


@pytest.mark.parametrize(("backbone", "more"), [("gcn", 0), ("mlp", 8 * (E + N) + 4 * N)])
def test_a_diffusion_by_hand(backbone: str, more: int) -> None:
    options = {"backbone": backbone, "normalisation": "symmetric"}
    without, diffusion = (
        estimate_memory("gcn", make_config("gcn", {**options, "diffusion_steps": steps}), DENSE) for steps in (0, 10)
    )
    # What spreads, where it starts and its gradient; S where the network has none.
    assert diffusion == without | {"diffusion": 3 * N * C * 4, "propagation": without["propagation"] + more}


def test_the_channel_needs_s_whatever_its_backbone() -> None:
    options: dict[str, object] = {"backbone": "sign", "normalisation": "symmetric"}
    smooth, plain = (
        estimate_memory("lnp-channel", make_config("lnp-channel", {**options, "variant": variant}), DENSE)
        for variant in ("smooth", "plain")
    )
    assert (smooth["propagation"], plain["propagation"]) == (DENSE.propagation, 0)


SHORT: dict[str, object] = {"epochs": 2, "hidden": 64}
CHANNEL: dict[str, object] = {**SHORT, "estimate_epochs": 1, "label_epochs": 1, "start_epochs": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "in_memory", "options"),
    [
        ("lnp-v1", 2**30, SHORT),
        ("lnp-v2", 2**30, SHORT),
        ("lnp-v2", 2**30, {**SHORT, "backbone": "sign"}),
        ("lnp-v2", 1, {**SHORT, "backbone": "sign"}),
        ("lnp-v2", 2**30, {**SHORT, "links_width": 64}),
        ("gcn", 2**30, {**SHORT, "links_width": 64}),
        ("lnp-v2", 2**30, {**SHORT, "diffusion_steps": 10}),
        ("lnp-channel", 2**30, {**CHANNEL, "variant": "links"}),
        ("lnp-channel", 2**30, {**CHANNEL, "variant": "smooth"}),
    ],
)
def test_the_estimate_against_the_peak_of_a_run(
    tmp_path: Path, name: str, in_memory: int, options: dict[str, object]
) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell how much memory is held besides pages of files")
    script = [str(Path(__file__).parent / "peak_of_a_run.py"), name, "150000", str(in_memory), json.dumps(options)]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *script], env=environment, capture_output=True, text=True, check=True)
    assert 0.8 < float(done.stdout) < 1.4
