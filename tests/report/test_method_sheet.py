"""Method sheets: every option of every method has a meaning and its true default."""

from __future__ import annotations

import dataclasses
import json

import pytest

from lnp.methods.registry import METHODS, make_config
from lnp.report.method_sheet import method_sheet, method_sheets, plain_text


@pytest.mark.parametrize("name", METHODS)
def test_every_option_is_explained(name: str) -> None:
    sheet = method_sheet(name)
    assert {option.name: option.default for option in sheet.options} == dataclasses.asdict(make_config(name))
    assert [option.name for option in sheet.options if not option.meaning] == []
    json.dumps(sheet.to_json(), allow_nan=False)


def test_a_name_with_its_own_defaults() -> None:
    backbones = {sheet.name: sheet.options[0].default for sheet in method_sheets()}
    assert (backbones["gcn"], backbones["h2gcn"], backbones["mlp"]) == ("gcn", "h2gcn", "mlp")


def test_a_meaning_over_several_lines_is_one_sentence() -> None:
    meanings = {option.name: option.meaning for option in method_sheet("lnp-v2").options}
    assert meanings["similarity"].endswith('"random" (the released code).')
    assert "  " not in meanings["similarity"]


def test_markup_goes() -> None:
    assert plain_text(r"``a`` and :math:`KL(Q \| P)`") == "a and KL(Q ‖ P)"
