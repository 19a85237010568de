"""What an import found, said so that a person can judge it: nothing odd is mended in silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from lnp.errors import DataError

__all__ = ["ClassRow", "ColumnRow", "Finding", "ImportSummary"]


@dataclass(frozen=True)
class ClassRow:
    """A class: its name, how many nodes are labelled with it, and how many of those labels are trusted."""

    name: str
    labelled: int
    trusted: int


@dataclass(frozen=True)
class ColumnRow:
    """What became of a column of the node table.

    Args:
        name: The column.
        used_as: "id", "label", "trusted", "numbers", "vector", "words", "categories", "shown" or "left out".
        features: How many features it gives.
        note: Why, or what was done to it.
    """

    name: str
    used_as: str
    features: int = 0
    note: str = ""


@dataclass(frozen=True)
class Finding:
    """One thing worth knowing.

    Args:
        what: A short name that programs can ask for: "isolated nodes", "duplicate edges", ….
        count: How many.
        message: The same for people, with what was done about it.
    """

    what: str
    count: int
    message: str


@dataclass(frozen=True)
class ImportSummary:
    """Sizes, classes, columns and findings of one import.

    Args:
        source: What it was imported from.
        nodes: n.
        edges: m, undirected, each once.
        features: d.
        labelled: Nodes with a given label.
        trusted: Nodes whose label is trusted.
        homophily: The share of edges between labelled nodes whose ends agree; ``None`` without such an edge.
        adjusted_homophily: The same beyond chance.
        classes: One row per class.
        columns: One row per column of the node table; empty where there was no table.
        findings: Whatever is odd.
    """

    source: str
    nodes: int
    edges: int
    features: int
    labelled: int
    trusted: int
    homophily: float | None
    adjusted_homophily: float | None
    classes: tuple[ClassRow, ...]
    columns: tuple[ColumnRow, ...]
    findings: tuple[Finding, ...]

    def count(self, what: str) -> int:
        """How many of that finding there are; 0 where it was not found."""
        return sum(finding.count for finding in self.findings if finding.what == what)

    def to_json(self) -> dict[str, object]:
        """JSON-ready values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: object) -> ImportSummary:
        """Reads what :meth:`to_json` gave."""
        if not isinstance(values, Mapping):
            raise DataError(f"Expected `summary` to be an object, but got {type(values).__name__}.")
        try:
            parts = {
                **values,
                "classes": tuple(ClassRow(**row) for row in values["classes"]),
                "columns": tuple(ColumnRow(**row) for row in values["columns"]),
                "findings": tuple(Finding(**row) for row in values["findings"]),
            }
            return cls(**parts)
        except (TypeError, KeyError) as error:
            raise DataError(f"Expected `summary` to describe an import, but got: {error}.") from error

    def __str__(self) -> str:
        lines = [
            self.source,
            f"  {self.nodes:,} nodes, {self.edges:,} edges, {self.features:,} features, {len(self.classes)} classes",
            f"  {self.labelled:,} nodes have a label, {self.trusted:,} of them trusted",
        ]
        if self.homophily is not None:
            beyond = "" if self.adjusted_homophily is None else f" ({self.adjusted_homophily:.2f} beyond chance)"
            lines.append(f"  neighbours share their given label on {self.homophily:.0%} of the edges{beyond}")
        lines += _block("classes", ("name", "labelled", "trusted"), [_class_cells(row) for row in self.classes])
        lines += _block("columns", ("name", "used as", "features", ""), [_column_cells(row) for row in self.columns])
        lines.append("worth knowing:" if self.findings else "nothing odd was found")
        lines += [f"  - {finding.message}" for finding in self.findings]
        return "\n".join(lines)


LONGEST_BLOCK = 30


def _class_cells(row: ClassRow) -> tuple[str, ...]:
    return row.name, f"{row.labelled:,}", f"{row.trusted:,}"


def _column_cells(row: ColumnRow) -> tuple[str, ...]:
    return row.name, row.used_as, f"{row.features:,}" if row.features else "", row.note


def _block(title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    shown = [head, *(tuple(_one_line(cell) for cell in row) for row in rows[:LONGEST_BLOCK])]
    widths = [max(len(row[i]) for row in shown) for i in range(len(head))]
    lines = [f"{title}:"]
    for row in shown:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  " + "  ".join(cells).rstrip())
    left = len(rows) - LONGEST_BLOCK
    return [*lines, f"  … and {left:,} more"] if left > 0 else lines


def _one_line(text: str, limit: int = 60) -> str:
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"
