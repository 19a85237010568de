"""Every file of the paper's tables: names resolve, and the numbers are the published ones."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lnp.datasets.catalog import CATALOG
from lnp.engine.selection import SELECTIONS
from lnp.errors import ConfigError, UnknownNameError
from lnp.experiments.protocol import ANNOTATIONS, PROTOCOLS
from lnp.experiments.tables import Published, load_table, parse_table, table_names
from lnp.methods.lnp.presets import VARIANTS
from lnp.methods.registry import METHODS, make_config
from lnp.noise.registry import NOISES

NAMES = {
    "GCN": "gcn",
    "Coteaching+": "coteaching-plus",
    "GCE": "gce",
    "APL": "apl",
    "DGNN": "dgnn",
    "NRGNN": "nrgnn",
    "LPM": "lpm",
    "H2GCN": "h2gcn",
    "LNP-v1": "lnp-v1",
    "LNP-v2": "lnp-v2",
}
NUMBERS = {"table-1": 216, "table-2": 216, "table-5": 72, "table-6": 72, "table-7": 108, "table-8": 12}


def test_every_table_and_figure_is_there_in_the_order_of_the_paper() -> None:
    figures = ["figure-ablation", "figure-clean-size", "figure-sensitivity", "real-noise"]
    assert table_names() == [*NUMBERS, *figures]
    with pytest.raises(UnknownNameError, match="Did you mean 'table-1'"):
        load_table("table-11")


@pytest.mark.parametrize("name", table_names())
def test_names_resolve(name: str) -> None:
    table = load_table(name)
    assert table.seeds >= 3
    for panel in table.panels:
        assert {*panel.methods, *panel.extra, *panel.keeps_backbone} <= METHODS.keys()
        assert set(panel.datasets) <= CATALOG.keys()
        assert panel.noise in {*NOISES, ANNOTATIONS}
        assert "paper" in panel.protocols
        assert {ruling.protocol for ruling in panel.protocols.values()} <= PROTOCOLS.keys()
        for ruling in panel.protocols.values():
            assert set(ruling.selections) <= {*panel.methods, *panel.extra}
            assert set(ruling.selections.values()) <= set(SELECTIONS) - {"val-clean"}
        for method in panel.methods:
            for options in panel.settings.values():
                make_config(method, options)


def test_numbers_of_the_tables_add_up() -> None:
    counts = {name: len(load_table(name).published) for name in table_names()}
    assert {name: count for name, count in counts.items() if count} == NUMBERS
    assert sum(NUMBERS.values()) == 684 + 12
    notes = [cell.note for name in NUMBERS for cell in load_table(name).published.values() if cell.value is None]
    assert notes == ["OOM"] * 10


@pytest.mark.parametrize("name", NUMBERS)
def test_every_published_cell_is_run(name: str) -> None:
    table = load_table(name)
    (panel,) = table.panels
    run = {(table.stand_ins.get(d, d), r, m) for d in panel.datasets for r in panel.rates for m in panel.methods}
    assert run == table.published.keys()


@pytest.mark.parametrize("name", table_names())
def test_the_title_names_every_substitute_that_is_run(name: str) -> None:
    table = load_table(name)
    run = {dataset for panel in table.panels for dataset in panel.datasets}
    for ours, theirs in table.stand_ins.items():
        assert ours not in run or f"{ours} for {theirs}" in table.title


@pytest.mark.data
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_the_published_ones(name: str, data_folder: Path) -> None:
    file = data_folder.parent / "paper" / ("convergence-time.csv" if name == "table-8" else "results.csv")
    if not file.is_file():
        pytest.skip(f"needs the published numbers beside the graphs: no {file.name}")
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    expected = {}
    for row in rows:
        if row.get("table", "8") == name.removeprefix("table-"):
            value, deviation = row.get("accuracy", row.get("seconds")), row.get("std")
            key = (row["dataset"].lower(), float(row.get("noise_rate", 0.8)), NAMES[row["method"]])
            numbers = (float(value) if value else None, float(deviation) if deviation else None)
            expected[key] = Published(*numbers, note=row["note"])
    assert load_table(name).published == expected


def test_the_ablation_takes_away_what_the_presets_take_away() -> None:
    (panel,) = load_table("figure-ablation").panels
    assert panel.settings == {"v2": {}, **VARIANTS}


def test_varied_options_change_one_at_a_time() -> None:
    (panel,) = load_table("figure-sensitivity").panels
    assert len(panel.settings) == 3 * 7 + 6
    assert panel.settings["lambda_2=100"] == {"lambda_2": 100.0}
    assert all(len(options) == 1 for options in panel.settings.values())


def test_a_broken_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"Expected odd\.toml to describe a table, but got KeyError: 'seeds'"):
        parse_table("odd", 'title = "t"\nsource = "s"\n')
    with pytest.raises(ConfigError, match=r"odd\.toml.*TypeError"):
        parse_table("odd", 'title = "t"\nsource = "s"\nseeds = 1\n[[panel]]\nnoize = "flip"\n')
