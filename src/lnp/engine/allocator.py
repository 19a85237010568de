"""Memory that is used again instead of being handed back.

A large matrix is thrown away in every step and made anew in the next. By default the C library returns it to the system
at once, and the system fills every page with zeros before it gives it out again: on graphs of some hundred thousand
nodes that is a third of an epoch, and a part of why time grows faster than the graph. Here freed memory stays with the
process, and is asked for in large pages, with which scattered reads are faster, too. No number changes.

The price is room: what is free lies between what is not, and may be a little too small for what is asked for next. A
process held 1.3 to 2.5 times what it had held before. It is done only where :data:`SPARE` times that can be had, which
is what one epoch can come to if nothing fits, and after an epoch that ended above :data:`MOST` times everything free is
given back. Large pages add to it, since PyTorch aligns every matrix to them and fewer then fit where others were. With
one process they pay (6.3 for 7.4 µs a node and epoch at 3·10⁵ nodes); one of two processes that share a run kept
growing with them, by 1.5 GiB in 40 epochs, and what it grew by was slow to come, so such runs do without.

Where processes share a run, all wait while one of them takes new memory, and each does so now and then for as long as
its free blocks have not become a mixture that always fits. So they take room beforehand, all at the same time.
"""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Callable

from lnp.engine.available import memory_limit, resident_bytes
from lnp.engine.history import EpochRecord

__all__ = ["MOST", "SPARE", "OnEpoch", "ask_for_large_pages", "give_back", "has_room", "keep_freed_memory"]

OnEpoch = Callable[[EpochRecord, int], None]
"""What :class:`~lnp.engine.fit.FitOptions` call after every epoch."""

SPARE = 3
"""How many times the memory in use a process may come to hold within an epoch."""

MOST = 2
"""How many times the memory in use a process takes into the next epoch."""

LARGE_PAGES = "THP_MEM_ALLOC_ENABLE"
"""What PyTorch reads before it allocates for the first time; systems without large pages take no notice."""

ROOM = 1.5
"""How many times the memory in use a process takes beforehand."""

TRIM_THRESHOLD, TOP_PAD, MMAP_MAX = -1, -2, -4
"""Numbers of the options of ``mallopt``, see ``malloc.h``."""

STEP = 2**24
"""Bytes by which a process grows at least."""


def ask_for_large_pages() -> None:
    """Has PyTorch ask for large pages, unless the user has said otherwise; to be called before PyTorch is imported."""
    os.environ.setdefault(LARGE_PAGES, "1")


def has_room(needed: int, processes: int = 1) -> bool:
    """Whether a process that uses so many bytes at its peak may keep what it frees.

    Args:
        needed: Bytes.
        processes: How many such processes the machine has, this one included.
    """
    limit = memory_limit()
    return limit is None or processes * SPARE * needed <= limit


def give_back() -> None:
    """Gives everything free back to the system, so that what is held from now on is what the next run takes."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


def keep_freed_memory(needed: int, on_epoch: OnEpoch | None = None, *, beforehand: bool = False) -> OnEpoch | None:
    """Has the C library keep what is freed, from now on and for the whole process.

    Other libraries than that of GNU have no such option and are left as they are.

    Args:
        needed: Bytes that the process uses at its peak.
        on_epoch: What is called after every epoch.
        beforehand: Whether to take room for :data:`ROOM` times what is needed at once.

    Returns:
        What is to be called instead: it also gives everything free back where more than :data:`MOST` times what is
        needed is held.
    """
    if platform.libc_ver()[0] != "glibc":
        return on_epoch
    library = ctypes.CDLL(None)
    # No block comes from the system directly, and nothing goes back to it unasked.
    for option, value in ((MMAP_MAX, 0), (TRIM_THRESHOLD, -1), (TOP_PAD, STEP)):
        library.mallopt(option, value)
    if beforehand:
        _take(library, round(ROOM * needed) - resident_bytes())

    def after_epoch(record: EpochRecord, count: int) -> None:
        if resident_bytes() > MOST * needed:
            library.malloc_trim(0)
        if on_epoch is not None:
            on_epoch(record, count)

    return after_epoch


def _take(library: ctypes.CDLL, size: int) -> None:
    """Has the process grow by one block that is free from the start; nothing happens where it cannot be had."""
    if size <= 0:
        return
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.restype, library.free.argtypes = None, [ctypes.c_void_p]
    block = library.malloc(size)
    if block:
        ctypes.memset(block, 0, size)  # pages come with the first write to them
        library.free(block)
