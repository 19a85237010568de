"""One process of two: process 1 has more to do than process 0. Each notes when it has left. Argument: a folder."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from lnp.engine.process_group import process_group

__all__: list[str] = []


def main(folder: Path) -> None:
    with process_group() as group:
        time.sleep(2.0 * group.rank)
        (folder / f"done {group.rank}").write_text(str(time.time()))
    (folder / f"left {group.rank}").write_text(str(time.time()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
