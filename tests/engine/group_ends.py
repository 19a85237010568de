"""One process of a job: writes down how many threads it has before, within and after the group."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import torch

from lnp.engine.process_group import process_group


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    counts = [threads()]
    with process_group() as group:
        group.wait()
        counts.append(threads())
        importlib.import_module("torch._dynamo")  # whoever makes an optimiser does so
    counts.append(threads())
    (folder / f"threads {group.rank}").write_text(" ".join(map(str, counts)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
