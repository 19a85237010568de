"""Everything that determines a run."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field

from lnp.engine.batching import Batching, check_in_parts
from lnp.engine.noise_channel import rule_for
from lnp.errors import ConfigError, check_range
from lnp.experiments.protocol import check_task_noise, get_protocol
from lnp.methods.config import MethodConfig
from lnp.methods.registry import entry, make_config

__all__ = ["LATER", "RunSpec"]

TRUSTED = 25
"""|T_C| where nobody asks for another size."""

LATER: dict[str, object] = {"similar_weight": 0.0, "links_width": 0, "diffusion_steps": 0, "told": True}
"""Options that methods have got since the first records, with the value that changes nothing."""


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """One run: a dataset made noisy, a method with its options, and a seed.

    Args:
        dataset: A name of :func:`lnp.datasets.catalog.load_dataset`.
        method: A name of :data:`lnp.methods.registry.METHODS`.
        noise: A name of :mod:`lnp.noise.registry`, or "annotations".
        rate: The noise rate p in [0, 1].
        protocol: A name of :data:`lnp.experiments.protocol.PROTOCOLS`.
        seed: The seed of every draw.
        preset: A named configuration of the method.
        options: Options of the method that differ from its defaults.
        trusted_size: |T_C|.
        selection: Another selection rule than the protocol's.
        scaling: Another feature scaling than the dataset's custom.
        patience: End a stage after so many epochs without a better score; 0 never does.
        batch: How the graph is cut into batches (:mod:`lnp.engine.batching`); "full" is not.
    """

    dataset: str
    method: str
    noise: str = "flip"
    rate: float = 0.4
    protocol: str = "strict"
    seed: int = 0
    preset: str | None = None
    options: dict[str, object] = field(default_factory=dict)
    trusted_size: int = TRUSTED
    selection: str | None = None
    scaling: str | None = None
    patience: int = 0
    batch: str = "full"

    def __post_init__(self) -> None:
        entry(self.method)
        get_protocol(self.protocol)
        check_task_noise(self.noise, self.rate)
        check_range("trusted_size", self.trusted_size, 1, 1e9)
        share = get_protocol(self.protocol).trusted_share
        if share is not None and self.trusted_size != TRUSTED:
            raise ConfigError(
                f"Expected `trusted_size` to be left to protocol {self.protocol}, which trusts {100 * share:g} % of "
                f"the training nodes, but got {self.trusted_size}."
            )
        check_range("patience", self.patience, 0, 1e9)
        object.__setattr__(self, "batch", self.batching.text)  # however it was written
        if self.batching.kind != "full":
            check_in_parts(self.method)
        self.config()

    def config(self) -> MethodConfig:
        """The method's whole configuration."""
        return make_config(self.method, self.options, preset=self.preset)

    @property
    def rule(self) -> str:
        """The selection rule: the one asked for, or the protocol's."""
        return rule_for(self.method, self.selection or get_protocol(self.protocol).selection)

    @property
    def batching(self) -> Batching:
        """How the graph is cut into batches."""
        return Batching.parse(self.batch)

    @property
    def config_hash(self) -> str:
        """A digest of the method's whole configuration.

        Options of :data:`LATER` are left out where they are off, so that records from before keep their name.
        """
        options = {name: value for name, value in asdict(self.config()).items() if LATER.get(name) != value}
        text = json.dumps([self.method, options], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]
