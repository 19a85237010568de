"""The demo: four methods on handwritten digits with most labels wrong. From runs to plain data.

Every seed draws its own split, noise and trusted labels (protocol ``strict``: no clean label beyond T_C is seen). The
last epoch is kept instead of holding out half of T_C to choose one: with ten classes, 25 trusted labels are two per
class, and both are worth more in training.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from lnp.audit.order import spread_order
from lnp.datasets.digits import PICTURE_SHAPE
from lnp.errors import check_range
from lnp.experiments.demo_data import PICTURES, Curve, DemoData, MethodOutcome, Suspect
from lnp.experiments.prediction import Predictions
from lnp.experiments.run import RunOutcome, run
from lnp.experiments.spec import RunSpec
from lnp.metrics.accuracy import confusion_matrix

__all__ = ["METHODS", "SHOWN", "run_demo"]

METHODS = ("gcn", "lnp-v1", "lnp-v2", "lnp-channel")
SHOWN = "lnp-channel"
"""The method whose predictions and suspects are shown, those of seed 0."""


@dataclass(frozen=True, eq=False)
class _Run:
    """What a run sends home."""

    method: str
    seed: int
    accuracy: float
    found: float
    realised_rate: float
    seconds: float
    epochs: int
    curves: list[Curve] = field(default_factory=list)
    shown: _Shown | None = None


@dataclass(frozen=True, eq=False)
class _Shown:
    predictions: Predictions
    truth: NDArray[np.int64]
    quality: NDArray[np.float32]
    features: NDArray[np.float32]
    noisy: NDArray[np.int64]
    trusted_nodes: int
    test_nodes: int


def run_demo(
    seeds: int = 3,
    *,
    epochs: int | None = None,
    processes: int = 1,
    on_run: Callable[[str, int], None] | None = None,
) -> DemoData:
    """Trains all methods with all seeds.

    Args:
        seeds: How many draws of split, noise and trusted labels.
        epochs: Another number of epochs than each method's own.
        processes: How many runs at a time; above 1 each is a fresh process with one thread.
        on_run: Called with method and seed when a run is finished.
    """
    check_range("seeds", seeds, 1, 100)
    options: dict[str, object] = {} if epochs is None else {"epochs": epochs}
    specs = [
        RunSpec(dataset="digits", method=method, noise="flip", rate=0.6, seed=seed, options=options, selection="last")
        for method in reversed(METHODS)  # the slow ones first
        for seed in range(seeds)
    ]
    runs = []
    for finished in _map(specs, processes):
        runs.append(finished)
        if on_run is not None:
            on_run(finished.method, finished.seed)
    runs.sort(key=lambda one: (METHODS.index(one.method), one.seed))
    return _gather(runs, specs[0], seeds)


def _map(specs: list[RunSpec], processes: int) -> Iterator[_Run]:
    if processes <= 1:
        yield from map(_run, specs)
        return
    with _interrupts_ignored():  # the workers inherit it: an interrupt is the parent's business
        pool = multiprocessing.get_context("spawn").Pool(min(processes, len(specs)), torch.set_num_threads, (1,))
    with pool:  # leaving it ends the workers, also when the user stops the demo
        yield from pool.imap_unordered(_run, specs)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # only there can it be done
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run(spec: RunSpec) -> _Run:
    outcome = run(spec)
    record = outcome.record
    assert record.detection_precision_at_100 is not None
    return _Run(
        method=spec.method,
        seed=spec.seed,
        accuracy=record.test_accuracy,
        found=record.detection_precision_at_100,
        realised_rate=record.realised_rate,
        seconds=record.seconds,
        epochs=record.epochs,
        curves=_curves(outcome) if spec.seed == 0 else [],
        shown=_show(outcome) if spec.seed == 0 and spec.method == SHOWN else None,
    )


def _curves(outcome: RunOutcome) -> list[Curve]:
    records = outcome.result.history.records
    curves: dict[tuple[str, str], Curve] = {}
    for position, record in enumerate(records):
        for term, value in record.terms.items():
            curves.setdefault((record.stage, term), Curve(record.stage, term, position, [])).values.append(value)
    return list(curves.values())


def _show(outcome: RunOutcome) -> _Shown:
    graph, task = outcome.task.graph, outcome.task
    predictions = Predictions(
        node_ids=graph.node_ids,
        class_names=graph.class_names,
        given=task.observed.given,
        probabilities=outcome.result.probabilities.double().cpu().numpy(),
    )
    return _Shown(
        predictions=predictions,
        truth=outcome.dataset.truth.labels,
        quality=outcome.quality,
        features=outcome.dataset.graph.features,
        noisy=np.intersect1d(task.split.train, task.observed.noisy_nodes),
        trusted_nodes=task.observed.trusted_nodes.size,
        test_nodes=task.split.test.size,
    )


def _gather(runs: list[_Run], spec: RunSpec, seeds: int) -> DemoData:
    outcomes = []
    for method in METHODS:
        own = [one for one in runs if one.method == method]
        outcomes.append(
            MethodOutcome(
                name=method,
                accuracies=[one.accuracy for one in own],
                found=[one.found for one in own],
                seconds=[one.seconds for one in own],
                epochs=[one.epochs for one in own],
                curves=own[0].curves,
            )
        )
    shown = next(one.shown for one in runs if one.shown is not None)
    predictions, noisy = shown.predictions, shown.noisy
    given, proposed, truth = predictions.given[noisy], predictions.predicted[noisy], shown.truth[noisy]
    return DemoData(
        noise=spec.noise,
        rate=spec.rate,
        seeds=seeds,
        nodes=shown.truth.size,
        train_nodes=noisy.size,
        trusted_nodes=shown.trusted_nodes,
        test_nodes=shown.test_nodes,
        base_rate=float(np.mean([one.realised_rate for one in runs])),
        methods=outcomes,
        predictions=predictions,
        confusion=confusion_matrix(given, proposed, len(predictions.class_names)).tolist(),
        suspects=_suspects(shown),
        given_right=float((given == truth).mean()),
        proposed_right=float((proposed == truth).mean()),
    )


def _suspects(shown: _Shown) -> list[Suspect]:
    predictions = shown.predictions
    contradicted = shown.noisy[predictions.given[shown.noisy] != predictions.predicted[shown.noisy]]
    order = spread_order(shown.quality[contradicted].astype(np.float64), predictions.predicted[contradicted])
    ranked = contradicted[order]
    given, proposed, truth = predictions.given[ranked], predictions.predicted[ranked], shown.truth[ranked]
    quality, confidence = shown.quality[ranked], predictions.confidence[ranked]
    return [
        Suspect(
            node=int(node),
            given=int(given[place]),
            proposed=int(proposed[place]),
            quality=float(quality[place]),
            confidence=float(confidence[place]),
            truth=int(truth[place]),
            picture=shown.features[node].reshape(PICTURE_SHAPE).tolist() if place < PICTURES else None,
        )
        for place, node in enumerate(ranked)
    ]
