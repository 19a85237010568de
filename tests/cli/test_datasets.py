"""The list of datasets says what the catalogue says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lnp.datasets.catalog import list_datasets


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LNP_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_json_has_every_row(call) -> None:
    result = call("datasets", "--json")
    assert result.exit_code == 0
    rows = json.loads(result.stdout)
    assert [row["name"] for row in rows] == [row.name for row in list_datasets()]
    digits = next(row for row in rows if row["name"] == "digits")
    assert (digits["nodes"], digits["edges"], digits["classes"], digits["available"]) == (1797, 12340, 10, True)


def test_the_table_says_what_is_at_hand_and_how_to_get_the_rest(call) -> None:
    lines = call("datasets").stdout.splitlines()
    cells = {line.split()[0]: line.split()[1:] for line in lines if line.strip()}
    assert cells["digits"] == ["1,797", "12,340", "64", "10", "0.96", "yes"]
    assert cells["tolokers"][-1] == "LNP_DATA"
    assert cells["cora"][-1] == "download"
    assert max(len(line.rstrip()) for line in lines if line.split()[:1] != ["At"]) <= 80
