"""``lnp train --distributed``: what a process says before it begins, and when it loses another."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from lnp.experiments.spec import RunSpec

__all__ = ["train_with_others"]

LOST = 1
"""The exit code of a process that has lost another."""


def train_with_others(
    spec: RunSpec, seeds: int, out: Path | None, device: str, announce: Callable[[str], None]
) -> list[dict[str, Any]] | None:
    """Trains with the other processes of the job; the records on process 0, ``None`` on the others.

    Args:
        spec: The run.
        seeds: How many.
        out: Where to keep models.
        device: Where to compute.
        announce: Takes a line on the memory of a large run, on process 0.
    """
    from lnp.engine.process_group import LostProcessError
    from lnp.engine.progress import epoch_progress
    from lnp.experiments.many_processes import train_together

    try:
        return train_together(spec, seeds, folder=out, device=device, watch=epoch_progress, announce=announce)
    except LostProcessError as error:
        again = (
            f"The same command goes on from the last checkpoint in {out}, with any number of processes."
            if out is not None
            else "With --out the same command would go on from the last checkpoint."
        )
        typer.secho(f"error: {error} {again}", fg=typer.colors.RED, err=True)
        # At once: gloo's threads still wait for the lost process, and an orderly end of the interpreter aborts on them.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(LOST)
