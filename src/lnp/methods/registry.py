"""Every method by name: one literal dict."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from dataclasses import dataclass, field

import numpy as np

from lnp.errors import ConfigError, UnknownNameError
from lnp.methods.apl import APL
from lnp.methods.base import Method
from lnp.methods.batch import Batch
from lnp.methods.channel.model import Channel
from lnp.methods.clean_only import CleanOnly
from lnp.methods.config import MethodConfig
from lnp.methods.correct_and_smooth import CorrectAndSmooth
from lnp.methods.coteaching_plus import CoteachingPlus
from lnp.methods.dgnn import DGNN
from lnp.methods.forward import Forward
from lnp.methods.gce import GCE
from lnp.methods.gcn import Plain
from lnp.methods.glc import GLC
from lnp.methods.joint import Joint
from lnp.methods.label_propagation import LabelPropagation
from lnp.methods.lnp.presets import PRESETS_V1, PRESETS_V2
from lnp.methods.lnp.v1 import LNPv1
from lnp.methods.lnp.v2 import LNPv2
from lnp.methods.lpm import LPM, PUBLISHED
from lnp.methods.nrgnn import NRGNN
from lnp.methods.pignn import PIGNN
from lnp.methods.rtgnn import RTGNN
from lnp.methods.smodel import SModel
from lnp.methods.unionnet import UnionNET
from lnp.seeds import Generator

__all__ = ["METHODS", "MethodEntry", "create_method", "make_config"]

GE = "Ge et al., 2023"
KIPF = "Kipf and Welling, ICLR 2017"
PATRINI = "Patrini et al., CVPR 2017"


@dataclass(frozen=True)
class MethodEntry:
    """A row of the methods table.

    Args:
        method: The class.
        summary: What it does, in one line.
        reference: Who proposed it.
        defaults: Where this name's configuration differs from the class's defaults.
        presets: Named sets of options to choose from.
    """

    method: type[Method]
    summary: str
    reference: str
    defaults: dict[str, object] = field(default_factory=dict)
    presets: dict[str, dict[str, object]] = field(default_factory=dict)


METHODS: dict[str, MethodEntry] = {
    "lnp-v1": MethodEntry(LNPv1, "P(Y_C | G): posterior, decoder and prior joined by prototypes", GE, {}, PRESETS_V1),
    "lnp-v2": MethodEntry(LNPv2, "P(Y_C | G, Y_N): the same with Y_N as a condition", GE, {}, PRESETS_V2),
    "lnp-channel": MethodEntry(
        Channel,
        "true labels latent behind a learned noise channel: one network, exact posterior",
        "ours, after Ge et al., 2023",
    ),
    "gcn": MethodEntry(
        Plain,
        "graph convolution, given labels taken as right, fine-tuned on T_C",
        KIPF,
        {"normalisation": "row"},  # two points better than the symmetric form on Cora at flip 0.8
    ),
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
    "gce": MethodEntry(GCE, "generalised cross entropy, fine-tuned on T_C", "Zhang and Sabuncu, NeurIPS 2018"),
    "apl": MethodEntry(APL, "an active plus a passive loss, fine-tuned on T_C", "Ma et al., ICML 2020"),
    "forward": MethodEntry(Forward, "loss corrected forward by an estimated noise matrix, fine-tuned on T_C", PATRINI),
    "dgnn": MethodEntry(
        DGNN,
        "loss corrected backward by an estimated noise matrix, fine-tuned on T_C",
        "NT, Choong and Murata, ICLR workshop 2019",
    ),
    "smodel": MethodEntry(
        SModel,
        "loss corrected forward by a learned noise matrix, fine-tuned on T_C",
        "Goldberger and Ben-Reuven, ICLR 2017",
    ),
    "glc": MethodEntry(
        GLC, "loss corrected forward by a noise matrix measured on T_C", "Hendrycks et al., NeurIPS 2018"
    ),
    "nrgnn": MethodEntry(
        NRGNN, "learned links to similar labelled and pseudo-labelled nodes, fine-tuned on T_C", "Dai et al., KDD 2021"
    ),
    "rtgnn": MethodEntry(
        RTGNN, "two networks on learned links sort the given labels, fine-tuned on T_C", "Qian et al., WSDM 2023"
    ),
    "coteaching-plus": MethodEntry(
        CoteachingPlus,
        "two networks exchange small-loss nodes where they disagree, fine-tuned on T_C",
        "Yu et al., ICML 2019",
    ),
    "unionnet": MethodEntry(
        UnionNET,
        "labels weighted and corrected by those of similar nodes nearby, fine-tuned on T_C",
        "Li et al., PAKDD 2021",
    ),
    "pignn": MethodEntry(
        PIGNN, "learns who is connected beside the given labels, fine-tuned on T_C", "Du et al., 2021"
    ),
    "lpm": MethodEntry(
        LPM,
        "labels spread from T_C judge the given ones, a meta-learned network mixes the two",
        "Xia et al., 2021",
        {},
        {"published": PUBLISHED},
    ),
    "label-propagation": MethodEntry(
        LabelPropagation, "labels of T_N and T_C diffused over the graph, no network", "Zhou et al., NeurIPS 2003"
    ),
    "correct-and-smooth": MethodEntry(
        CorrectAndSmooth,
        "a base network as gcn, its errors on T_C and its predictions diffused",
        "Huang et al., ICLR 2021",
    ),
    "joint": MethodEntry(Joint, "cross entropy on T_N and T_C together", "reference"),
    "clean-only": MethodEntry(CleanOnly, "cross entropy on T_C alone", "reference"),
}
"""Name → class, what it does, who proposed it, and the defaults that make it that method."""


def entry(name: str) -> MethodEntry:
    """The row of a method."""
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    return METHODS[name]


def make_config(name: str, overrides: dict[str, object] | None = None, *, preset: str | None = None) -> MethodConfig:
    """The configuration of method ``name``: its defaults, then a preset, then single options.

    Values may be text, as a command line gives them; each is read as its option's type.
    """
    row = entry(name)
    hints = _hints(row.method.Config)  # type: ignore[arg-type]  # mypy: a class with __hash__ is not Hashable
    values = dict(row.defaults)
    if preset is not None:
        if preset not in row.presets:
            raise UnknownNameError(f"preset of {name}", preset, row.presets)
        values |= row.presets[preset]
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


@functools.cache  # evaluating annotations is most of the time of making a configuration
def _hints(config: type[MethodConfig]) -> dict[str, object]:
    return typing.get_type_hints(config)


def _read(option: str, value: object, hint: object) -> object:
    accepted = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if isinstance(value, np.generic):  # of a grid that NumPy made
        value = value.item()
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
