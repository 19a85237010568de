"""When two runs are the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.catalog import load_dataset
from lnp.datasets.npz import save_npz
from lnp.experiments.identity import DatasetFacts, dataset_facts, identify
from lnp.experiments.protocol import PROTOCOLS
from lnp.experiments.spec import RunSpec
from lnp.methods.registry import METHODS
from lnp.noise.registry import MATRIX_PREFIX

SPEC = RunSpec(dataset="cora", method="gcn", noise="flip", rate=0.4, protocol="paper")
FACTS = DatasetFacts("abc", "row")


def test_however_it_is_written_the_same_run_has_one_key() -> None:
    key = identify(SPEC, FACTS).key
    same = [
        replace(SPEC, options={"hidden": 64}),
        replace(SPEC, options={"hidden": "64", "dropout": 0.5}),
        replace(SPEC, selection="val-clean"),
        replace(SPEC, scaling="row"),
        replace(SPEC, dataset="CORA"),
        replace(SPEC, batch="full"),
    ]
    assert [identify(spec, FACTS).key for spec in same] == [key] * len(same)


def test_everything_that_determines_a_run_is_in_its_key() -> None:
    others = [
        replace(SPEC, method="gce"),
        replace(SPEC, noise="pair"),
        replace(SPEC, rate=0.6),
        replace(SPEC, protocol="random"),
        replace(SPEC, seed=1),
        replace(SPEC, options={"hidden": 32}),
        replace(SPEC, trusted_size=30),
        replace(SPEC, selection="last"),
        replace(SPEC, scaling="none"),
        replace(SPEC, patience=50),
        replace(SPEC, batch="neighbours"),
        replace(SPEC, batch="neighbours:size=512"),
        replace(SPEC, batch="clusters"),
    ]
    keys = {identify(spec, FACTS).key for spec in (SPEC, *others)}
    keys |= {identify(SPEC, DatasetFacts("abd", "row")).key, identify(SPEC, DatasetFacts("abc", "none")).key}
    assert len(keys) == len(others) + 2  # scaling "none" is the same run, asked for or customary


def test_other_code_is_another_key_of_the_same_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identify(SPEC, FACTS)
    monkeypatch.setattr("lnp.experiments.identity.code_version", lambda method: "other")
    after = identify(SPEC, FACTS)
    assert after.key != before.key
    assert after.settings == before.settings


def test_the_rules_of_a_protocol_count_but_those_of_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identify(SPEC, FACTS).key
    monkeypatch.setitem(PROTOCOLS, "random", replace(PROTOCOLS["random"], split="public"))
    monkeypatch.setitem(PROTOCOLS, "paper", replace(PROTOCOLS["paper"], summary="other words"))
    assert identify(SPEC, FACTS).key == before
    monkeypatch.setitem(PROTOCOLS, "paper", replace(PROTOCOLS["paper"], trusted_share=0.1))
    assert identify(SPEC, FACTS).key != before


def test_a_matrix_counts_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "matrix.csv"
    keys = []
    for content in ("1,0\n0,1\n", "0,1\n1,0\n", "1,0\n0,1\n"):
        file.write_text(content, encoding="utf-8")
        keys.append(identify(replace(SPEC, noise=f"{MATRIX_PREFIX}{file}"), FACTS).key)
    assert keys[0] == keys[2] != keys[1]


def test_facts_follow_labels_and_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LNP_DATA", str(tmp_path))
    dataset = load_dataset("synthetic:nodes=60,classes=3,mean_degree=6")
    save_npz(dataset, tmp_path / "mine.npz")
    cache: dict[str, DatasetFacts] = {}
    first = dataset_facts("mine", cache)
    assert first == dataset_facts("mine")
    with monkeypatch.context() as patched:
        patched.setattr("lnp.experiments.identity.load_dataset", None)  # would fail
        assert dataset_facts("mine", cache) == first
    labels = dataset.truth.labels.copy()
    labels[[0, 1]] = (labels[[0, 1]] + 1) % 3
    save_npz(replace(dataset, truth=type(dataset.truth)(labels, 3)), tmp_path / "mine.npz")
    second = dataset_facts("mine", cache)
    assert second.checksum != first.checksum
    assert np.array_equal(load_dataset("mine").truth.labels, labels)


def test_every_method_has_a_key() -> None:
    keys = {identify(replace(SPEC, method=name), FACTS).key for name in METHODS}
    assert len(keys) == len(METHODS)


def test_batches_are_the_same_however_they_are_written() -> None:
    written = ("neighbours", "neighbours:fan_out=10", "neighbours:fan_out=10,size=1024")
    assert len({identify(replace(SPEC, batch=batch), FACTS).key for batch in written}) == 1
