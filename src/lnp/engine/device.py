"""Where to compute."""

from __future__ import annotations

import torch

from lnp.errors import ConfigError

__all__ = ["check_device"]


def check_device(device: str) -> None:
    """Raises unless this machine can compute on ``device``.

    >>> check_device("cpu")
    >>> check_device("abacus")
    Traceback (most recent call last):
    lnp.errors.ConfigError: Expected `device` to be one that this machine has, for instance 'cpu', but got 'abacus'.
    """
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(
            f"Expected `device` to be one that this machine has, for instance 'cpu', but got {device!r}."
        ) from error
