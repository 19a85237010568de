"""The architecture, as a test: imports go one way, nothing forbidden is used, every part has its own tests."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "lnp"
FILES = sorted(SOURCE.rglob("*.py"))

RANKS = {
    **dict.fromkeys(["errors", "seeds"], 0),
    "graph": 1,
    **dict.fromkeys(["datasets", "noise"], 2),
    **dict.fromkeys(["nn", "losses"], 3),
    "methods": 4,
    **dict.fromkeys(["engine", "metrics"], 5),
    **dict.fromkeys(["audit", "estimator"], 6),
    "experiments": 7,
    **dict.fromkeys(["report", "web"], 8),
    **dict.fromkeys(["cli", "__main__", "__init__"], 9),
}
"""A file may import from its own rank or a lower one; ``__init__`` is the public face of the package."""

TESTED = ("graph", "noise", "nn", "losses", "methods", "engine", "metrics")
"""In these, every file has a test file at the same path."""

GLOBAL_CHANCE = {
    *("torch.manual_seed", "torch.seed", "torch.rand", "torch.randn", "torch.randint", "torch.randperm"),
    *("torch.rand_like", "torch.randn_like", "torch.bernoulli", "torch.multinomial", "torch.normal"),
    *("F.dropout", "nn.Dropout", "nn.Linear", "nn.Embedding", "nn.functional.dropout", "random.seed"),
}
"""Calls that draw from a global generator, or fill a layer from one."""

PICKLES = {"torch.load", "torch.save"}


def part(path: Path) -> str:
    """The part of the package that a file belongs to, as in ``RANKS``."""
    inside = path.relative_to(SOURCE).parts
    return inside[0].removesuffix(".py")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every module that a file imports, with the line, wherever in the file that happens."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno} imports by dots; use the full name"
            module = node.module or ""
            for alias in node.names:
                yield (f"lnp.{alias.name}" if module == "lnp" else module), node.lineno


def own_imports(path: Path) -> Iterator[tuple[str, int]]:
    """The parts of this package that a file imports."""
    for module, line in imports(path):
        if module.startswith("lnp.") and module != "lnp.__version__":
            yield module.split(".")[1], line


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of an expression; empty where it is something else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (inner := dotted(node.value)):
        return f"{inner}.{node.attr}"
    return ""


def identifier(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def test_every_part_has_a_rank() -> None:
    assert {part(path) for path in FILES} <= RANKS.keys()


@pytest.mark.parametrize("path", FILES, ids=identifier)
def test_imports_go_one_way(path: Path) -> None:
    own = part(path)
    wrong = [
        f"line {line}: {own} (rank {RANKS[own]}) imports {other} (rank {RANKS.get(other)})"
        for other, line in own_imports(path)
        if RANKS.get(other, 99) > RANKS[own]
    ]
    assert not wrong, "\n".join(wrong)


def test_parts_do_not_import_each_other_in_a_circle() -> None:
    uses: dict[str, set[str]] = {}
    for path in FILES:
        uses.setdefault(part(path), set()).update(other for other, _ in own_imports(path) if other != part(path))
    while uses:  # take away what imports nothing that is left; a circle remains
        free = {name for name, others in uses.items() if not others & uses.keys()}
        assert free, f"import circle among {sorted(uses)}"
        uses = {name: others for name, others in uses.items() if name not in free}


@pytest.mark.parametrize("path", FILES, ids=identifier)
def test_nothing_forbidden_is_used(path: Path) -> None:
    found = [
        f"line {line}: import of {module}"
        for module, line in imports(path)
        if module.split(".")[0] in {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "random"}
    ]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            found.append(f"line {node.lineno}: import *")
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            options = {keyword.arg: keyword.value for keyword in node.keywords}
            drawn_from_argument = isinstance(options.get("generator"), ast.Name | ast.Attribute)
            if name in PICKLES or (name in GLOBAL_CHANCE and not drawn_from_argument) or name.endswith("manual_seed"):
                found.append(f"line {node.lineno}: {name}(…)")
            legacy = name.removeprefix("numpy.random.").removeprefix("np.random.")
            if legacy != name and legacy.islower() and legacy != "default_rng":  # the global functions of numpy
                found.append(f"line {node.lineno}: {name}(…)")
            allowed = options.get("allow_pickle")
            if name in {"np.load", "numpy.load"} and not (isinstance(allowed, ast.Constant) and allowed.value is False):
                found.append(f"line {node.lineno}: {name}(…) without allow_pickle=False")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", [p for p in FILES if p.name != "__init__.py"], ids=identifier)
def test_all_names_what_is_defined(path: Path) -> None:
    module = importlib.import_module(".".join(("lnp", *path.relative_to(SOURCE).with_suffix("").parts)))
    assert hasattr(module, "__all__"), "no __all__"
    assert len(set(module.__all__)) == len(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    defined: set[str] = set()
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    elsewhere = sorted(set(module.__all__) - defined)
    assert not elsewhere, f"{elsewhere} come from another file; import them from there"


@pytest.mark.parametrize("name", TESTED)
def test_every_file_has_its_test_file(name: str) -> None:
    missing = []
    for path in sorted((SOURCE / name).rglob("*.py")):
        expected = TESTS / path.relative_to(SOURCE).with_name(f"test_{path.name}")
        if path.name != "__init__.py" and not expected.exists():
            missing.append(str(expected.relative_to(TESTS.parent)))
    assert not missing, "missing: " + ", ".join(missing)
