"""The whole project on one screen: the truth appears before and after training, never inside."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import numpy as np

from lnp.datasets.catalog import load_dataset
from lnp.datasets.dataset import Dataset
from lnp.engine.allocator import has_room, keep_freed_memory
from lnp.engine.fit import FitOptions, FitResult, fit
from lnp.engine.noise_channel import RULE
from lnp.engine.set_up import set_up
from lnp.experiments.protocol import Task
from lnp.experiments.spec import RunSpec
from lnp.experiments.tasks import task_of
from lnp.methods.base import Method
from lnp.methods.batch import Batch
from lnp.metrics.accuracy import accuracy, macro_f1
from lnp.metrics.calibration import expected_calibration_error
from lnp.metrics.detection import noise_detection
from lnp.nn.graph_tensors import LARGE
from lnp.seeds import Seeds

__all__ = ["RunOutcome", "RunRecord", "evaluate", "peak_rss_mib", "run"]

NOISE_FIRST = (
    f"The noise behind the labels is learnt first, by which {RULE} chooses the epoch. On a graph of this size that "
    "takes some minutes; --selection trusted does without."
)


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """What a run found, as plain numbers."""

    spec: RunSpec
    noise: str
    realised_rate: float
    selection: str
    test_accuracy: float
    test_macro_f1: float
    test_calibration_error: float
    detection_ap: float | None
    detection_auroc: float | None
    detection_precision_at_100: float | None
    epochs: int
    seconds: float
    seconds_per_epoch: float
    peak_rss_mib: float

    def to_json(self) -> dict[str, object]:
        """JSON-ready values."""
        return asdict(self) | {"config": asdict(self.spec.config()), "config_hash": self.spec.config_hash}


@dataclass(frozen=True, eq=False)
class RunOutcome:
    """A run with everything that was made on the way."""

    record: RunRecord
    dataset: Dataset
    task: Task
    batch: Batch
    method: Method
    result: FitResult
    quality: np.ndarray


def run(
    spec: RunSpec,
    *,
    device: str = "cpu",
    options: FitOptions | None = None,
    announce: Callable[[str], None] | None = None,
    keepers: int = 0,
) -> RunOutcome:
    """Loads, corrupts, trains, predicts and scores.

    Args:
        spec: What to run.
        device: Where to compute.
        options: How to run the loop.
        announce: Takes lines on the memory and the time of a large run.
        keepers: How many processes of this machine may keep what they free where there is room for all
            (:mod:`lnp.engine.allocator`); with 0 not even this one may.
    """
    seeds = Seeds(spec.seed)
    dataset = load_dataset(spec.dataset)
    if announce is not None and spec.rule == RULE and dataset.graph.node_count >= LARGE:
        announce(NOISE_FIRST)
    task = task_of(spec, dataset, seeds, device=device, on_epoch=options.on_epoch if options else None)
    ready = set_up(
        spec.method,
        spec.config(),
        task.graph,
        task.observed,
        task.split.train,
        seeds,
        original=dataset.graph,
        batching=spec.batching,
        device=device,
        keeps=keepers > 0,
        announce=announce,
    )
    options = replace(options or FitOptions(), patience=spec.patience)
    if keepers and ready.needed and has_room(ready.needed, keepers):
        options = replace(options, on_epoch=keep_freed_memory(ready.needed, options.on_epoch))
    method, batch = ready.method, ready.feed.batch
    result = fit(method, ready.feed, task.selection, seeds.randomness(), options)
    quality = method.label_quality(batch, result.probabilities).cpu().numpy()
    record = evaluate(spec, dataset, task, result, quality)
    return RunOutcome(record, dataset, task, batch, method, result, quality)


def evaluate(spec: RunSpec, dataset: Dataset, task: Task, result: FitResult, quality: np.ndarray) -> RunRecord:
    """Compares predictions with the truth on the test nodes, and suspicions with the truth on T_N."""
    truth, probabilities = dataset.truth.labels, result.probabilities.cpu().numpy()
    test, predicted = task.split.test, probabilities.argmax(axis=1)
    noisy = np.intersect1d(task.split.train, task.observed.noisy_nodes)
    detection = noise_detection(quality[noisy], task.observed.given[noisy] != truth[noisy])
    return RunRecord(
        spec=spec,
        noise=task.noise,
        realised_rate=task.corruption.realised_rate,
        selection=task.selection.rule,
        test_accuracy=accuracy(truth[test], predicted[test]),
        test_macro_f1=macro_f1(truth[test], predicted[test], dataset.graph.class_count),
        test_calibration_error=expected_calibration_error(probabilities[test], truth[test]),
        detection_ap=detection.ap,
        detection_auroc=detection.auroc,
        detection_precision_at_100=detection.precision_at(100),
        epochs=result.epochs,
        seconds=result.seconds,
        seconds_per_epoch=result.seconds_per_epoch,
        peak_rss_mib=peak_rss_mib(),
    )


def peak_rss_mib() -> float:
    """The largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform != "darwin" else peak / 1024**2
