from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import lnp


def test_every_public_name_is_there_and_the_list_is_sorted() -> None:
    assert lnp.__all__ == sorted(lnp.__all__)
    assert dir(lnp) == lnp.__all__
    for name, home in lnp._HOMES.items():
        assert getattr(lnp, name) is getattr(importlib.import_module(home), name)
        assert getattr(lnp, name).__module__ == home
    assert {*lnp._HOMES, "__version__"} == set(lnp.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'lnp' has no attribute 'Grape'"):
        lnp.Grape  # noqa: B018


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, lnp; print(sorted({'torch', 'numpy', 'sklearn', 'scipy'} & sys.modules.keys()))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert result.stdout.strip() == "[]"
