"""What can be said of a method: its options with defaults and meaning, read from its configuration's docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from dataclasses import dataclass

from lnp.methods.registry import METHODS, entry, make_config

__all__ = ["MethodSheet", "OptionRow", "method_sheet", "method_sheets", "plain_text"]

GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "lambda": "λ", "tau": "τ", "phi": "φ", "theta": "θ"}


@dataclass(frozen=True)
class OptionRow:
    """An option: its name, default and meaning."""

    name: str
    default: object
    meaning: str


@dataclass(frozen=True)
class MethodSheet:
    """A method in words.

    Args:
        name: What ``--method`` takes.
        summary: What it does, in one line.
        needs: What it must be given besides labels: "trusted set", "noise rate".
        reference: Who proposed it.
        options: Its options, those of every method first.
        presets: Named sets of options.
    """

    name: str
    summary: str
    needs: list[str]
    reference: str
    options: list[OptionRow]
    presets: dict[str, dict[str, object]]

    def to_json(self) -> dict[str, object]:
        """JSON-ready values."""
        return dataclasses.asdict(self)


def method_sheets() -> list[MethodSheet]:
    """All methods, in the order of the registry."""
    return [method_sheet(name) for name in METHODS]


def method_sheet(name: str) -> MethodSheet:
    """One method."""
    row = entry(name)
    config = make_config(name)
    meanings: dict[str, str] = {}
    for base in reversed(type(config).__mro__):
        meanings |= _arguments(base.__doc__ or "")
    options = [
        OptionRow(option.name, getattr(config, option.name), plain_text(meanings.get(option.name, "")))
        for option in dataclasses.fields(config)
    ]
    needs = {"trusted set": row.method.needs_trusted, "noise rate": row.method.needs_noise_rate}
    return MethodSheet(
        name=name,
        summary=row.summary,
        needs=[what for what, needed in needs.items() if needed],
        reference=row.reference,
        options=options,
        presets=row.presets,
    )


def plain_text(text: str) -> str:
    r"""A docstring's sentence without its markup.

    >>> plain_text(r":math:`\lambda_1`, weight of ``x``; see :func:`~lnp.nn.gcn.GCN`.")
    'λ1, weight of x; see GCN.'
    """
    text = re.sub(r":math:`([^`]*)`", lambda match: _formula(match[1]), text)
    text = re.sub(r":\w+:`~?([^`]*)`", lambda match: match[1].rpartition(".")[2], text)
    return text.replace("``", "")


def _formula(tex: str) -> str:
    tex = tex.replace(r"\|", "‖").replace(r"\ ", " ")
    tex = re.sub(r"\\([a-zA-Z]+)", lambda match: GREEK.get(match[1], match[1]), tex)
    return re.sub(r"_(\d)", r"\1", tex)


def _arguments(docstring: str) -> dict[str, str]:
    """Name → meaning, from the section ``Args:``."""
    _, _, section = inspect.cleandoc(docstring).partition("Args:\n")
    found: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if line and not line.startswith("    "):
            break
        head = re.match(r"    (\w+): (.*)", line)
        if head:
            name, found[head[1]] = head[1], head[2]
        elif name and line.strip():
            found[name] += " " + line.strip()
    return found
