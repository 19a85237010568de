"""Which column is the id, the label, the source …: as the user says, else by its usual names."""

from __future__ import annotations

from lnp.datasets.files.table import Table
from lnp.errors import DataError

__all__ = ["USUAL_NAMES", "find_role", "require_role"]

USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "node", "node_id", "nodeid"),
    "label": ("label", "class", "y"),
    "trusted": ("trusted",),
    "source": ("source", "src", "from"),
    "target": ("target", "dst", "to"),
    "weight": ("weight",),
}
"""Role → names that are looked for, in this order, capital letters or not."""


def find_role(table: Table, role: str, wanted: str | None) -> str | None:
    """The column in that role, or ``None``; a column that the user named must be there."""
    if wanted is not None:
        table.series(wanted, f"--{role}")
        return wanted
    lowered = {name.lower(): name for name in reversed(table.frame.columns)}
    return next((lowered[name] for name in USUAL_NAMES[role] if name in lowered), None)


def require_role(table: Table, role: str, wanted: str | None) -> str:
    """The column in that role, or an error that lists what there is."""
    found = find_role(table, role, wanted)
    if found is None:
        usual = " or ".join(repr(name) for name in USUAL_NAMES[role])
        raise DataError(
            f"Expected {table.name} to have {table.a_column} {usual}, but it has only {table.names()}. Name the right "
            f"one with --{role}."
        )
    return found
