"""The version of the code behind a number: a digest of what computes it, not a counter that somebody must remember.

It covers the method's own module, the engine's loop, and every module of ``methods``, ``nn``, ``losses`` and ``engine``
that these import, directly or not; and what draws splits, scales features, makes noise and measures. Each module is
parsed, stripped of docstrings and written out again by :func:`ast.unparse`, so comments, docstrings and layout do not
count while a changed constant does. A change that alters no number (a new name for a variable) counts too: a run too
many is cheaper than a number that no code explains.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import lnp
from lnp.methods.registry import entry

__all__ = ["code_version", "digest_modules"]

FOLLOWED = ("methods", "nn", "losses", "engine")
"""Imports of these parts are followed."""

ROOTS = (
    "lnp.engine.fit",
    "lnp.experiments.protocol",
    "lnp.graph.features",
    "lnp.graph.split",
    "lnp.metrics.accuracy",
    "lnp.metrics.detection",
    "lnp.noise.corrupt",
    "lnp.noise.instance",
    "lnp.noise.released",
    "lnp.noise.transition",
)
"""What every run goes through besides its method. Not the registries: a new name in them changes no old number."""

TABLES = ("lnp.experiments.protocol",)
"""Modules with a table of which a run uses one row: only their functions count, the row is in the run's settings."""

SOURCE = Path(lnp.__file__).parent


@cache
def code_version(method: str) -> str:
    """The version of everything that computes the numbers of a method."""
    return digest_modules((entry(method).method.__module__, *ROOTS), SOURCE)


def digest_modules(roots: Iterable[str], source: Path) -> str:
    """A digest of modules and of what they import from :data:`FOLLOWED`.

    Args:
        roots: Modules by their full names.
        source: The folder of the package ``lnp``.
    """
    waiting, seen = list(roots), set[str]()
    while waiting:
        module = waiting.pop()
        if module in seen or not _path(module, source).is_file():
            continue
        seen.add(module)
        waiting.extend(_imports(_path(module, source)))
    digest = hashlib.sha256()
    for module in sorted(seen):
        digest.update(f"{module}\n{_normalised(_path(module, source), module in TABLES)}\n".encode())
    return digest.hexdigest()[:12]


def _path(module: str, source: Path) -> Path:
    inside = source.joinpath(*module.split(".")[1:])
    return inside / "__init__.py" if inside.is_dir() else inside.with_suffix(".py")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def _imports(path: Path) -> tuple[str, ...]:
    return tuple(name for name in _imported(_tree(path)) if name.split(".")[:2] in [["lnp", part] for part in FOLLOWED])


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)  # a module, if there is such a file


@cache
def _normalised(path: Path, functions_only: bool) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if functions_only:
        tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return ast.unparse(_WithoutText().visit(tree))


class _WithoutText(ast.NodeTransformer):
    """Drops strings that stand alone (docstrings of every kind) and ``__all__``."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | None:
        return None if any(isinstance(one, ast.Name) and one.id == "__all__" for one in node.targets) else node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if getattr(node, "body", None) == []:  # nothing but a docstring was there
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node
