"""From a specification to a task that is ready to be trained on, the noise of ``val-channel`` included.

The noise matrix of a task is the same for every method, so a process that runs one after another learns it once.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lnp.datasets.dataset import Dataset
from lnp.engine.noise_channel import RULE, learn_channel
from lnp.engine.progress import OnEpoch
from lnp.experiments.protocol import Task, prepare
from lnp.experiments.spec import RunSpec
from lnp.seeds import Seeds

__all__ = ["task_of"]

REMEMBERED = 64
"""How many noise matrices a process keeps; each has as many numbers as there are pairs of classes."""

_known: OrderedDict[tuple[object, ...], NDArray[np.float32]] = OrderedDict()


def task_of(
    spec: RunSpec, dataset: Dataset, seeds: Seeds, *, device: str = "cpu", on_epoch: OnEpoch | None = None
) -> Task:
    """What the method of a run is given, and how its epoch is chosen.

    Args:
        spec: What to run.
        dataset: Its graph and truth; the truth ends here.
        seeds: Where all draws come from.
        device: Where to compute the noise matrix.
        on_epoch: As for :class:`~lnp.engine.fit.FitOptions`, while it is computed.
    """
    task = prepare(
        dataset,
        spec.protocol,
        spec.noise,
        spec.rate,
        seeds,
        trusted_size=spec.trusted_size,
        selection=spec.rule,
        scaling=spec.scaling,
    )
    if task.selection.rule != RULE:
        return task
    return replace(task, selection=replace(task.selection, transition=_transition(task, seeds, device, on_epoch)))


def _transition(task: Task, seeds: Seeds, device: str, on_epoch: OnEpoch | None) -> NDArray[np.float32]:
    labels = task.observed
    key = (
        task.graph.checksum,
        labels.given.tobytes(),
        labels.trusted.tobytes(),
        task.split.train.tobytes(),
        seeds.seed,
        device,
    )
    if key not in _known:
        _known[key] = learn_channel(task.graph, labels, task.split.train, seeds, device=device, on_epoch=on_epoch)
        while len(_known) > REMEMBERED:
            _known.popitem(last=False)
    return _known[key]
