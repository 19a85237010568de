"""How long an import takes: two million nodes and ten million edges from Parquet, in under 60 s on two cores.

``python benchmarks/import_speed.py`` makes the files in a temporary folder, imports them in a process of its own and
prints wall-clock seconds, processor seconds and peak memory of every step. On a shared machine the processor seconds
say more: they are what a single free core would need. The limit counts as met where either is below it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LIMIT = 60.0
"""Seconds that the import of the large graph may take on two cores."""

CLASSES = ("biology", "chemistry", "economics", "history", "law", "mathematics", "medicine", "physics")


def make_files(folder: Path, nodes: int, edges: int, features: int, *, words: bool) -> tuple[Path, Path]:
    """A graph with text ids, names of classes (three in ten missing), numbers, a category, and maybe a text."""
    import polars as pl

    draw = np.random.default_rng(0)
    names = pl.Series([f"paper-{i:07d}" for i in range(nodes)])
    topic = draw.integers(0, len(CLASSES), nodes)
    label = pl.Series(np.array(CLASSES)[topic]).set(pl.Series(draw.random(nodes) < 0.3), None)
    trusted = pl.Series((draw.random(nodes) < 1e-4).astype(np.int8))
    columns = {"id": names, "label": label, "trusted": trusted.set(label.is_null(), 0)}
    columns |= {f"x{i}": pl.Series(draw.standard_normal(nodes, np.float32) + topic) for i in range(features)}
    columns["journal"] = pl.Series(np.array([f"journal {i}" for i in range(40)])[draw.integers(0, 40, nodes)])
    if words:
        vocabulary = np.array([f"word{i}" for i in range(5000)])
        chosen = vocabulary[(5000 * draw.random((nodes, 8)) ** 3).astype(np.int64)]
        columns["title"] = pl.Series([" ".join(row) for row in chosen.tolist()])
    pl.DataFrame(columns).write_parquet(folder / "nodes.parquet")
    ends = draw.integers(0, nodes, (2, edges))
    pl.DataFrame({"source": names[ends[0]], "target": names[ends[1]]}).write_parquet(folder / "edges.parquet")
    return folder / "nodes.parquet", folder / "edges.parquet"


def run(folder: Path) -> None:
    """Imports, writes and reads back; prints what it took as JSON. Called in a process of its own."""
    from lnp.datasets.files.from_tables import read_pair
    from lnp.datasets.files.import_options import ImportOptions
    from lnp.datasets.own_graph import read_own_graph, write_own_graph

    rows: list[tuple[str, float, float, float]] = []
    began = [time.perf_counter(), time.process_time()]

    def note(what: str) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append((what, time.perf_counter() - began[0], time.process_time() - began[1], peak))
        began[:] = [time.perf_counter(), time.process_time()]

    steps = ["start"]

    def on_step(what: str) -> None:
        note(steps[-1])
        steps.append(what)

    own = read_pair(folder / "nodes.parquet", folder / "edges.parquet", ImportOptions(), on_step)
    note(steps[-1])
    write_own_graph(own, folder / "graph")
    note("writing the folder")
    again = read_own_graph(folder / "graph")
    note("(reading it back)")
    assert again.graph.checksum == own.graph.checksum
    print(json.dumps({"graph": repr(own), "rows": rows}))


def main() -> int:
    """Makes the files, runs the import, prints the table; 1 where the limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--words", action="store_true", help="with a column of text, eight words a node")
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.run is not None:
        run(asked.run)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = make_files(folder, asked.nodes, asked.edges, asked.features, words=asked.words)
        size = sum(path.stat().st_size for path in files) / 2**20
        print(f"{asked.nodes:,} nodes, {asked.edges:,} edges, {size:.0f} MiB of Parquet")
        command = [sys.executable, __file__, "--run", str(folder)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(found["graph"])
    rows = found["rows"]
    counted = [row for row in rows if not row[0].startswith("(")]
    wall, cpu = sum(row[1] for row in counted), sum(row[2] for row in counted)
    print(f"{'step':32} {'seconds':>8} {'CPU s':>8} {'peak MiB':>9}")
    for what, seconds, processor, peak in rows:
        print(f"{what:32} {seconds:8.1f} {processor:8.1f} {peak:9.0f}")
    met = min(wall, cpu) < LIMIT
    verdict = (
        "met" if wall < LIMIT else ("met by processor seconds, not by the clock: busy machine" if met else "MISSED")
    )
    print(f"{'import in all':32} {wall:8.1f} {cpu:8.1f}   limit {LIMIT:.0f} s: {verdict}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
