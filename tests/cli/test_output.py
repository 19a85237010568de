"""Tables for people, JSON for machines."""

from __future__ import annotations

import json

import pytest

from lnp.cli.output import print_json, print_table, table


def test_json_reads_back_and_refuses_what_json_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"name": "Kästchen", "values": [0.1, None]}
    print_json(value)
    assert json.loads(capsys.readouterr().out) == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json(float("nan"))


def test_names_and_numbers_stay_whole_and_texts_wrap(capsys: pytest.CaptureFixture[str]) -> None:
    filled = table("title", "name", "text", "count", numbers=("count",))
    filled.add_row("a name of some length", "word " * 200, "1,234,567")
    print_table(filled)
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if "1,234,567" in line)
    assert row.startswith("a name of some length")
    assert sum(line.count("word") for line in lines) == 200
