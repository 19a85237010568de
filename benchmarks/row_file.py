"""Rows of a dataclass in a CSV file, for benchmarks that can be stopped and go on."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from lnp.engine.files import write_text

KINDS = {"str": str, "int": int, "float": float}
"""The types of fields, as an annotation names them."""


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """What every run is a run of; a benchmark adds what it compares and what it found."""

    method: str
    dataset: str
    noise: str
    rate: float
    seed: int


def load_rows(file: Path, row: type[Any]) -> list[Any]:
    """What is in the file, if there is one."""
    if not file.exists():
        return []
    kinds = {one.name: KINDS[str(one.type)] for one in fields(row)}
    with file.open(encoding="utf-8", newline="") as lines:
        return [row(**{name: kinds[name](value) for name, value in line.items()}) for line in csv.DictReader(lines)]


def save_rows(file: Path, row: type[Any], rows: Iterable[Any], digits: dict[str, int]) -> None:
    """Writes the file as a whole; ``digits`` says of some columns how many are kept."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [one.name for one in fields(row)], lineterminator="\n")
    writer.writeheader()
    for one in rows:
        writer.writerow(asdict(one) | {name: round(getattr(one, name), count) for name, count in digits.items()})
    write_text(file, text.getvalue())
