"""By what LNP multiplies λ1, on every graph and noise: :mod:`lnp.methods.lnp.label_odds` to the default power.

    python benchmarks/label_odds.py --graphs cora,citeseer,chameleon

Nothing is trained. Protocol ``random``: split, T_C and noise are drawn anew eight times. A cell has the middle of the
draws, and the smallest and the largest. LNP_DATA names the folder of the graphs.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator

from lnp.datasets.catalog import load_dataset
from lnp.experiments.protocol import prepare
from lnp.methods.batch import full_batch
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.label_odds import label_odds
from lnp.seeds import Seeds

GRAPHS = ("cora", "citeseer", "pubmed", "chameleon", "squirrel", "actor")
NOISES = (("uniform-mix", 0.2), ("uniform-mix", 0.8), ("flip", 0.2), ("flip", 0.4), ("flip", 0.6), ("flip", 0.8))
DRAWS = range(8)


def lines(graphs: list[str]) -> Iterator[str]:
    """The table, one line for each graph."""
    power = LNPConfig().odds_power
    yield f"| graph | {' | '.join(f'{noise} {rate:g}' for noise, rate in NOISES)} |"
    yield f"|---|{'---:|' * len(NOISES)}"
    for graph in graphs:
        dataset, cells = load_dataset(graph), []
        for noise, rate in NOISES:
            tasks = (prepare(dataset, "random", noise=noise, rate=rate, seeds=Seeds(seed)) for seed in DRAWS)
            found = [label_odds(full_batch(one.graph, one.observed, one.split.train)) ** power for one in tasks]
            cells.append(f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})")
        yield f"| {graph} | {' | '.join(cells)} |"


def main() -> None:
    """Prints the table as it comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="separated by commas")
    for line in lines(parser.parse_args().graphs.split(",")):
        print(line, flush=True)


if __name__ == "__main__":
    main()
