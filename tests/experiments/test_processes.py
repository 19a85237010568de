"""Living and dead processes, and their memory."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from lnp.experiments.processes import Owner, _started, peak_mib, reset_peak


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
    block = np.ones(200 * 2**20, np.uint8)
    high = peak_mib()
    assert high > 200
    del block
    reset_peak()
    assert peak_mib() < high - 150
