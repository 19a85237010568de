"""From tables to runs: counts by hand, options in the right order."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lnp.errors import ConfigError, UnknownNameError
from lnp.experiments.grid import Choice, expand, expand_all
from lnp.experiments.tables import Ruling, load_table
from lnp.experiments.tuning_study import TuningOptions, find_studies

NOTHING_TUNED = {"lookup": lambda *_, **__: None}


def test_size_of_the_tables() -> None:
    sizes = {
        "table-1": 6 * 4 * (9 + 9) * 5,
        "table-2": 6 * 4 * (9 + 9) * 5,
        "table-6": 3 * 4 * (6 + 4) * 5,
        "table-7": 3 * 4 * (9 + 4) * 3,
        "figure-sensitivity": (3 * 7 + 6) * 4 * 5,
        "figure-ablation": 6 * 6 * 5,
        "figure-clean-size": 7 * 2 * 4 * 5 + 7 * 2 * 9 * 5,
        "real-noise": (9 + 9) * 5 + (9 + 4) * 5,
    }
    assert {name: len(expand(load_table(name), **NOTHING_TUNED)) for name in sizes} == sizes


def test_choice_narrows_and_seeds_come_first() -> None:
    choice = Choice(methods=["gcn"], datasets=["cora", "actor"], rates=[0.8, 0.2], seeds=2, protocol="strict")
    specs = [run.spec for run in expand(load_table("table-1"), choice, **NOTHING_TUNED)]
    assert [(spec.seed, spec.dataset, spec.rate) for spec in specs] == [
        (seed, dataset, rate) for seed in (0, 1) for dataset in ("cora", "actor") for rate in (0.2, 0.8)
    ]
    assert {(spec.noise, spec.protocol, spec.selection) for spec in specs} == {("uniform-mix", "strict", None)}


@pytest.mark.parametrize(
    ("protocol", "rules"),
    [
        ("strict", {"lnp-channel": "val-given", "glc": "val-channel", "gcn": "val-channel"}),
        ("paper", dict.fromkeys(["lnp-channel", "glc", "gcn"], "val-clean")),
    ],
)
def test_one_rule_for_every_method(protocol: str, rules: dict[str, str]) -> None:
    """Under `strict` all are judged behind the T of `lnp-channel`, which for that method itself is its own."""
    choice = Choice(methods=["lnp-channel", "glc", "gcn"], datasets=["cora"], rates=[0.2], seeds=1, protocol=protocol)
    runs = expand(load_table("table-2"), choice, **NOTHING_TUNED)
    assert {run.spec.method: run.spec.rule for run in runs} == rules


def test_a_method_may_have_its_own_rule() -> None:
    table = load_table("table-2")
    ruling = Ruling("strict", selections={"glc": "val-given"})
    panels = tuple(replace(panel, protocols={"strict": ruling}) for panel in table.panels)
    choice = Choice(methods=["glc", "gcn"], datasets=["cora"], rates=[0.2], seeds=1, protocol="strict")
    runs = expand(replace(table, panels=panels), choice, **NOTHING_TUNED)
    assert {run.spec.method: run.spec.rule for run in runs} == {"glc": "val-given", "gcn": "val-channel"}


def test_h2gcn_is_everywhere_but_where_the_paper_kept_gcn() -> None:
    choice = Choice(methods=["gce", "h2gcn", "nrgnn"], rates=[0.2], seeds=1)
    runs = expand(load_table("table-7"), choice, **NOTHING_TUNED)
    backbones = {run.spec.method: run.spec.config().backbone for run in runs}
    assert backbones == {"gce": "h2gcn", "h2gcn": "h2gcn", "nrgnn": "gcn"}


def test_a_table_may_say_how_many_epochs() -> None:
    """For all methods alike, and for tuning; without it each has its own number. What was tuned goes before it."""
    choice = Choice(methods=["gcn", "lnp-v1"], datasets=["digits"], rates=[0.2], seeds=1)
    table = load_table("table-1")
    assert table.epochs == 500
    assert {run.spec.config().epochs for run in expand(table, choice, **NOTHING_TUNED)} == {500}
    assert {study.trial_spec({}).config().epochs for study in find_studies([table], choice, TuningOptions())[0]} == {
        500
    }
    own = expand(replace(table, epochs=None), choice, **NOTHING_TUNED)
    assert {run.spec.config().epochs for run in own} == {200}
    assert {run.spec.config().epochs for run in expand(table, choice, lookup=lambda *_, **__: {"epochs": 7})} == {7}


def test_a_variant_comes_on_top_of_the_tuned_configuration() -> None:
    def lookup(method, dataset, noise, rate, *, backbone, protocol, selection):
        assert (noise, rate, backbone, protocol, selection) == ("flip", 0.8, None, "paper", "val-clean")
        return {"lambda_1": 7.0, "hidden": 16}

    choice = Choice(datasets=["cora"], seeds=1)
    runs = {run.label: run.spec.config() for run in expand(load_table("figure-ablation"), choice, lookup=lookup)}
    assert runs["figure-ablation/v2"].lambda_1 == 7.0
    assert runs["figure-ablation/nl"].lambda_1 == 0.0
    assert {config.hidden for config in runs.values()} == {16}
    untuned = expand(load_table("figure-ablation"), Choice(datasets=["cora"], config="default"), lookup=lookup)
    assert {run.spec.config().hidden for run in untuned} == {64}


def test_labels_tell_panels_and_sizes_apart() -> None:
    labels = {run.label for run in expand(load_table("figure-clean-size"), Choice(seeds=1), **NOTHING_TUNED)}
    assert len(labels) == 14
    assert {"figure-clean-size/a/trusted=20", "figure-clean-size/b/trusted=100"} <= labels


def test_table_6_has_its_own_split_under_every_protocol() -> None:
    strict = expand(load_table("table-6"), Choice(methods=["gcn"], seeds=1, protocol="strict"), **NOTHING_TUNED)
    assert {(run.spec.protocol, run.spec.selection) for run in strict} == {("planetoid", "trusted")}
    with pytest.raises(ConfigError, match="Expected the protocol of table-6 to be one of paper, strict, but got 'rand"):
        expand(load_table("table-6"), Choice(protocol="random"), **NOTHING_TUNED)


def test_a_choice_that_cannot_be_met_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="Unknown method"):
        Choice(methods=["gnc"])
    with pytest.raises(ConfigError, match=r"nothing is left. Its noise rates are 0\.2, 0\.4"):
        expand(load_table("table-2"), Choice(rates=[0.5]), **NOTHING_TUNED)
    with pytest.raises(UnknownNameError, match="dataset of real-noise 'pubmed'"):
        expand(load_table("real-noise"), Choice(datasets=["pubmed"]), **NOTHING_TUNED)


def test_configurations_from_a_file_are_for_the_rule_that_found_them(tmp_path: Path) -> None:
    path = tmp_path / "tuned.json"
    where = {"method": "gcn", "dataset": "cora", "noise": "flip", "rate": 0.4}
    entries = [
        {**where, "protocol": "paper", "selection": "val-clean", "options": {"hidden": 16}},
        {**where, "protocol": "strict", "selection": "val-channel", "options": {"hidden": 8}},
        {**where, "protocol": "strict", "selection": "trusted", "options": {"hidden": 4}},
    ]
    path.write_text(json.dumps(entries), encoding="utf-8")

    def hidden(table: str, protocol: str) -> set[int]:
        choice = Choice(methods=["gcn"], datasets=["cora"], seeds=1, protocol=protocol, config=str(path))
        return {run.spec.config().hidden for run in expand(load_table(table), choice, **NOTHING_TUNED)}

    assert [hidden("table-2", protocol) for protocol in ("paper", "random", "strict")] == [{16}, {16}, {8}]
    assert [hidden("table-6", protocol) for protocol in ("paper", "strict")] == [{16}, {4}]
    assert hidden("table-1", "paper") == {64}  # another noise
    with pytest.raises(ConfigError, match=r"Expected `config` to be one of tuned, default, or a JSON file, but got"):
        Choice(config=str(tmp_path / "absent.json"))


def test_of_several_tables_those_that_apply() -> None:
    tables = [load_table("table-1"), load_table("table-6")]
    runs = expand_all(tables, Choice(methods=["gcn"], datasets=["cora"], protocol="random", seeds=2))
    assert {run.table for run in runs} == {"table-1"}
    assert [run.spec.seed for run in runs] == [0] * 4 + [1] * 4
    with pytest.raises(ConfigError, match="nothing is left"):
        expand_all(tables, Choice(rates=[0.5]))
