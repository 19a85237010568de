"""From tables to studies."""

from __future__ import annotations

import pytest

from lnp.errors import ConfigError
from lnp.experiments.grid import Choice
from lnp.experiments.tables import load_table, parse_table
from lnp.experiments.tuning_study import StudySpec, TuningOptions, find_studies

GRAPHS = [f"synthetic:nodes={nodes},classes=3,features=8,mean_degree=6" for nodes in (60, 70)]


def studies(table: str, **choice: object) -> list[StudySpec]:
    return find_studies([load_table(table)], Choice(datasets=GRAPHS, **choice), TuningOptions(seeds=2, patience=7))[0]


def test_one_for_each_cell_of_the_table() -> None:
    found = studies("table-2", methods=["gcn", "lnp-v1"], rates=[0.4, 0.8], protocol="random")
    cells = {(one.spec.dataset, one.spec.rate, one.spec.method) for one in found}
    assert len(found) == len(cells) == len({one.name for one in found}) == 8
    assert {(one.selection, one.spec.seed, one.seeds, one.spec.patience, one.backbone) for one in found} == {
        ("val-clean", 0, 2, 7, None)
    }
    assert studies("table-2", methods=["gcn"], rates=[0.4], protocol="strict")[0].selection == "val-channel"


def test_the_backbone_of_the_table_is_part_of_it() -> None:
    found = studies("table-7", methods=["gce", "nrgnn"], rates=[0.4])
    assert [(one.spec.method, one.backbone) for one in found[:2]] == [("gce", "h2gcn"), ("nrgnn", None)]
    assert found[0].default["q"] == 0.7
    assert found[0].trial_spec({"q": 0.5}).config().backbone == "h2gcn"


def test_variants_and_sizes_are_not_tuned_one_by_one(tiny) -> None:
    text = """
        title = "t"
        source = "s"
        seeds = 5
        [protocols]
        paper = {{ protocol = "random" }}
        [[panel]]
        noise = "flip"
        datasets = ["{graph}"]
        rates = [0.4]
        methods = ["lnp-v2"]
        trusted_sizes = {sizes}
        [panel.variants]
        v2 = {{}}
        nl = {{ lambda_1 = 0.0 }}
    """
    tables = [parse_table("t", text.format(graph=GRAPHS[0], sizes=sizes)) for sizes in ("[20, 25]", "[9, 12]", "[25]")]
    found, _ = find_studies(tables, Choice(), TuningOptions())
    assert [one.spec.trusted_size for one in found] == [25, 9]
    assert {one.spec.config().lambda_1 for one in found} == {1.0}
    (one, *_), _ = find_studies([tiny()], Choice(), TuningOptions())
    assert one.spec.options == {"epochs": 2, "hidden": 4}  # what all runs of a table have is no variant
    assert 4 in one.space["hidden"]


def test_whatever_changes_a_score_makes_another_study(monkeypatch: pytest.MonkeyPatch) -> None:
    choice = Choice(datasets=GRAPHS[:1], methods=["gcn"], rates=[0.4])

    def study(**options: object) -> StudySpec:
        return find_studies([load_table("table-2")], choice, TuningOptions(**options))[0][0]

    variants = [study(), study(seeds=2), study(patience=9), study(wide=True)]
    assert len({one.settings for one in variants}) == 4
    assert study(trials=99).name == study().name
    assert study().spec.patience == load_table("table-2").patience
    before = study()
    name = before.name
    monkeypatch.setattr("lnp.experiments.identity.code_version", lambda method: "another")
    assert study().settings == before.settings
    assert study().name != name


def test_options_are_checked() -> None:
    with pytest.raises(ConfigError, match="Expected `trials` to be in"):
        TuningOptions(trials=0)
