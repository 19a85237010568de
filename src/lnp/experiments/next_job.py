"""Which run a worker takes next: one on labels that it has just trained on, so that what they need is computed once.

Methods of a cell share a graph, labels and the noise behind them (:mod:`lnp.experiments.tasks`). Workers that took runs
in their order would all be at the same cell, and each would learn its noise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from lnp.experiments.jobs import Job

__all__ = ["labels_of", "take_next"]


def labels_of(job: Job) -> tuple[object, ...]:
    """Equal for runs on the same labels of the same graph."""
    spec = job.spec
    return spec.dataset, spec.protocol, spec.noise, spec.rate, spec.seed, spec.trusted_size, spec.scaling


def take_next(waiting: deque[Job], last: Job | None, others: Iterable[Job]) -> Job:
    """Takes the first run on the labels of the last one, else the first on labels that nobody is at, else the first.

    Args:
        waiting: What is to be done, in its order.
        last: The last run of this worker.
        others: What other workers are at.
    """
    taken = {labels_of(job) for job in others}
    own = None if last is None else labels_of(last)
    place = next((place for place, job in enumerate(waiting) if labels_of(job) == own), None)
    if place is None:
        place = next((place for place, job in enumerate(waiting) if labels_of(job) not in taken), 0)
    job = waiting[place]
    del waiting[place]
    return job
