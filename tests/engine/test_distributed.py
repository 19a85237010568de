"""Many processes give what one gives. The processes are real ones, on this machine, over gloo."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from lnp.engine.distributed import share
from lnp.engine.files import read_tensors

HERE = Path(__file__).parent


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"lnp_tests_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


processes, alone = load("processes"), load("share_of_a_run")

SHORT = {"dropout": 0.0, "epochs": 3}
NEARLY = {**SHORT, "lambda_3": 1e-9, "written out": True}  # without negatives nothing would be written out
EXACT: dict[str, tuple[str, dict[str, object]]] = {
    "v2": ("lnp-v2", {**SHORT, "lambda_3": 0.0, "delta": 0.5}),
    "v1": ("lnp-v1", {**SHORT, "lambda_3": 0.0, "similarity": "minmax", "delta": 0.4, "kl_nodes": "outside-noisy"}),
    "three hops": ("lnp-v2", {**SHORT, "lambda_3": 0.0, "layers": 3, "expectation": "exact"}),
    "v2, written out": ("lnp-v2", {**NEARLY, "delta": 0.5}),
    "v1, written out": ("lnp-v1", {**NEARLY, "similarity": "minmax", "delta": 0.4, "odds_power": 1.0}),
    "few, written out": ("lnp-v2", {**NEARLY, "few": True}),
    "gcn": ("gcn", {**SHORT, "fine_tune_epochs": 2}),
    "gce": ("gce", {**SHORT, "epochs": 4, "fine_tune_epochs": 2, "truncated": True, "warm_up": 0.1, "refresh": 1}),
    "forward": ("forward", {**SHORT, "estimate_epochs": 2, "fine_tune_epochs": 0}),
    "dgnn": ("dgnn", SHORT),
    "smodel": ("smodel", {**SHORT, "fine_tune_epochs": 2}),
    "apl": ("apl", {**SHORT, "fine_tune_epochs": 0}),
    "clean-only": ("clean-only", SHORT),
    "joint": ("joint", SHORT),
    "joint, few": ("joint", {**SHORT, "few": True}),
}
"""With dropout 0 and no sampled negatives, nothing depends on who draws what. Few: one process has no trusted node."""

DRAWN: dict[str, tuple[str, dict[str, object]]] = {
    "drawn": ("lnp-v2", {"epochs": 3}),
    "drawn, written out": ("lnp-v2", {"epochs": 3, "written out": True}),
}
REFUSED: dict[str, tuple[str, dict[str, object]]] = {
    "whole": ("pignn", {"epochs": 1}),
    "columns": ("lnp-v2", {"epochs": 1, "fusion": "concatenation"}),
}


@pytest.fixture(scope="module", params=[2, pytest.param(3, marks=pytest.mark.slow)])
def job(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    folder, size = tmp_path_factory.mktemp("job"), request.param
    cases = {**EXACT, **DRAWN, **REFUSED}
    if size > 2:
        cases = {case: cases[case] for case in ("v1", "v2", "v2, written out", "gce", *DRAWN, *REFUSED)}
    (folder / "cases.json").write_text(json.dumps(cases))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        task = alone.a_task()
        for kind in ("symmetric", "row"):  # otherwise the processes would all write them, which is no harm
            for hops in (2, 3):
                alone.stored_hops(task.graph, kind, hops)
        processes.together(HERE / "share_of_a_run.py", size, str(folder))
    return folder, size


@pytest.mark.parametrize("case", EXACT)
def test_many_processes_give_the_losses_and_the_weights_of_one(job: tuple[Path, int], case: str) -> None:
    folder, size = job
    if size > 2 and case not in ("v1", "v2", "v2, written out", "gce"):
        pytest.skip("compared with two processes")
    tensors, about = read_tensors(folder / f"{case}-0")
    method, result = alone.train_alone(*EXACT[case])
    theirs, ours = about["history"], result.history.to_json()
    assert len(theirs) == len(ours) > 0
    for there, here in zip(theirs, ours, strict=True):
        assert there["terms"].keys() == here["terms"].keys()
        for term, value in here["terms"].items():
            assert there["terms"][term] == pytest.approx(value, abs=1e-5, rel=1e-5)
        assert (there["score"], there["selected"]) == (pytest.approx(here["score"], abs=1e-6), here["selected"])
    torch.testing.assert_close(tensors["probabilities"], result.probabilities, atol=1e-4, rtol=1e-4)
    for name, value in method.state_dict().items():
        torch.testing.assert_close(tensors[name], value, atol=1e-4, rtol=1e-3)


def test_written_out_or_not_the_same_draws_give_the_same(job: tuple[Path, int]) -> None:
    (plain, before), (large, after) = (read_tensors(job[0] / f"{case}-0") for case in DRAWN)
    for theirs, ours in zip(before["history"], after["history"], strict=True):
        for term, value in theirs["terms"].items():
            assert ours["terms"][term] == pytest.approx(value, abs=1e-5, rel=1e-5)
    for name, value in plain.items():
        torch.testing.assert_close(large[name], value, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("case", ["v2", "gce", *DRAWN])
def test_all_processes_end_with_the_same_bits(job: tuple[Path, int], case: str) -> None:
    folder, size = job
    first, history = read_tensors(folder / f"{case}-0")
    for rank in range(1, size):
        other, theirs = read_tensors(folder / f"{case}-{rank}")
        assert all(torch.equal(first[name], other[name]) for name in first)
        assert theirs == history


def test_trusted_nodes_that_joined_are_known_everywhere(job: tuple[Path, int]) -> None:
    tensors, _ = read_tensors(job[0] / "v2-0")
    grown = tensors["trusted_set.grown"].nonzero().squeeze(1).numpy()
    assert all(np.isin(share(61, rank, job[1]), grown).any() for rank in range(job[1]))


def test_collectives_and_their_gradients(job: tuple[Path, int]) -> None:
    folder, size = job
    found = [read_tensors(folder / f"collectives-{rank}")[0] for rank in range(size)]
    numbers = torch.arange(1.0, 62.0)
    sums = sum(torch.arange(6.0).view(3, 2) + rank for rank in range(size))
    weight = sum(rank + 1 for rank in range(size))
    for rank, tensors in enumerate(found):
        torch.testing.assert_close(tensors["mean"], numbers.square().mean())
        own = numbers[torch.from_numpy(share(61, rank, size))]
        torch.testing.assert_close(tensors["mean gradient"], size * 2 * own / 61)
        torch.testing.assert_close(tensors["sums"], sums)
        torch.testing.assert_close(tensors["sums gradient"], 2 * sums * weight)
        assert tensors["counts"].tolist() == [size, 0, sum(range(size))]
        assert tensors["extremes"].tolist() == [0, size - 1]
        torch.testing.assert_close(tensors["first"], torch.full((2,), sum(range(size)) / size))
        torch.testing.assert_close(tensors["second"], torch.full((3,), 1 / size))


def test_what_needs_the_whole_graph_is_refused_by_all(job: tuple[Path, int]) -> None:
    folder, size = job
    for rank in range(size):
        assert "needs the whole graph" in (folder / f"whole-{rank}.error").read_text()
        assert "`fusion` prototypes" in (folder / f"columns-{rank}.error").read_text()


@pytest.mark.parametrize(("nodes", "size"), [(1, 1), (5, 5), (61, 2), (61, 3), (9000, 2), (40_000, 3)])
def test_shares_are_a_partition_of_nearly_equal_parts(nodes: int, size: int) -> None:
    shares = [share(nodes, rank, size) for rank in range(size)]
    np.testing.assert_array_equal(np.sort(np.concatenate(shares)), np.arange(nodes))
    counts = [part.size for part in shares]
    assert min(counts) > 0
    assert max(counts) - min(counts) <= max(1, min(1024, nodes // (8 * size)))
    assert all((np.diff(part) > 0).all() for part in shares)
