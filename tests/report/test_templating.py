from __future__ import annotations

import jinja2
import pytest

import lnp.report.templating as module
from lnp.report.templating import render


def test_strings_are_escaped_and_a_missing_name_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = jinja2.DictLoader({"page.html": "<p>{{ label }}</p>"})
    monkeypatch.setattr(module, "PackageLoader", lambda package: loader)
    assert render("page.html", {"label": "<script>"}) == "<p>&lt;script&gt;</p>"
    with pytest.raises(jinja2.UndefinedError, match="'label' is undefined"):
        render("page.html", {})
