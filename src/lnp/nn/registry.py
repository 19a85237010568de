"""Backbones by name."""

from __future__ import annotations

from lnp.errors import UnknownNameError
from lnp.nn.backbone import Backbone, BackboneSpec
from lnp.nn.gcn import GCN
from lnp.nn.h2gcn import H2GCN
from lnp.nn.mlp import MLP
from lnp.nn.sign import SIGN
from lnp.nn.with_diffusion import WithDiffusion
from lnp.nn.with_links import WithLinks
from lnp.seeds import Generator

__all__ = ["BACKBONES", "build_backbone"]

BACKBONES: dict[str, type[Backbone]] = {"gcn": GCN, "h2gcn": H2GCN, "mlp": MLP, "sign": SIGN}
"""Every backbone; each is built from a :class:`~lnp.nn.backbone.BackboneSpec` and a generator."""


def build_backbone(name: str, spec: BackboneSpec, generator: Generator) -> Backbone:
    """A fresh backbone, with steps behind it and a path from the links beside it where the specification asks so."""
    if name not in BACKBONES:
        raise UnknownNameError("backbone", name, BACKBONES)
    backbone = BACKBONES[name](spec, generator)
    if spec.diffusion_steps > 0:
        backbone = WithDiffusion(backbone, spec)
    return WithLinks(backbone, spec, generator) if spec.links_width > 0 else backbone
