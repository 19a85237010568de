"""What a table's records were at another revision and are now: mean test accuracy of every cell, as Markdown.

    python benchmarks/changed.py v1.2 table-1 table-2 --datasets chameleon,squirrel
    python benchmarks/changed.py v1.2 table-1 table-2 --datasets cora --protocol strict --means

``--means`` takes runs of all rates and tables together, those that both sides have with the same seed.
A cell whose mean has not moved by 0.05 has no arrow; one that only one side has stands as ``– → 57.3``. Records are
those of ``results/TABLE.PROTOCOL.csv``; with another number of seeds on one side, its number stands in brackets.
"""

from __future__ import annotations

import argparse
import io
import subprocess
from collections.abc import Iterator
from pathlib import Path

import polars as pl

ROOT = Path(__file__).parents[1]
ORDER = ("gcn", "gce", "apl", "coteaching-plus", "dgnn", "nrgnn", "lpm", "forward", "smodel", "glc", "lnp-v1", "lnp-v2")


def cells(source: str | Path) -> dict[tuple[str, str, float], tuple[float, int]]:
    """(method, dataset, rate) → mean test accuracy in per cent, and the number of seeds."""
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    frame = pl.read_csv(io.StringIO(text), infer_schema_length=None)
    means = frame.group_by("method", "dataset", "rate").agg(100 * pl.col("test_accuracy").mean(), seeds=pl.len())
    return {(method, dataset, rate): (mean, seeds) for method, dataset, rate, mean, seeds in means.iter_rows()}


def at_revision(revision: str, path: Path) -> str:
    """The file as it was; an empty one where it was not there."""
    name = f"{revision}:{path.relative_to(ROOT).as_posix()}"
    done = subprocess.run(["git", "show", name], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout or "method,dataset,rate,test_accuracy\n"


def lines(revision: str, table: str, protocol: str, datasets: list[str]) -> Iterator[str]:
    """The table, a row for each method that has a cell on either side."""
    path = ROOT / "results" / f"{table}.{protocol}.csv"
    before, now = cells(at_revision(revision, path)), cells(path)
    places = sorted({place[1:] for place in before | now if place[1] in datasets}, key=lambda p: (p[0], p[1]))
    yield f"| {table} | {' | '.join(f'{dataset} {rate:g}' for dataset, rate in places)} |"
    yield f"|---|{'---:|' * len(places)}"
    methods = {place[0] for place in before | now if place[1:] in places}
    for method in sorted(methods, key=_place):
        found = ((before.get((method, *place)), now.get((method, *place))) for place in places)
        yield f"| `{method}` | {' | '.join(_cell(*pair) for pair in found)} |"


def means(revision: str, tables: list[str], protocol: str, datasets: list[str]) -> Iterator[str]:
    """A row for each method: its mean on each graph over the runs that both sides have."""
    keys = ["dataset", "noise", "rate", "method", "seed"]
    pairs = []
    for table in tables:
        path = ROOT / "results" / f"{table}.{protocol}.csv"
        before, now = (
            pl.read_csv(io.StringIO(text), infer_schema_length=None).select(*keys, "test_accuracy")
            for text in (at_revision(revision, path), path.read_text(encoding="utf-8"))
        )
        pairs.append(before.join(now, on=keys, suffix="_now").filter(pl.col("dataset").is_in(datasets)))
    runs = pl.concat(pairs)
    found = {
        (method, dataset): (100 * before, 100 * now)
        for method, dataset, before, now in runs.group_by("method", "dataset")
        .agg(pl.col("test_accuracy").mean(), pl.col("test_accuracy_now").mean())
        .iter_rows()
    }
    yield f"| | {' | '.join(datasets)} |"
    yield f"|---|{'---:|' * len(datasets)}"
    for method in sorted({name for name, _ in found}, key=_place):
        cells = [found.get((method, dataset)) for dataset in datasets]
        yield (
            f"| `{method}` | "
            + " | ".join("–" if one is None else f"{one[0]:.1f} → {one[1]:.1f}" for one in cells)
            + " |"
        )


def _place(method: str) -> tuple[int, str]:
    return (ORDER.index(method) if method in ORDER else len(ORDER), method)


def _cell(before: tuple[float, int] | None, now: tuple[float, int] | None) -> str:
    if before is not None and now is not None and abs(before[0] - now[0]) < 0.05 and before[1] == now[1]:
        return f"{now[0]:.1f}"
    alike = before is not None and now is not None and before[1] == now[1]
    return " → ".join(
        "–" if one is None else f"{one[0]:.1f}" + ("" if alike else f" ({one[1]})") for one in (before, now)
    )


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", help="anything that git knows a commit by")
    parser.add_argument("tables", nargs="+", help="table-1, …")
    parser.add_argument("--datasets", required=True, help="separated by commas")
    parser.add_argument("--protocol", default="paper")
    parser.add_argument("--means", action="store_true", help="all rates and tables together")
    chosen = parser.parse_args()
    datasets = chosen.datasets.split(",")
    if chosen.means:
        print("\n".join(means(chosen.revision, chosen.tables, chosen.protocol, datasets)))
        return
    for table in chosen.tables:
        print("\n".join(lines(chosen.revision, table, chosen.protocol, datasets)), end="\n\n")


if __name__ == "__main__":
    main()
