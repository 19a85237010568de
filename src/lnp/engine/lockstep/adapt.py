"""Which methods can run in lock-step, and what has to be exchanged in them for it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lnp.engine.lockstep.lnp import adapt_lnp, objection_to_lnp
from lnp.engine.lockstep.network import StackedGCN
from lnp.errors import ConfigError
from lnp.methods.apl import APL
from lnp.methods.base import Method, Stage
from lnp.methods.batch import Batch
from lnp.methods.clean_only import CleanOnly
from lnp.methods.dgnn import DGNN
from lnp.methods.forward import Forward
from lnp.methods.gce import GCE
from lnp.methods.gcn import Plain
from lnp.methods.glc import GLC
from lnp.methods.joint import Joint
from lnp.methods.lnp.model import LNP
from lnp.methods.lnp.v1 import LNPv1
from lnp.methods.lnp.v2 import LNPv2
from lnp.methods.smodel import SModel
from lnp.nn.gcn import GCN

__all__ = ["LARGEST", "Template", "check_together", "objection", "template"]

METHODS = (Plain, GCE, APL, Forward, DGNN, SModel, GLC, Joint, CleanOnly, LNPv1, LNPv2)
"""Their losses branch on nothing that differs between seeds, and draw nothing but dropout (LNP: see its module)."""

LARGEST = 5_000
"""With more nodes than this a step is long enough by itself, and a stack would no longer fit the caches."""


@dataclass(frozen=True)
class Template:
    """A method that stands for all seeds; its own parameters are never used.

    Args:
        method: A copy whose networks take stacks.
        stages: Gives the stages of the copy.
    """

    method: Method
    stages: Callable[[Batch], list[Stage]]


def objection(methods: Sequence[Method], batches: Sequence[Batch]) -> str | None:
    """Why these seeds cannot run in lock-step, as the end of a sentence; ``None`` where they can."""
    method, batch = methods[0], batches[0]
    if len(methods) < 2:
        return "there is one seed only"
    if type(method) not in METHODS:
        return f"{type(method).__name__} makes choices in a step that differ from seed to seed"
    if method.config.backbone != "gcn":
        return f"the backbone {method.config.backbone} has no form for several seeds"
    if method.config.links_width > 0:
        return "a path from the links has no form for several seeds"
    if method.config.diffusion_steps > 0:
        return "a diffusion behind the network has no form for several seeds"
    if batch.given.device.type != "cpu":
        return f"the device is {batch.given.device.type}, not the CPU"
    if batch.node_count > LARGEST:
        return f"the graph has {batch.node_count} nodes, more than {LARGEST}, too many to gain by it"
    if any(one.checks is not None or one.across is not None for one in batches):
        return "what is known of checked labels, or of other parts of the graph, has no form for several seeds"
    for name in ("given", "noisy", "trusted"):
        if len({getattr(one, name).shape for one in batches}) > 1:
            return f"the seeds differ in the number of {name} nodes"
    if any(one.graph.graph is not batch.graph.graph for one in batches):
        return "the seeds have different graphs"
    return objection_to_lnp(method.config) if isinstance(method, LNP) else None


def check_together(methods: Sequence[Method], batches: Sequence[Batch]) -> None:
    """Raises :class:`~lnp.errors.ConfigError` where there is an :func:`objection`."""
    reason = objection(methods, batches)
    if reason is not None:
        raise ConfigError(f"Expected seeds that can be trained together, but {reason}. Train them one by one.")


def template(method: Method) -> Template:
    """The method that stands for all seeds, from that of one of them."""
    stand_in = copy.deepcopy(method)
    for name, part in list(stand_in.named_modules()):
        if isinstance(part, GCN):
            parent, _, leaf = name.rpartition(".")
            setattr(stand_in.get_submodule(parent), leaf, StackedGCN(part))
    if isinstance(stand_in, LNP):
        return Template(stand_in, adapt_lnp(stand_in))
    return Template(stand_in, stand_in.stages)
