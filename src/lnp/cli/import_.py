"""``lnp import``: your own files as one checked folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from lnp.cli.output import AsJson, print_json, print_text

__all__ = ["import_"]

Columns = list[str] | None


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES", help="NODES EDGES (.csv, .tsv, .parquet), one .graphml, .gexf or .npz file, or a folder."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="The folder to write. [the folder with the files, else lnp-graph]")
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Nodes: ids.")] = None,
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="Nodes: given labels.")] = None,
    trusted: Annotated[str | None, typer.Option(metavar="COLUMN", help="Nodes: 1 where the label was checked.")] = None,
    source: Annotated[str | None, typer.Option(metavar="COLUMN", help="Edges: one end.")] = None,
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="Edges: the other end.")] = None,
    weight: Annotated[str | None, typer.Option(metavar="COLUMN", help="Edges: the weight.")] = None,
    text: Annotated[Columns, typer.Option(metavar="COLUMN", help="Words become features; repeatable.")] = None,
    category: Annotated[Columns, typer.Option(metavar="COLUMN", help="Values become features; repeatable.")] = None,
    show: Annotated[Columns, typer.Option(metavar="COLUMN", help="Shown to people, no feature; repeatable.")] = None,
    ignore: Annotated[Columns, typer.Option(metavar="COLUMN", help="Left out; repeatable.")] = None,
    words: Annotated[int, typer.Option(min=1, help="The most words that a text column gives.")] = 2000,
    picture: Annotated[
        str | None, typer.Option(metavar="ROWSxCOLUMNS", help="The features of a node are the pixels of a picture.")
    ] = None,
    nan_as_missing: Annotated[
        bool, typer.Option("--nan-as-missing", help="Take NaN among numbers for a missing value.")
    ] = False,
    drop_unknown: Annotated[
        bool, typer.Option("--drop-unknown", help="Leave out edges to ids that are not among the nodes.")
    ] = False,
    name: Annotated[str | None, typer.Option(help="What to call the graph.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a graph that is in the folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Reads a graph from files, checks it, says what is odd about it, and writes one folder.

    Columns are found by their usual names (id, label, trusted; source, target, weight) or named by you. Every other
    column of the node table gives features: numbers as they are, text of three words or more as TF-IDF of its words,
    columns with few values as one feature per value; other text is shown and no feature. Nothing is written if
    anything is wrong.
    """
    from lnp.datasets.files.import_options import ImportOptions
    from lnp.datasets.load_graph import import_files
    from lnp.datasets.own_graph import require_free, write_own_graph

    options = ImportOptions(
        id=id_column,
        label=label,
        trusted=trusted,
        source=source,
        target=target,
        weight=weight,
        text=tuple(text or ()),
        category=tuple(category or ()),
        show=tuple(show or ()),
        ignore=tuple(ignore or ()),
        words=words,
        nan_as_missing=nan_as_missing,
        drop_unknown=drop_unknown,
        picture=None if picture is None else _shape(picture),
        name=name,
    )
    folder = out if out is not None else (files[0] if files[0].is_dir() else Path("lnp-graph"))
    require_free(folder, overwrite=overwrite)
    with _steps() as on_step:
        own = import_files(files, options, on_step)
        if on_step is not None:
            on_step("writing the folder")
        write_own_graph(own, folder)
    assert own.summary is not None
    if as_json:
        print_json({"out": str(folder), **own.summary.to_json()})
        return
    print_text(str(own.summary))
    print_text(f"Wrote {folder}. Next: lnp train {folder} --out my-model")


def _shape(text: str) -> tuple[int, int]:
    from lnp.errors import ConfigError

    rows, _, columns = text.lower().replace("×", "x").partition("x")
    if not (rows.isdecimal() and columns.isdecimal() and int(rows) and int(columns)):
        raise ConfigError(f"Expected `--picture` to be rows x columns, for instance 8x8, but got {text!r}.")
    return int(rows), int(columns)


@contextmanager
def _steps() -> Iterator[Callable[[str], None] | None]:
    """Shows what is being done on standard error; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("starting") as status:
        yield lambda what: status.update(escape(f"{what} …"))
