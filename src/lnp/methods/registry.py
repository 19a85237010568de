"""Every method by name: one literal dict."""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import dataclass, field

from lnp.errors import ConfigError, UnknownNameError
from lnp.methods.base import Method, MethodConfig
from lnp.methods.batch import Batch
from lnp.methods.gcn import Plain
from lnp.seeds import Generator

__all__ = ["METHODS", "MethodEntry", "create_method", "make_config"]

KIPF = "Kipf and Welling, ICLR 2017"


@dataclass(frozen=True)
class MethodEntry:
    """A row of the methods table.

    Args:
        method: The class.
        summary: What it does, in one line.
        reference: Who proposed it.
        defaults: Where this name's configuration differs from the class's defaults.
    """

    method: type[Method]
    summary: str
    reference: str
    defaults: dict[str, object] = field(default_factory=dict)


METHODS: dict[str, MethodEntry] = {
    "gcn": MethodEntry(Plain, "graph convolution, given labels taken as right, fine-tuned on T_C", KIPF),
    "h2gcn": MethodEntry(
        Plain,
        "ego, one-hop and two-hop blocks, given labels taken as right, fine-tuned on T_C",
        "Zhu et al., NeurIPS 2020",
        {"backbone": "h2gcn"},
    ),
    "mlp": MethodEntry(
        Plain,
        "features only, given labels taken as right, fine-tuned on T_C",
        "reference",
        {"backbone": "mlp"},
    ),
}
"""Name → class, what it does, who proposed it, and the defaults that make it that method."""


def entry(name: str) -> MethodEntry:
    """The row of a method."""
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    return METHODS[name]


def make_config(name: str, overrides: dict[str, object] | None = None) -> MethodConfig:
    """The configuration of method ``name`` with some options changed.

    Values may be text, as a command line gives them; each is read as its option's type.
    """
    row = entry(name)
    hints = typing.get_type_hints(row.method.Config)
    values = dict(row.defaults)
    for option, value in (overrides or {}).items():
        if option not in hints:
            raise UnknownNameError(f"option of {name}", option, hints)
        values[option] = _read(option, value, hints[option])
    return row.method.Config(**values)  # type: ignore[arg-type]


def create_method(name: str, config: MethodConfig, batch: Batch, generator: Generator) -> Method:
    """A fresh method, its networks drawn from ``generator``."""
    row = entry(name)
    if not isinstance(config, row.method.Config):
        raise ConfigError(
            f"Expected the configuration of {name} to be a {row.method.Config.__name__}, but got "
            f"{type(config).__name__}."
        )
    method: Method = row.method(config, batch, generator)
    return method.to(batch.given.device)


def option_names(name: str) -> list[str]:
    """The options of a method."""
    return [option.name for option in dataclasses.fields(entry(name).method.Config)]


def _read(option: str, value: object, hint: object) -> object:
    accepted = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if isinstance(value, str) and str not in accepted:
        text = value.strip().lower()
        if text == "none" and type(None) in accepted:
            return None
        if bool in accepted and text in ("true", "false", "yes", "no", "1", "0"):
            return text in ("true", "yes", "1")
        for kind in (int, float):
            if kind in accepted:
                try:
                    return kind(text)
                except ValueError:
                    continue
    elif float in accepted and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    elif isinstance(value, tuple(kind for kind in accepted if isinstance(kind, type))):
        return value
    names = " or ".join(getattr(kind, "__name__", str(kind)) for kind in accepted)
    raise ConfigError(f"Expected `{option}` to be {names}, but got {value!r}.")
