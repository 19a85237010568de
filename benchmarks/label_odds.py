"""By what LNP multiplies λ1, on every graph and noise: :mod:`lnp.methods.lnp.label_odds` to the default power.

    python benchmarks/label_odds.py --graphs cora,citeseer,chameleon

Nothing is trained. Protocol ``random``: split, T_C and noise are drawn anew eight times. A cell has the middle of the
draws, and the smallest and the largest. Below: how far that is on average from 0 under flip noise of 0.6 and 0.8, where
most labels of a class are one wrong class, and from 1 elsewhere, with either kind of evidence alone and with both.
LNP_DATA names the folder of the graphs.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator

from lnp.datasets.catalog import load_dataset
from lnp.experiments.protocol import prepare
from lnp.methods.batch import full_batch
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.label_odds import evidence, joined
from lnp.seeds import Seeds

GRAPHS = ("cora", "citeseer", "pubmed", "chameleon", "squirrel", "actor")
NOISES = (("uniform-mix", 0.2), ("uniform-mix", 0.8), ("flip", 0.2), ("flip", 0.4), ("flip", 0.6), ("flip", 0.8))
DRAWS = range(8)


def lines(graphs: list[str]) -> Iterator[str]:
    """The table, one line for each graph, and what both kinds of evidence are worth."""
    power = LNPConfig().odds_power
    errors: dict[str, list[float]] = {}
    yield f"| graph | {' | '.join(f'{noise} {rate:g}' for noise, rate in NOISES)} |"
    yield f"|---|{'---:|' * len(NOISES)}"
    for graph in graphs:
        dataset, cells = load_dataset(graph), []
        for noise, rate in NOISES:
            found = []
            for seed in DRAWS:
                task = prepare(dataset, "random", noise=noise, rate=rate, seeds=Seeds(seed))
                teachers, names = evidence(full_batch(task.graph, task.observed, task.split.train))
                wanted = 0 if noise == "flip" and rate >= 0.6 else 1
                for kind, both in (("A", (teachers, 1.0)), ("B", (1.0, names)), ("both", (teachers, names))):
                    errors.setdefault(kind, []).append(abs(joined(*both) ** power - wanted))
                found.append(joined(teachers, names) ** power)
            cells.append(f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})")
        yield f"| {graph} | {' | '.join(cells)} |"
    yield "\nMean error: " + ", ".join(f"{kind} {statistics.mean(found):.2f}" for kind, found in errors.items())


def main() -> None:
    """Prints the table as it comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="separated by commas")
    for line in lines(parser.parse_args().graphs.split(",")):
        print(line, flush=True)


if __name__ == "__main__":
    main()
