"""One process of a job: trains its share of every case and writes down what it ends with.

Arguments: a folder, which has ``cases.json`` (name → method and options), and whose cache holds hops.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import torch

from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.engine.distributed import DistributedFeed, share
from lnp.engine.files import write_tensors
from lnp.engine.fit import FitResult, fit
from lnp.engine.process_group import ProcessGroup, process_group
from lnp.errors import ConfigError
from lnp.experiments.protocol import Task, prepare
from lnp.methods.base import Method
from lnp.methods.batch import Batch, full_batch
from lnp.methods.lnp.large import terms
from lnp.methods.registry import create_method, make_config
from lnp.nn.hops import HopRows, stored_hops
from lnp.seeds import Seeds

__all__ = ["a_task", "build", "train_alone"]


def a_task() -> Task:
    """61 nodes (no number of processes divides it), three classes, three labels in ten wrong."""
    config = SyntheticConfig(nodes=61, classes=3, mean_degree=6, homophily=0.8, features=8, signal=2.0)
    dataset = synthetic(config, Seeds(0).generator("graph"))
    return prepare(dataset, "random", "uniform-mix", 0.3, Seeds(1), trusted_size=9)


def build(name: str, options: dict[str, object], batch: Batch) -> Method:
    config = make_config(name, {"backbone": "sign", "hidden": 6, **options})
    return create_method(name, config, batch, Seeds(0).generator("initialisation"))


def labels_of(task: Task, options: dict[str, object]) -> tuple[Batch, dict[str, object]]:
    """The whole graph, and the options without ``few``, which leaves the first of two processes all trusted nodes."""
    batch = full_batch(task.graph, task.observed, task.split.train)
    options = dict(options)
    if options.pop("few", False):
        inside = torch.isin(batch.trusted, torch.from_numpy(share(61, 0, 2)))
        given = batch.given.clone()
        given[batch.trusted[~inside]] = -1
        batch = replace(batch, given=given, trusted=batch.trusted[inside])
    return batch, options


def train_alone(name: str, options: dict[str, object]) -> tuple[Method, FitResult]:
    task = a_task()
    batch, options = labels_of(task, options)
    options.pop("written out", None)  # alone the plain way is taken
    method = build(name, options, batch)
    return method, fit(method, batch, task.selection, Seeds(0).randomness())


def train_share(group: ProcessGroup, name: str, options: dict[str, object]) -> tuple[Method, FitResult]:
    """With ``written out``, LNP takes the way of large graphs."""
    task = a_task()
    options = dict(options)
    written_out = options.pop("written out", False)
    terms.MANY = 1 if written_out else 100_000
    labels, options = labels_of(task, options)
    config = make_config(name, {"backbone": "sign", **options})
    file = stored_hops(task.graph, config.propagation, config.layers)
    rows = HopRows(torch.from_numpy(file.read(share(61, group.rank, group.size))), config.propagation)
    whole = Batch(
        graph=HopRows(torch.from_numpy(file.mapped()), config.propagation),  # type: ignore[arg-type]
        given=labels.given,
        noisy=labels.noisy,
        trusted=labels.trusted,
        class_count=3,
    )
    method = build(name, options, whole)
    feed = DistributedFeed(group, whole, rows, torch.from_numpy(task.selection.nodes))
    assert not written_out or terms.applies(config, feed.own)
    randomness = Seeds(0).randomness()
    result = fit(method, feed, task.selection, randomness)
    return method, FitResult(feed.predict_all(method), result.history, 0.0)


def check_collectives(group: ProcessGroup) -> dict[str, torch.Tensor]:
    """Means, sums and their gradients of numbers that depend on the rank."""
    task = a_task()
    labels = full_batch(task.graph, task.observed, task.split.train)
    feed = DistributedFeed(group, labels, None)
    across, nodes = feed.own.across, feed.own.nodes
    assert across is not None
    assert nodes is not None
    values = (nodes.float() + 1).requires_grad_()
    mean = across.mean(values.square(), "all")
    mean.backward()
    row = (torch.arange(6.0).view(3, 2) + group.rank).requires_grad_()
    sums, counts = across.class_sums("any", row, torch.tensor([1, 0, group.rank]))
    ((sums**2).sum() * (group.rank + 1)).backward()
    low, high = across.extremes("any", torch.tensor(float(group.rank)), torch.tensor(float(group.rank)))
    first, second, third = (torch.nn.Parameter(torch.zeros(size)) for size in (2, 3, 1))
    first.grad = torch.full((2,), float(group.rank))
    if group.rank == 0:
        second.grad = torch.ones(3)
    feed.reduce_gradients(iter([first, second, third]))
    assert third.grad is None
    assert first.grad is not None
    assert second.grad is not None
    return {
        "mean": mean.detach(),
        "mean gradient": values.grad,
        "sums": sums.detach(),
        "sums gradient": row.grad,
        "counts": counts,
        "extremes": torch.stack([low, high]),
        "first": first.grad,
        "second": second.grad,
    }


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    cases = json.loads((folder / "cases.json").read_text())
    with process_group() as group:
        write_tensors(folder / f"collectives-{group.rank}", check_collectives(group), {})
        for case, (name, options) in cases.items():
            try:
                method, result = train_share(group, name, options)
            except ConfigError as error:
                (folder / f"{case}-{group.rank}.error").write_text(str(error))
                continue
            about = {"history": result.history.to_json()}
            write_tensors(
                folder / f"{case}-{group.rank}", {**method.state_dict(), "probabilities": result.probabilities}, about
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
