"""The exceptions this package raises on purpose.

::

    LNPError
    ├── WorkerError (also a RuntimeError) a process that was to do a part of the work has failed or was ended
    └── InputError (also a ValueError)    what was asked for cannot be done; the message says what to change
        ├── UnknownNameError              a name outside a registry; the message lists the choices
        ├── ConfigError                   an option outside its range, or options that contradict each other
        ├── GraphError                    a graph (or a file with one) that breaks its contract
        ├── DataError                     a dataset that is not at hand, or a data file that cannot be read
        ├── LabelError                    labels, trusted nodes or splits that break their contract
        ├── NotFittedError                a prediction was asked for before training
        └── ModelFileError                a saved model or checkpoint that cannot be read

The command line prints the message of an ``InputError`` on one line and exits with code 2, that of a ``WorkerError``
with code 1. Every message of an ``InputError`` follows one grammar: *Expected ``name`` to be …, but got …* and, where
it helps, what to do instead.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "ConfigError",
    "DataError",
    "GraphError",
    "InputError",
    "LNPError",
    "LabelError",
    "ModelFileError",
    "NotFittedError",
    "UnknownNameError",
    "WorkerError",
    "check_choice",
    "check_range",
]


class LNPError(Exception):
    """Base of every exception that this package raises on purpose."""


class InputError(LNPError, ValueError):
    """What was asked for cannot be done."""


class WorkerError(LNPError, RuntimeError):
    """A process that was to do a part of the work has failed or was ended."""


class UnknownNameError(InputError):
    """A name that no registry holds.

    >>> print(UnknownNameError("method", "lnp-v3", ["gcn", "lnp-v1", "lnp-v2"]))
    Unknown method 'lnp-v3'. Did you mean 'lnp-v2'? Choices: gcn, lnp-v1, lnp-v2.

    Args:
        kind: What the registry holds.
        name: The name that it does not hold.
        choices: Those that it does.
        also: What else could stand in the place of a name.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str], *, also: str = "") -> None:
        choices = sorted(choices)
        close = difflib.get_close_matches(name.lower(), choices, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        also = f", or {also}" if also else ""
        listed = f"Choices: {', '.join(choices)}{also}." if choices else f"There is none{also}."
        super().__init__(f"Unknown {kind} {name!r}.{hint} {listed}")


class ConfigError(InputError):
    """An option outside its range, or options that contradict each other."""


class GraphError(InputError):
    """A graph, or a file with one, that breaks its contract."""


class DataError(InputError):
    """A dataset that is not at hand, or a data file that cannot be read."""


class LabelError(InputError):
    """Labels, trusted nodes or a split that break their contract."""


class NotFittedError(InputError):
    """A prediction was asked for before training."""


class ModelFileError(InputError):
    """A saved model or checkpoint that cannot be read."""


def check_range(name: str, value: float, low: float, high: float, *, error: type[InputError] = ConfigError) -> None:
    """Raises unless ``low <= value <= high`` (not-a-number never is).

    >>> check_range("noise_rate", 1.3, 0, 1)
    Traceback (most recent call last):
    lnp.errors.ConfigError: Expected `noise_rate` to be in [0, 1], but got 1.3.
    """
    if not low <= value <= high:
        raise error(f"Expected `{name}` to be in [{low:g}, {high:g}], but got {value}.")


def check_choice(name: str, value: str, choices: Iterable[str]) -> None:
    """Raises unless ``value`` is one of ``choices``.

    >>> check_choice("normalisation", "columns", ["row", "symmetric"])
    Traceback (most recent call last):
    lnp.errors.ConfigError: Expected `normalisation` to be one of row, symmetric, but got 'columns'.
    """
    choices = sorted(choices)
    if value not in choices:
        raise ConfigError(f"Expected `{name}` to be one of {', '.join(choices)}, but got {value!r}.")
