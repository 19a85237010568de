"""Living and dead processes, and their memory."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from lnp.experiments.processes import Owner, _started

PEAKS = """
import numpy as np
from lnp.experiments.processes import peak_mib, reset_peak
block = np.ones(200 * 2**20, np.uint8)
high = peak_mib()
del block
reset_peak()
print(high, peak_mib())
"""


def test_a_process_is_gone_when_it_has_ended_and_not_before() -> None:
    assert not Owner.current().is_gone()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = Owner(Owner.current().host, child.pid, _started(child.pid))
    assert not owner.is_gone()
    child.kill()
    child.communicate()
    assert owner.is_gone()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the start of a process is read from /proc")
def test_a_number_used_again_is_another_process() -> None:
    me = Owner.current()
    assert me.started > 0
    assert replace(me, started=me.started - 1).is_gone()
    assert not replace(me, host="elsewhere", pid=1).is_gone()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is reset through /proc")
def test_peak_is_that_since_the_reset() -> None:
    """In a process of its own: another test may have told this one to keep the memory that it frees."""
    found = subprocess.run([sys.executable, "-c", PEAKS], check=True, capture_output=True, encoding="utf-8")
    high, since = map(float, found.stdout.split())
    assert high > 200
    assert since < high - 150
