"""``lnp datasets``: what there is to train on."""

from __future__ import annotations

from lnp.cli.output import AsJson, print_json, print_table, print_text, table

__all__ = ["datasets"]

HOW_TO_GET = {"download": "download", "nowhere": "LNP_DATA"}

KEY = "At hand: yes; download = fetched at first use; LNP_DATA = set this variable to the folder with its file."


def datasets(as_json: AsJson = False) -> None:
    """Lists the graphs, with their size and whether they are at hand.

    Files of published graphs are looked for in the folder that the environment variable LNP_DATA names.
    """
    from dataclasses import asdict

    from lnp.datasets.catalog import list_datasets

    rows = list_datasets()
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    numbers = ("nodes", "edges", "features", "classes", "homo-\nphily")
    shown = table(None, "name", *numbers, "at hand", numbers=numbers)
    for row in rows:
        counts = (row.nodes, row.edges, row.features, row.classes)
        shown.add_row(
            row.name,
            *("" if count is None else f"{count:,}" for count in counts),
            "" if row.homophily is None else f"{row.homophily:.2f}",
            "yes" if row.available else HOW_TO_GET[row.origin],
        )
    print_table(shown)
    print_text(KEY)
