"""What changes the version of a method's code, and what does not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from lnp.experiments.code_version import _read, code_version, digest_modules
from lnp.methods.registry import METHODS

METHOD = '''
"""About the method."""
from lnp.nn.layer import WIDTH
import lnp.nn.other
import lnp.errors

__all__ = ["rate"]
RATE = 0.5
"""What it means."""

class Config:
    """Nothing but text."""

def rate(x):
    """Says what."""
    return RATE * WIDTH * x  # a remark
'''
LAYER = "WIDTH = 3\n"


def version(folder: Path, method: str = METHOD, layer: str = LAYER, other: str = "", errors: str = "") -> str:
    files = {"methods/one": method, "nn/layer": layer, "nn/other": other, "nn/unused": errors, "errors": errors}
    for name, text in files.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return digest_modules(["lnp.methods.one"], folder)


def test_comments_docstrings_layout_and_unused_modules_do_not_count(tmp_path: Path) -> None:
    base = version(tmp_path / "base")
    changes = {
        "comment": METHOD.replace("# a remark", "# another remark"),
        "docstring": METHOD.replace("Says what", "Says more").replace("About", "All about").replace("What it", "That"),
        "no docstring": METHOD.replace('    """Says what."""\n', ""),
        "layout": METHOD.replace("RATE * WIDTH * x", "(RATE * WIDTH\n        * x)"),
        "public names": METHOD.replace('["rate"]', '["rate", "RATE"]'),
        "text of a class": METHOD.replace("Nothing but text.", "Only text."),
    }
    for name, text in changes.items():
        assert version(tmp_path / name, text) == base, name
    assert version(tmp_path / "elsewhere", errors="X = 1\n") == base


@pytest.mark.parametrize(
    "changed",
    [
        {"method": METHOD.replace("0.5", "0.6")},
        {"layer": "WIDTH = 4\n"},
        {"other": "X = 1\n"},
        {"layer": "from lnp.losses.deep import WIDTH\n"},
    ],
    ids=["constant", "imported constant", "imported module", "import"],
)
def test_what_computes_counts(tmp_path: Path, changed: dict[str, str]) -> None:
    assert version(tmp_path / "changed", **changed) != version(tmp_path / "base")


def test_imports_are_followed_through_modules(tmp_path: Path) -> None:
    versions = set()
    for depth in (1, 2):
        folder = tmp_path / str(depth)
        (folder / "losses").mkdir(parents=True)
        (folder / "losses" / "deep.py").write_text(f"WIDTH = {depth}\n", encoding="utf-8")
        versions.add(version(folder, layer="from lnp.losses.deep import WIDTH\n"))
    assert len(versions) == 2


def test_methods_have_versions_of_their_own() -> None:
    assert len(code_version("gcn")) == 12
    assert code_version("gcn") == code_version("h2gcn")  # one class with other defaults
    assert len({code_version(name) for name in ("gcn", "gce", "lnp-v1", "lnp-v2")}) == 4


def test_each_module_is_read_once_for_all_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    original = ast.parse

    def parse(text: str, name: str) -> ast.Module:
        parsed.append(name)
        return original(text, name)

    monkeypatch.setattr("lnp.experiments.code_version.ast.parse", parse)
    for function in (code_version, _read):
        function.cache_clear()
    versions = {name: code_version(name) for name in METHODS}
    assert len(parsed) == len(set(parsed)) > len(set(versions.values()))
    assert {Path(name).name for name in parsed} >= {"fit.py", "gcn.py", "model.py", "protocol.py"}
