"""Who is at work on which run, so that several runners on one store never do the same run at once.

A claim holds until its run is in the store, until its process is gone (seen at once on the same machine: a process
killed at any moment blocks nobody), or, where nobody can tell, until its time is over; whoever works renews it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from enum import Enum

from lnp.experiments.processes import Owner
from lnp.experiments.store import Store

__all__ = ["LEASE", "Claimed", "claim", "release", "renew"]

LEASE = 900.0
"""Seconds without a sign of life after which a claim from another machine is void."""


class Claimed(Enum):
    """The answer to a claim."""

    YES = "yes"
    DONE = "done"
    BUSY = "busy"


def claim(store: Store, key: str, owner: Owner | None = None) -> Claimed:
    """Claims a run: ``YES`` and it is the owner's, ``DONE`` if it is finished, ``BUSY`` if somebody else is at it."""
    owner = owner or Owner.current()
    with store.transaction() as connection:
        if connection.execute("SELECT 1 FROM runs WHERE key = ?", (key,)).fetchone():
            return Claimed.DONE
        row = connection.execute("SELECT host, pid, started, expires FROM claims WHERE key = ?", (key,)).fetchone()
        if row and _holds(Owner(*row[:3]), row[3], owner):
            return Claimed.BUSY
        connection.execute(
            "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)",
            (key, owner.host, owner.pid, owner.started, time.time() + LEASE),
        )
    return Claimed.YES


def renew(store: Store, keys: Iterable[str], owner: Owner | None = None) -> None:
    """A sign of life for the owner's claims."""
    owner = owner or Owner.current()
    with store.transaction() as connection:
        connection.executemany(
            "UPDATE claims SET expires = ? WHERE key = ? AND host = ? AND pid = ? AND started = ?",
            [(time.time() + LEASE, key, owner.host, owner.pid, owner.started) for key in keys],
        )


def release(store: Store, key: str, owner: Owner | None = None) -> None:
    """Gives up the owner's claim."""
    owner = owner or Owner.current()
    with store.transaction() as connection:
        connection.execute(
            "DELETE FROM claims WHERE key = ? AND host = ? AND pid = ? AND started = ?",
            (key, owner.host, owner.pid, owner.started),
        )


def _holds(holder: Owner, expires: float, asking: Owner) -> bool:
    if holder == asking or holder.is_gone():
        return False
    return holder.host == asking.host or expires > time.time()
