"""Saves verdicts and says of each that it is saved: ``PATH FIRST COUNT REVIEWER``, from a line on standard input on."""

from __future__ import annotations

import sys
from pathlib import Path

from lnp.web.verdicts import VerdictStore


def main(path: str, first: str, count: str, reviewer: str) -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    store = VerdictStore(Path(path))
    for k in range(int(first), int(first) + int(count)):
        store.add(f"n{k}", "take", reviewer, label="a", given="b")
        sys.stdout.write(f"{k}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
