"""One process of two: they tell each other things, then process 1 goes without a word. Argument: a folder."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import torch

from lnp.engine.process_group import LostProcessError, process_group

__all__: list[str] = []


def main(folder: Path) -> None:
    started = [0.0]
    try:
        talk(started)
    except LostProcessError as error:
        (folder / "said").write_text(f"{time.monotonic() - started[0]:.1f}\n{error}")


def talk(started: list[float]) -> None:
    with process_group() as group:
        rows = torch.arange(3 - group.rank).view(-1, 1) + 10 * group.rank  # three rows and two
        parts = group.gather(rows, [3, 2])
        assert [part.flatten().tolist() for part in parts] == [[0, 1, 2], [10, 11]]
        assert group.least(torch.tensor([group.rank, -group.rank])).tolist() == [0, -1]
        assert group.greatest(torch.tensor([group.rank, -group.rank])).tolist() == [1, 0]
        told = [
            torch.arange(4, dtype=torch.float64),
            torch.zeros(0, dtype=torch.uint8),
            torch.tensor([[True], [False]]),
        ]
        if group.rank == 0:
            group.send({"name": "Ω", "list": [1, None]}, told)
        else:
            message, tensors = group.receive()
            assert message == {"name": "Ω", "list": [1, None]}
            assert all(torch.equal(a, b) and a.dtype == b.dtype for a, b in zip(tensors, told, strict=True))
            os._exit(7)
        started[0] = time.monotonic()
        group.sum(torch.ones(3))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
