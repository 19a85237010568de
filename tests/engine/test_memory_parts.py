"""What is said before a run in mini-batches, and what is refused."""

from __future__ import annotations

import pytest

from lnp.engine import memory_parts
from lnp.engine.available import LIMIT
from lnp.engine.batching import Batching
from lnp.engine.memory_parts import preflight_parts
from lnp.errors import ConfigError
from lnp.methods.registry import make_config

CONFIG = make_config("lnp-v2", {"hidden": 8})
NEIGHBOURS = Batching.parse("neighbours:size=20,fan_out=2")


def costly(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """One moment takes 4 GiB."""
    real = memory_parts.estimate_parts

    def estimate(*args, **options) -> dict[str, int]:
        parts = real(*args, **options)
        return {name: parts[name] for name in list(parts)[:-1]} | {what: 4 * 2**30}

    monkeypatch.setattr(memory_parts, "estimate_parts", estimate)


def test_small_runs_are_quiet_and_never_refused(toy_task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "1MB")
    said: list[str] = []
    preflight_parts("lnp-v2", CONFIG, NEIGHBOURS, toy_task.graph, announce=said.append)
    assert said == []


def test_a_large_run_says_what_it_takes(toy_task, monkeypatch: pytest.MonkeyPatch) -> None:
    costly(monkeypatch, "batch")
    monkeypatch.setenv(LIMIT, "6GiB")
    said: list[str] = []
    preflight_parts("lnp-v2", CONFIG, NEIGHBOURS, toy_task.graph, announce=said.append)
    assert len(said) == 1
    assert said[0].startswith(
        "Memory at the peak: about 4.3 GiB of 6.0 GiB that can be had (batch 4.0 GiB, program 334"
    )
    assert said[0].endswith(" rows in neighbours:size=20,fan_out=2.")


@pytest.mark.parametrize(
    ("what", "batching", "backbone", "advice"),
    [
        ("batch", "neighbours:size=20,fan_out=2", "gcn", ("--batch-size 10", "--fan-out")),
        ("batch", "clusters:count=9,together=6", "gcn", ("--clusters-per-batch 3", "--clusters")),
        ("evaluation", "neighbours:size=20,fan_out=2", "gcn", ("hidden=4", "sign")),
        ("evaluation", "neighbours:size=20,fan_out=2", "sign", ("hidden=4",)),
        ("preparation", "clusters:count=9,together=6", "gcn", ("--batch neighbours",)),
        ("preparation", "neighbours:size=20,fan_out=2", "gcn", ("machine with more memory",)),
    ],
)
def test_what_cannot_fit_is_refused_with_advice(
    toy_task, monkeypatch: pytest.MonkeyPatch, what: str, batching: str, backbone: str, advice: tuple[str, ...]
) -> None:
    costly(monkeypatch, what)
    monkeypatch.setenv(LIMIT, "2GiB")
    config = make_config("lnp-v2", {"hidden": 8, "backbone": backbone})
    with pytest.raises(ConfigError, match=rf"fits into 2.0 GiB .* takes about 4.3 GiB \({what} 4.0 GiB") as error:
        preflight_parts("lnp-v2", config, Batching.parse(batching), toy_task.graph)
    assert all(word in str(error.value) for word in (*advice, LIMIT))
    assert "the backbone sign" not in str(error.value) or backbone != "sign"
    monkeypatch.setenv(LIMIT, "none")
    preflight_parts("lnp-v2", config, Batching.parse(batching), toy_task.graph)  # the user has the last word


@pytest.mark.parametrize(("batching", "device"), [("full", "cpu"), ("neighbours:size=20,fan_out=2", "cuda")])
def test_what_is_checked_elsewhere_is_left_alone(
    toy_task, monkeypatch: pytest.MonkeyPatch, batching: str, device: str
) -> None:
    costly(monkeypatch, "batch")
    monkeypatch.setenv(LIMIT, "1GiB")
    preflight_parts("lnp-v2", CONFIG, Batching.parse(batching), toy_task.graph, device=device)
