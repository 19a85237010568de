r"""Label propagation: no network, the given labels spread over the graph.

.. math:: Z \leftarrow \mathrm{clamp}\bigl(\alpha S Z + (1 - \alpha) Y,\; 0,\; 1\bigr)

Y has a one-hot row for each seed (T_C, T_N, or both, T_N multiplied by w) and zeros elsewhere; S has no self-loops. The
rows of Z, divided by their sum, are the probabilities. Where no label arrives the probabilities are the shares of the
classes among the seeds, so the prediction there is the seeds' majority class.

Reference: Zhou et al., *Learning with local and global consistency*, NeurIPS 2003.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from lnp.errors import ConfigError, LabelError, check_choice, check_range
from lnp.methods.base import Method, Stage
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.nn.diffusion import DIFFUSIONS, diffuse, diffusion_matrix, normalised_rows
from lnp.seeds import Generator

__all__ = ["SEEDS", "LabelPropagation", "LabelPropagationConfig"]

SEEDS = ("trusted", "noisy", "both")
"""Which labels spread: those of T_C, of T_N, or of both."""


@dataclass(frozen=True, kw_only=True)
class LabelPropagationConfig(MethodConfig):
    """Options of label propagation. Those of networks and training have no effect.

    Args:
        seeds: One of :data:`SEEDS`.
        noisy_weight: w, what a noisy label counts against a trusted one when both spread.
        alpha: How much comes from the neighbours in every step.
        steps: K, the number of steps.
        diffusion: S, one of :data:`~lnp.nn.diffusion.DIFFUSIONS`.
    """

    seeds: str = "both"
    noisy_weight: float = 0.05
    alpha: float = 0.9
    steps: int = 50
    diffusion: str = "symmetric"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("seeds", self.seeds, SEEDS)
        check_choice("diffusion", self.diffusion, DIFFUSIONS)
        check_range("noisy_weight", self.noisy_weight, 0, 1)
        check_range("alpha", self.alpha, 0, 1)
        if self.steps < 0:
            raise ConfigError(f"Expected `steps` to be at least 0, but got {self.steps}.")


class LabelPropagation(Method):
    """Nothing is learned: predictions are a function of the graph and the labels in the batch."""

    Config = LabelPropagationConfig
    config: LabelPropagationConfig

    def __init__(self, config: LabelPropagationConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        sizes = {"trusted": batch.trusted.numel(), "noisy": batch.noisy.numel()}
        if config.seeds == "both" and config.noisy_weight == 0:
            sizes["noisy"] = 0
        if (sum(sizes.values()) if config.seeds == "both" else sizes[config.seeds]) == 0:
            wanted = "labelled" if config.seeds == "both" else config.seeds
            raise LabelError(f"Expected at least one {wanted} node whose label can spread, but there is none.")

    def stages(self, batch: Batch) -> list[Stage]:
        """None."""
        return []

    def predict(self, batch: Batch) -> Tensor:
        """The rows of Z as probabilities."""
        config = self.config
        seeds = self._seeds(batch)
        matrix = diffusion_matrix(batch.graph, config.diffusion)
        spread = diffuse(matrix, seeds, alpha=config.alpha, steps=config.steps, bounds=(0, 1))
        return normalised_rows(spread, seeds.sum(dim=0) / seeds.sum())

    def _seeds(self, batch: Batch) -> Tensor:
        weight = torch.zeros(batch.node_count, device=batch.given.device)
        if self.config.seeds != "trusted":
            weight[batch.noisy] = 1.0 if self.config.seeds == "noisy" else self.config.noisy_weight
        if self.config.seeds != "noisy":
            weight[batch.trusted] = 1.0
        return F.one_hot(batch.given.clamp(min=0), batch.class_count) * weight.unsqueeze(1)
