"""Starts several processes of one job, as torchrun would, and waits for them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

__all__ = ["start", "together"]


def start(script: list[str], size: int, **variables: str) -> list[subprocess.Popen[str]]:
    """Runs ``python script…`` as processes 0 … size − 1 on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = os.environ | {
        "WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
        **variables,
    }
    return [
        subprocess.Popen(
            [sys.executable, *script],
            env=common | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]


def together(script: Path, size: int, *arguments: str) -> None:
    """Runs a script to its end on all processes; what any of them says of an error is the error."""
    jobs = start([str(script), *arguments], size)
    try:
        outputs = [job.communicate(timeout=120) for job in jobs]
    finally:
        for job in jobs:
            job.kill()
    assert all(job.returncode == 0 for job in jobs), "\n".join(error for _, error in outputs)
