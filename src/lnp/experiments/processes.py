"""Processes: which one on which machine, enough to tell later whether it still lives; peak memory; letting them go."""

from __future__ import annotations

import os
import resource
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

__all__ = ["Owner", "dismiss", "peak_mib", "reset_peak"]


@dataclass(frozen=True)
class Owner:
    """A process.

    Args:
        host: The machine, and on Linux the namespace in which ``pid`` counts.
        pid: Its number.
        started: When it began, in the system's own unit, so that a number used again is no match; 0 where unknown.
    """

    host: str
    pid: int
    started: int

    @classmethod
    def current(cls) -> Owner:
        """The process that asks."""
        return cls(_host(), os.getpid(), _started(os.getpid()))

    def is_gone(self) -> bool:
        """Whether it certainly ended; of a process on another machine nobody can say."""
        if self.host != _host():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass  # it lives, and belongs to somebody else
        return _started(self.pid) != self.started


def dismiss(workers: Iterable[tuple[BaseProcess, Connection, bool]]) -> None:
    """Lets processes go and waits for them: the idle ones are told so, the busy ones are ended.

    Args:
        workers: Of each the process, the pipe by which it is told (``None`` means to go), and whether it is busy.
    """
    workers = list(workers)
    for process, pipe, busy in workers:
        if busy:
            process.terminate()
        else:
            with suppress(OSError):
                pipe.send(None)
        pipe.close()
    for process, _, _ in workers:
        process.join(5)
        if process.is_alive():
            process.kill()
            process.join()


@cache
def _host() -> str:
    namespace = ""
    with suppress(OSError):
        namespace = os.readlink("/proc/self/ns/pid")
    return f"{socket.gethostname()} {namespace}".strip()


def _started(pid: int) -> int:
    """Field 22 of /proc/PID/stat; the name before it may hold spaces and brackets. A zombie does not count."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return -1 if fields[0] in "ZX" else int(fields[19])


def reset_peak() -> None:
    """Forgets the peak so far, where the system lets us (Linux), so that the next one is that of one run."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_mib() -> float:
    """The largest resident memory since :func:`reset_peak`; since the start where that does nothing."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform != "darwin" else peak / 1024**2
