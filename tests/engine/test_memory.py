"""What is said before a run, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from lnp.engine import memory
from lnp.engine.available import LIMIT
from lnp.engine.memory import preflight
from lnp.errors import ConfigError
from lnp.methods.batch import Batch, full_batch
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds


@pytest.fixture
def batch(toy_task) -> Batch:
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


@pytest.fixture
def costly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every hidden unit of the 60 nodes counts as if they were 60 million."""
    real = memory.estimate_memory
    monkeypatch.setattr(
        memory,
        "estimate_memory",
        lambda *args, **options: {
            name: bytes_ * (10**6 if name == "hidden layers" else 1) for name, bytes_ in real(*args, **options).items()
        },
    )


CONFIG = make_config("lnp-v2", {"hidden": 8})
# (3 · 3 + 3) · 60 · 8 · 4 · 10⁶ bytes are 21.5 GiB, with one network's layers alone 10.7 GiB


def test_small_runs_are_quiet_and_never_refused(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "1MB")
    said: list[str] = []
    preflight("lnp-v2", CONFIG, batch, announce=said.append)
    assert said == []
    assert not batch.graph.recompute


def test_a_large_run_says_what_it_takes(batch: Batch, costly: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "30GiB")
    said: list[str] = []
    preflight("lnp-v2", CONFIG, batch, announce=said.append)
    assert not batch.graph.recompute
    assert len(said) == 1
    assert said[0].startswith("Memory at the peak: about 21.8 GiB of 30.0 GiB that can be had (hidden layers 21.5 GiB,")
    preflight("nrgnn", make_config("nrgnn", {"hidden": 8}), batch, announce=said.append)
    assert said[1].startswith("Memory at the peak: at least ")


def test_hidden_layers_are_recomputed_where_it_fits_only_so(
    batch: Batch, costly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT, "16GiB")
    said: list[str] = []
    preflight("lnp-v2", CONFIG, batch, announce=said.append)
    assert batch.graph.recompute
    assert said[0].endswith("; hidden layers are recomputed.")
    assert "about 11.1 GiB" in said[0]


def test_what_is_kept_is_mentioned_where_there_is_room(
    batch: Batch, costly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    for wish in ("64GiB", "66GiB"):  # three times 21.8 GiB
        monkeypatch.setenv(LIMIT, wish)
        needed = preflight("lnp-v2", CONFIG, batch, keeps=True, announce=said.append)
        assert round(needed / 2**30, 1) == 21.8
    assert "kept" not in said[0]
    assert said[1].endswith("; up to twice that where freed memory is kept, as there is room.")


@pytest.mark.parametrize("wish", ["4GiB", "none"])
def test_what_cannot_fit_is_refused_with_advice(
    batch: Batch, costly: None, monkeypatch: pytest.MonkeyPatch, wish: str
) -> None:
    monkeypatch.setenv(LIMIT, wish)
    if wish == "none":
        preflight("lnp-v2", CONFIG, batch)  # the user has the last word
        return
    with pytest.raises(ConfigError, match=r"fits into 4.0 GiB .* takes about 11.1 GiB") as error:
        preflight("lnp-v2", CONFIG, batch)
    assert all(word in str(error.value) for word in ("--batch neighbours", "--set hidden=4", "sign", LIMIT))


def test_recomputing_trains_to_the_same_bits(toy_task) -> None:
    """The decision may depend on the machine, for no number depends on it."""
    weights = []
    for recompute in (False, True):
        batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
        batch.graph.recompute = recompute
        method = create_method("lnp-v2", CONFIG, batch, Seeds(0).generator("initialisation"))
        terms = method.train().loss(batch, Seeds(0).randomness())
        sum(terms.values()).backward()
        weights.append(np.concatenate([parameter.grad.numpy().ravel() for parameter in method.parameters()]))
    assert np.array_equal(*weights)
    assert np.abs(weights[0]).max() > 0


def test_a_method_that_needs_the_whole_graph_gets_other_advice(
    batch: Batch, costly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT, "1GiB")
    with pytest.raises(ConfigError) as error:
        preflight("lnp-channel", make_config("lnp-channel", {"hidden": 8}), batch)
    assert "--batch" not in str(error.value)
    assert all(word in str(error.value) for word in ("--set hidden=4", "lnp-v2", LIMIT))


def test_hops_in_a_file_are_mentioned_and_not_counted(
    batch: Batch, costly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT, "none")
    config, said = make_config("lnp-v2", {"hidden": 8, "backbone": "sign"}), []
    for in_memory in (2**30, 0):
        monkeypatch.setattr("lnp.nn.hops.IN_MEMORY", in_memory)
        preflight("lnp-v2", config, batch, announce=said.append)
    assert "file" not in said[0]
    assert said[1].endswith("; 0 MiB of hops stay in a file.")  # 60 · 8 · 4 · 3 bytes
