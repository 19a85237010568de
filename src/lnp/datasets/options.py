"""Options of built-in graphs, from Python or from text such as ``synthetic:homophily=0.2,nodes=5000``."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping

from lnp.errors import ConfigError, UnknownNameError

__all__ = ["parse_name", "read_options"]


def parse_name(text: str) -> tuple[str, dict[str, str]]:
    """Splits a name from the options written behind it.

    >>> parse_name("synthetic:homophily=0.2,nodes=5000")
    ('synthetic', {'homophily': '0.2', 'nodes': '5000'})
    """
    name, _, rest = text.partition(":")
    options = {}
    for item in filter(None, (part.strip() for part in rest.split(","))):
        option, equals, value = item.partition("=")
        if not equals:
            raise ConfigError(f"Expected options of {name} to be written name=value, but got {item!r}.")
        options[option.strip()] = value.strip()
    return name.strip(), options


def read_options(name: str, options: Mapping[str, object], hints: Mapping[str, object]) -> dict[str, object]:
    """The options, each as the type its hint names; text is read as that type, ``5/1/1`` as several numbers."""
    values = {}
    for option, value in options.items():
        if option not in hints:
            raise UnknownNameError(f"option of {name}", option, hints)
        values[option] = _read(option, value, hints[option])
    return values


def _read(option: str, value: object, hint: object) -> object:
    accepted = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if value is None or value == "none":
        if type(None) in accepted:
            return None
    elif bool in accepted:
        answers = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if str(value).lower() in answers:
            return answers[str(value).lower()]
    elif any(typing.get_origin(kind) is tuple for kind in accepted):
        parts = value.split("/") if isinstance(value, str) else value
        try:
            return tuple(float(part) for part in parts)  # type: ignore[attr-defined]
        except (TypeError, ValueError):
            pass
    elif not isinstance(value, bool):
        try:
            number = float(str(value))
            if int not in accepted:
                return number
            if number.is_integer():
                return int(number)
        except (ValueError, OverflowError):
            pass
    names = " or ".join(getattr(kind, "__name__", str(kind)) for kind in accepted)
    raise ConfigError(f"Expected `{option}` to be {names}, but got {value!r}.")
