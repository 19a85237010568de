"""How much memory this process may take: what the machine has left, what its container allows, or what the user says.

``LNP_MEMORY_LIMIT`` names another limit, for instance ``12GiB`` or ``800 MB``; ``none`` sets none.
"""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

from lnp.errors import ConfigError

__all__ = ["LIMIT", "format_bytes", "memory_limit", "parse_bytes", "resident_bytes"]

LIMIT = "LNP_MEMORY_LIMIT"
"""The variable of the environment."""

UNITS = {"": 1, "B": 1, **{unit: 1000**k for k, unit in enumerate(("KB", "MB", "GB", "TB"), 1)}}
UNITS |= {unit: 1024**k for k, unit in enumerate(("KIB", "MIB", "GIB", "TIB"), 1)}

ROOT = Path("/")


def memory_limit(root: Path = ROOT) -> int | None:
    """Bytes that this process may hold in all, those included that it holds already; ``None`` where nobody knows.

    Args:
        root: Where ``proc`` and ``sys`` are.
    """
    wish = os.environ.get(LIMIT, "").strip()
    if wish:
        return None if wish.lower() == "none" else parse_bytes(wish)
    left = [bytes_ for bytes_ in (_machine(root), *_containers(root)) if bytes_ is not None]
    return resident_bytes(root) + max(0, min(left)) if left else None


def resident_bytes(root: Path = ROOT) -> int:
    """Bytes of memory that this process holds now."""
    pages = _read(root / "proc/self/statm").split()
    if len(pages) > 1:
        return int(pages[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def parse_bytes(text: str) -> int:
    """A number of bytes with an optional unit.

    >>> parse_bytes("1.5 GiB"), parse_bytes("800MB"), parse_bytes("4096")
    (1610612736, 800000000, 4096)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text.strip())
    if match is None or match[2].upper() not in UNITS:
        raise ConfigError(f"Expected `{LIMIT}` to be an amount of memory, for instance 12GiB, or none; got {text!r}.")
    return int(float(match[1]) * UNITS[match[2].upper()])


def format_bytes(count: float) -> str:
    """Bytes as people read them.

    >>> format_bytes(13.25 * 1024**3), format_bytes(800 * 1024**2)
    ('13.2 GiB', '800 MiB')
    """
    return f"{count / 1024**3:.1f} GiB" if count >= 1024**3 else f"{count / 1024**2:.0f} MiB"


def _machine(root: Path) -> int | None:
    """What the machine can still give without swapping."""
    known = re.search(r"^MemAvailable:\s+(\d+) kB", _read(root / "proc/meminfo"), re.MULTILINE)
    if known is not None:
        return int(known[1]) * 1024
    for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        if name in os.sysconf_names:
            return os.sysconf(name) * os.sysconf("SC_PAGE_SIZE")
    return None


def _containers(root: Path) -> Iterator[int]:
    """What each control group around this process can still give: its own, and those that this one is in."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # version 2: one tree for everything
            files = ("memory.max", "memory.current", "inactive_file")
            tree = root / "sys/fs/cgroup"
        elif "memory" in controllers.split(","):
            files = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            tree = root / "sys/fs/cgroup/memory"
        else:
            continue
        inside = Path(path.lstrip("/"))
        for group in (inside, *inside.parents):  # a container often sees its own group as the root of the tree
            left = _left(tree / group, *files)
            if left is not None:
                yield left


def _left(group: Path, limit: str, usage: str, reclaimable: str) -> int | None:
    allowed, used = _read(group / limit).strip(), _read(group / usage).strip()
    if not allowed.isdecimal() or not used.isdecimal():  # "max", or no such group
        return None
    cached = re.search(rf"^{reclaimable} (\d+)", _read(group / "memory.stat"), re.MULTILINE)
    return int(allowed) - int(used) + (int(cached[1]) if cached else 0)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
