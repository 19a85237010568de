from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace

import pytest

from lnp.errors import ConfigError
from lnp.experiments import seed_groups
from lnp.experiments.run import run
from lnp.experiments.seed_groups import cut
from lnp.experiments.spec import RunSpec
from lnp.experiments.together import run_together
from lnp.experiments.training import train_seeds

SPEC = RunSpec(
    dataset="synthetic:nodes=90,classes=3",
    method="gcn",
    noise="uniform",
    rate=0.3,
    protocol="paper",
    trusted_size=9,
    options={"epochs": 5, "fine_tune_epochs": 3, "hidden": 6},
)
CHANGING = {"seconds", "seconds_per_epoch", "peak_rss_mib"}


def facts(record: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in record.items() if name not in CHANGING and isinstance(value, float | int)}


def test_records_are_those_of_separate_runs() -> None:
    outcomes = run_together(SPEC, [0, 3])
    for seed, outcome in zip((0, 3), outcomes, strict=True):
        expected = run(replace(SPEC, seed=seed)).record
        assert outcome.record.spec == expected.spec
        assert facts(outcome.record.to_json()) == pytest.approx(facts(expected.to_json()), abs=1e-3)


def test_training_goes_together_and_is_kept_like_other_runs(tmp_path) -> None:
    told: list[str] = []

    def watch(label):
        told.append(label)
        return nullcontext()

    alone = train_seeds(SPEC, 3, watch=watch)
    together = train_seeds(SPEC, 3, folder=tmp_path / "run", watch=watch, together=True)
    assert told == ["seed 1 of 3", "seed 2 of 3", "seed 3 of 3", "3 of 3 seeds together"]
    for one, other in zip(alone, together, strict=True):
        assert facts(one) == pytest.approx(facts(other), abs=1e-3)
    assert train_seeds(SPEC, 3, folder=tmp_path / "run", together=True) == together  # read, not run
    assert not list(tmp_path.glob("run/seed-*/checkpoint*"))


def test_seeds_with_other_numbers_of_labels_go_with_their_like_or_alone(tmp_path) -> None:
    """A random split rounds by chance: with these seeds T_N has one node more in some than in the others."""
    spec = replace(SPEC, protocol="random", dataset="synthetic:nodes=91,classes=3")
    expected = [run(replace(spec, seed=seed)) for seed in range(5)]
    sizes = [outcome.batch.noisy.numel() for outcome in expected]
    counts = sorted(sizes.count(size) for size in set(sizes))
    assert counts[0] == 1  # somebody is alone
    assert counts[-1] > 1  # and somebody is not
    for seed, outcome in enumerate(run_together(spec, range(5))):
        assert outcome.record.spec.seed == seed
        assert facts(outcome.record.to_json()) == pytest.approx(facts(expected[seed].record.to_json()), abs=1e-3)
    kept = train_seeds(spec, 5, folder=tmp_path / "run", together=True)
    assert [record["epochs"] for record in kept] == [outcome.record.epochs for outcome in expected]
    assert not list(tmp_path.glob("run/seed-*/checkpoint*"))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_groups_on_two_cores_give_what_one_group_gives(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(seed_groups.threading, "active_count", lambda: 1)
    monkeypatch.setattr(seed_groups.os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    groups: list[list[int]] = []
    monkeypatch.setattr(seed_groups, "cut", lambda *args: groups.extend(found := cut(*args)) or found)
    apart = train_seeds(SPEC, 5, folder=tmp_path / "run", together=True)
    assert groups == [[0, 1, 2], [3, 4]]
    for seed, record in enumerate(apart):
        assert facts(record) == pytest.approx(facts(run(replace(SPEC, seed=seed)).record.to_json()), abs=1e-3)
    assert train_seeds(SPEC, 5, folder=tmp_path / "run", together=True) == apart  # those of the other process, too
    assert not list(tmp_path.glob("run/seed-*/checkpoint*"))


@pytest.mark.parametrize(
    ("change", "message"),
    [({"method": "mlp"}, "the backbone mlp has no form"), ({"batch": "neighbours:size=20"}, "mini-batches")],
)
def test_what_cannot_go_together_is_refused_and_leaves_nothing(tmp_path, change, message) -> None:
    with pytest.raises(ConfigError, match=message):
        train_seeds(replace(SPEC, **change), 2, folder=tmp_path / "run", together=True)
    assert not (tmp_path / "run").exists()
