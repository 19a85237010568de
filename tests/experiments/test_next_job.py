"""Workers keep to their labels."""

from __future__ import annotations

from collections import deque

from lnp.experiments.identity import Identity
from lnp.experiments.jobs import Job
from lnp.experiments.next_job import take_next
from lnp.experiments.spec import RunSpec

METHODS = ("gcn", "gce", "apl")


def grid() -> deque[Job]:
    """Two seeds, two rates, three methods, in the order of a table."""
    return deque(
        Job(Identity(f"{seed} {rate} {method}", "", ""), RunSpec(dataset="digits", method=method, rate=rate, seed=seed))
        for seed in (0, 1)
        for rate in (0.2, 0.4)
        for method in METHODS
    )


def names(jobs: list[Job]) -> list[str]:
    return [job.identity.key for job in jobs]


def test_one_worker_goes_in_order() -> None:
    waiting, taken = grid(), list[Job]()
    expected = names(list(waiting))
    while waiting:
        taken.append(take_next(waiting, taken[-1] if taken else None, []))
    assert names(taken) == expected


def test_two_workers_are_never_at_the_same_labels_while_there_are_others() -> None:
    waiting = grid()
    first, second = [take_next(waiting, None, [])], list[Job]()
    second.append(take_next(waiting, None, first))
    while len(waiting) > 0:
        first.append(take_next(waiting, first[-1], second[-1:]))
        if waiting:
            second.append(take_next(waiting, second[-1], first[-1:]))
    assert names(first) == [f"{seed} 0.2 {method}" for seed in (0, 1) for method in METHODS]
    assert names(second) == [f"{seed} 0.4 {method}" for seed in (0, 1) for method in METHODS]


def test_nobody_is_idle_where_all_that_waits_is_on_the_same_labels() -> None:
    waiting = deque(list(grid())[:3])
    busy = take_next(waiting, None, [])
    assert names([take_next(waiting, None, [busy]), take_next(waiting, None, [busy])]) == ["0 0.2 gce", "0 0.2 apl"]
