"""The options of LNP with a noise channel, each with its symbol."""

from __future__ import annotations

from dataclasses import dataclass

from lnp.errors import ConfigError, check_choice, check_range
from lnp.methods.config import MethodConfig
from lnp.nn.propagation import propagation_name

__all__ = ["CANDIDATES", "MANY", "TARGETS", "VARIANTS", "ChannelConfig", "affordable"]

VARIANTS = ("plain", "smooth", "features", "links", "similar")
"""What can stand beside the backbone; see :mod:`lnp.methods.channel.prior`."""

CANDIDATES = ("smooth", "features", "links", "similar")
"""The variants that "auto" chooses from: one for graphs where neighbours are alike, one for graphs where a node's own
features say more, one for graphs where it matters who the neighbours are, one for graphs with fewer links than a node
has nodes that are like it."""

MANY = 50_000
"""Nodes from which on "auto" does not look for similar ones, which takes time with the square of their number: half a
minute there."""

TARGETS = ("given", "posterior")
"""What the last network can learn."""


def affordable(variants: tuple[str, ...], node_count: int) -> tuple[str, ...]:
    """Those of some variants that may be tried on a graph of that size without being asked for."""
    return tuple(variant for variant in variants if variant != "similar" or node_count <= MANY)


@dataclass(frozen=True, kw_only=True)
class ChannelConfig(MethodConfig):
    r"""Options of the channel model. ``docs/channel_findings.md`` has the scores by which the defaults were chosen.

    Args:
        variant: What stands beside the backbone in :math:`P_\theta`, one of :data:`VARIANTS`, or "auto": the one of
            :data:`CANDIDATES` that predicts given labels best that it has not learnt.
        label_epochs: Epochs in which networks learn the given labels as they are.
        estimate_epochs: Epochs in which T is learned; 0 takes the noise to be the same for all classes.
        start_epochs: How many of these pass before T moves from where it starts.
        gain: By how many nats a label a T with rows of its own must beat one with equal rows.
        estimate_trusted_weight: λ, weight of the mean over T_C against the mean over T_N, while T is learned.
        trusted_weight: λ after that; more where T_N is small (:func:`~lnp.methods.channel.objective.trusted_weight`).
        targets: What the last network learns: "given", the given labels, or "posterior", what networks that have not
            learnt a node's label make of it. The second is better where neighbours are alike and worse where they are
            not, so it has to be chosen.
        logit_bound: b, logits longer than about b are shortened to it while T is learned: an overconfident network
            takes its own mistakes for noise. With more than seven classes it grows
            (:func:`~lnp.methods.channel.prior.logit_bound`).
        largest_strength: Largest number of labels for which the prior of the rates may count; less where classes have
            few labels (:func:`~lnp.methods.channel.transition.strength_limit`).
        path_width: Hidden width of the path beside the backbone.
        smoothing_steps: Averages over neighbours in the variant "smooth".
        restart: Share of the first logits in each of these averages.
        rare: Share of labelled nodes below which the next two take the place of the last two: where labels are far
            apart, what is known has further to go.
        far_steps: Averages over neighbours where labels are rare.
        far_restart: Share of the first logits in each of these.
    """

    normalisation: str = "row"
    epochs: int = 100
    variant: str = "auto"
    label_epochs: int = 50
    estimate_epochs: int = 100
    start_epochs: int = 30
    gain: float = 0.05
    estimate_trusted_weight: float = 2.0
    trusted_weight: float = 0.25
    targets: str = "given"
    logit_bound: float = 3.0
    largest_strength: float = 60.0
    path_width: int = 16
    smoothing_steps: int = 2
    restart: float = 0.2
    rare: float = 0.3
    far_steps: int = 10
    far_restart: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("variant", self.variant, (*VARIANTS, "auto"))
        check_choice("targets", self.targets, TARGETS)
        if self.diffusion_steps > 0:
            raise ConfigError(
                f"Expected `diffusion_steps` to be 0, but got {self.diffusion_steps}: here outputs spread in the "
                "variants 'smooth' and 'similar', in `smoothing_steps`."
            )
        if self.links_width > 0:
            raise ConfigError(
                f"Expected `links_width` to be 0, but got {self.links_width}: here the path from the links is the "
                "variant 'links', of the width `path_width`."
            )
        check_range("logit_bound", self.logit_bound, 1e-3, 1e6)
        check_range("largest_strength", self.largest_strength, 1, 1e9)
        for name in ("restart", "far_restart", "rare"):
            check_range(name, getattr(self, name), 0, 1)
        for name in ("estimate_trusted_weight", "trusted_weight", "gain"):
            check_range(name, getattr(self, name), 0, 1e6)
        for name in ("start_epochs", "estimate_epochs", "smoothing_steps", "far_steps"):
            if getattr(self, name) < 0:
                raise ConfigError(f"Expected `{name}` to be at least 0, but got {getattr(self, name)}.")
        for name in ("path_width", "label_epochs"):
            if getattr(self, name) < 1:
                raise ConfigError(f"Expected `{name}` to be at least 1, but got {getattr(self, name)}.")

    @property
    def similar_propagation(self) -> str:
        """The name of S with similar nodes in it: as the options say, or counting as one neighbour."""
        return propagation_name(self.normalisation, self.loop_weight, self.similar_weight or 1.0)

    def candidates(self, node_count: int) -> tuple[str, ...]:
        """The variants to compare on a graph of that size; "similar" is no other than "smooth" where all have it."""
        if self.variant != "auto":
            return (self.variant,)
        few = affordable(CANDIDATES, node_count)
        return tuple(variant for variant in few if variant != "similar" or self.similar_weight == 0)
