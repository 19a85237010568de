"""The list of methods and the sheet of one."""

from __future__ import annotations

import json

from lnp.methods.lnp.config import LNPConfig
from lnp.methods.registry import METHODS


def test_every_method_is_listed_with_what_it_needs(call) -> None:
    rows = json.loads(call("methods", "--json").stdout)
    assert [row["name"] for row in rows] == list(METHODS)
    needs = {row["name"]: row["needs"] for row in rows}
    assert needs["gcn"] == []
    assert "trusted set" in needs["lnp-v2"]
    text = call("methods").stdout
    assert all(name in text for name in METHODS)


def test_one_method_shows_defaults_meanings_and_presets(call) -> None:
    sheet = json.loads(call("methods", "lnp-v2", "--json").stdout)
    options = {option["name"]: option for option in sheet["options"]}
    assert options["tau"]["default"] == LNPConfig().tau
    assert options["tau"]["meaning"] == "τ, temperature of the contrastive loss."
    assert sheet["presets"]["nl"] == {"lambda_1": 0.0}
    text = call("methods", "lnp-v2").stdout
    assert "τ, temperature of the contrastive loss." in text
    assert "lambda_1=0.0" in text


def test_an_unknown_method_lists_the_choices(call) -> None:
    result = call("methods", "lnp-v3")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: Unknown method 'lnp-v3'. Did you mean 'lnp-v2'? Choices: ")
