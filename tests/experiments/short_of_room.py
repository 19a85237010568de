"""``lnp`` as one process of a job on a machine that is short of something.

Arguments: ``memory`` (every run is worth a word) or ``disk`` (nothing is free), then those of ``lnp``.
"""

from __future__ import annotations

import shutil
import sys
from unittest import mock

from lnp.cli.main import main

if __name__ == "__main__":
    short, sys.argv = sys.argv[1], ["lnp", *sys.argv[2:]]
    if short == "memory":
        change = mock.patch("lnp.engine.memory_together.WORTH_SAYING", 0)
    else:
        change = mock.patch("lnp.nn.hops_file.shutil.disk_usage", return_value=shutil._ntuple_diskusage(1, 1, 0))  # type: ignore[attr-defined]
    with change:
        main()
