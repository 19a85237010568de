from __future__ import annotations

import pytest
import torch

from lnp.engine.device import check_device
from lnp.errors import ConfigError


def test_devices_that_are_there() -> None:
    check_device("cpu")
    check_device("cpu:0")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_device_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match=r"one that this machine has, for instance 'cpu', but got 'cuda'"):
        check_device("cuda")


def test_no_device_at_all() -> None:
    with pytest.raises(ConfigError, match=r"but got 'gpu'"):
        check_device("gpu")
