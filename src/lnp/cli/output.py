"""How commands speak: tables for people, JSON for machines, both on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["PIPE_WIDTH", "AsJson", "print_json", "print_table", "print_text", "table"]

PIPE_WIDTH = 160
"""Columns where standard output is no terminal."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on standard output.")]


def table(title: str | None, *columns: str, numbers: Sequence[str] = ()) -> Table:
    """An empty table; the columns named in ``numbers`` are set flush right, and only texts after the first wrap."""
    from rich import box
    from rich.table import Table

    empty = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    for position, column in enumerate(columns):
        is_number = column in numbers
        whole = is_number or position == 0
        empty.add_column(column, justify="right" if is_number else "left", no_wrap=whole, overflow="fold")
    return empty


def print_table(filled: Table) -> None:
    """Prints a table."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(filled)


def print_text(text: str) -> None:
    """Prints a line."""
    typer.echo(text)


def print_json(value: object) -> None:
    """Prints JSON; a not-a-number would be a defect."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))
