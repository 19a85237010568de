"""Which tuned configuration is taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lnp.errors import ConfigError
from lnp.experiments.configs import TAKEN_BY, nearest_config, read_entries, shipped_entries
from lnp.experiments.spec import RunSpec
from lnp.methods.registry import make_config
from lnp.nn.registry import BACKBONES


def entry(rate: float, hidden: int, **more: object) -> dict[str, object]:
    return {"method": "gcn", "dataset": "cora", "noise": "flip", "rate": rate, "options": {"hidden": hidden}, **more}


def test_nearest_rate_and_of_two_the_higher() -> None:
    entries = (entry(0.8, 80), entry(0.4, 40))
    found = [nearest_config(entries, "gcn", "cora", "flip", rate) for rate in (0.0, 0.2, 0.4, 0.59, 0.6, 0.9)]
    assert found == [{"hidden": hidden} for hidden in (40, 40, 40, 40, 80, 80)]
    assert nearest_config(entries, "gcn", "pubmed", "flip", 0.4) is None


def test_an_entry_of_the_backbone_comes_first() -> None:
    entries = (entry(0.4, 1), entry(0.8, 2, backbone="h2gcn"))
    assert nearest_config(entries, "gcn", "cora", "flip", 0.4, backbone="h2gcn") == {"hidden": 2}
    assert nearest_config(entries, "gcn", "cora", "flip", 0.8) == {"hidden": 1}
    assert nearest_config(entries[1:], "gcn", "cora", "flip", 0.8) is None


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("option", TAKEN_BY)
def test_options_count_as_far_as_the_backbone_takes_them(option: str, backbone: str) -> None:
    entries = (entry(0.4, 1) | {"options": {"hidden": 2, option: 2}},)
    found = nearest_config(entries, "gcn", "cora", "flip", 0.4, backbone=backbone)
    assert found is not None
    make_config("gcn", found | {"backbone": backbone})  # is accepted
    assert found["hidden"] == 2
    if option not in found:  # and only what would not be is left out
        with pytest.raises(ConfigError, match=option):
            make_config("gcn", {option: 2, "backbone": backbone})


def test_every_shipped_entry_is_a_configuration() -> None:
    for one in shipped_entries():
        RunSpec(**{key: one[key] for key in ("method", "dataset", "noise", "rate", "options")})
        assert one["found"]


def test_what_clean_validation_found_is_not_for_strict() -> None:
    entries = (
        entry(0.4, 1, protocol="paper", selection="val-clean"),
        entry(0.8, 2, protocol="strict", selection="trusted"),
        entry(0.8, 3),  # does not say how it was found
    )

    def found(protocol: str, selection: str) -> list[object]:
        given = {"protocol": protocol, "selection": selection}
        return [nearest_config(entries, "gcn", "cora", "flip", rate, **given) for rate in (0.4, 0.8)]

    assert found("paper", "val-clean") == [{"hidden": 1}] * 2
    assert found("random", "val-clean") == [{"hidden": 1}, {"hidden": 3}]
    assert found("strict", "trusted") == [{"hidden": 2}] * 2
    assert found("planetoid", "trusted") == [{"hidden": 2}] * 2
    assert found("strict", "last") == found("strict", "val-noisy") == [None, None]


def test_the_protocol_comes_after_the_backbone_and_before_the_rate() -> None:
    entries = (
        entry(0.4, 1, protocol="paper"),
        entry(0.8, 2, protocol="planetoid"),
        entry(0.8, 3, protocol="paper", backbone="h2gcn"),
    )
    assert nearest_config(entries, "gcn", "cora", "flip", 0.4, protocol="planetoid") == {"hidden": 2}
    assert nearest_config(entries, "gcn", "cora", "flip", 0.8, protocol="random") == {"hidden": 2}
    assert nearest_config(entries, "gcn", "cora", "flip", 0.8, protocol="planetoid", backbone="h2gcn") == {"hidden": 3}


def test_a_file_of_entries_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps([entry(0.4, 1)]), encoding="utf-8")
    assert read_entries(path) == (entry(0.4, 1),)
    for text, message in (
        ("[", "to be JSON"),
        ("{}", "to be a list of objects with method, dataset, noise, rate, options"),
        ('[{"method": "gcn"}]', r'but got {"method": "gcn"}'),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=message):
            read_entries(path)
    with pytest.raises(ConfigError, match="Expected a file with configurations at"):
        read_entries(tmp_path / "absent.json")


def test_every_shipped_entry_is_a_configuration_found_without_test_labels() -> None:
    for entry in shipped_entries():
        make_config(entry["method"], entry["options"])
        assert entry["selection"] in ("val-clean", "val-noisy", "trusted")
        assert entry["found"]["score"] >= entry["found"]["default_score"]
