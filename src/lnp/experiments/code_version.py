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
from dataclasses import dataclass
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
def code_version(method: str, *further: str) -> str:
    """The version of everything that computes the numbers of a method.

    Args:
        method: By name.
        further: Modules that a run goes through beside.
    """
    return digest_modules((entry(method).method.__module__, *ROOTS, *further), SOURCE)


def digest_modules(roots: Iterable[str], source: Path) -> str:
    """A digest of modules and of what they import from :data:`FOLLOWED`.

    Args:
        roots: Modules by their full names.
        source: The folder of the package ``lnp``.
    """
    waiting, found = list(roots), dict[str, _Module]()
    while waiting:
        name = waiting.pop()
        if name not in found and (module := _read(name, source)) is not None:
            found[name] = module
            waiting.extend(module.imports)
    digest = hashlib.sha256()
    for name in sorted(found):
        digest.update(f"{name}\n{found[name].code}\n".encode())
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class _Module:
    """The code of a module without its texts, and what it imports from :data:`FOLLOWED`."""

    code: str
    imports: tuple[str, ...]


@cache
def _read(name: str, source: Path) -> _Module | None:
    """The module of that name; ``None`` if there is none. Each is read once in the life of a process."""
    inside = source.joinpath(*name.split(".")[1:])
    path = inside / "__init__.py" if inside.is_dir() else inside.with_suffix(".py")
    if not path.is_file():
        return None
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    imports = tuple(one for one in _imported(tree) if one.split(".")[:2] in [["lnp", part] for part in FOLLOWED])
    if name in TABLES:
        tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return _Module(ast.unparse(_WithoutText().visit(tree)), imports)


def _imported(tree: ast.Module) -> Iterator[str]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)  # a module, if there is such a file
        elif not isinstance(node, ast.expr):  # no expression holds a statement
            waiting.extend(ast.iter_child_nodes(node))


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
