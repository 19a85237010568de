r"""Correct and Smooth: a base network, then two diffusions from the trusted nodes.

With P the base network's probabilities and Y the one-hot labels of T_C:

1. *correct*: the residual :math:`R = Y - P` on T_C (0 elsewhere) spreads to E with :math:`\alpha_1`, clamped to
   [-1, 1], and :math:`P' = P + E` with E rescaled. ``autoscale`` multiplies row i by the mean of
   :math:`\lVert R_j \rVert_1` over T_C divided by :math:`\lVert E_i \rVert_1` (by 1 where that exceeds 1000);
   ``fixed`` sets the rows of T_C back to R in every step and multiplies E by s;
2. *smooth*: P' with the rows of T_C replaced by Y spreads with :math:`\alpha_2`, clamped to [0, 1].

The base network learns from T_N and is fine-tuned on T_C, as ``gcn`` is. Labels of T_N never enter the diffusions: most
of them may be wrong, and the correct step would restore just those errors that the network resisted.

Reference: Huang et al., *Combining label propagation and simple models out-performs graph neural networks*, ICLR 2021.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from lnp.errors import ConfigError, LabelError, check_choice, check_range
from lnp.methods.base import Method, Stage
from lnp.methods.batch import Batch
from lnp.methods.gcn import Plain, PlainConfig
from lnp.nn.diffusion import DIFFUSIONS, diffuse, diffusion_matrix, normalised_rows
from lnp.nn.sparse import Multiplier
from lnp.seeds import Generator

__all__ = ["CorrectAndSmooth", "CorrectAndSmoothConfig", "correct", "smooth"]

LARGEST_FACTOR = 1000.0


@dataclass(frozen=True, kw_only=True)
class CorrectAndSmoothConfig(PlainConfig):
    r"""Options of Correct and Smooth.

    Args:
        correction: "autoscale" or "fixed".
        correct_alpha: :math:`\alpha_1`.
        correct_steps: Steps of the correction; 0 leaves it out.
        correct_diffusion: :math:`S_1`, one of :data:`~lnp.nn.diffusion.DIFFUSIONS`.
        correct_scale: s, for the fixed form.
        smooth_alpha: :math:`\alpha_2`.
        smooth_steps: Steps of the smoothing.
        smooth_diffusion: :math:`S_2`, one of :data:`~lnp.nn.diffusion.DIFFUSIONS`.
    """

    correction: str = "autoscale"
    correct_alpha: float = 0.8
    correct_steps: int = 50
    correct_diffusion: str = "symmetric"
    correct_scale: float = 1.0
    smooth_alpha: float = 0.8
    smooth_steps: int = 50
    smooth_diffusion: str = "symmetric"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("correction", self.correction, ("autoscale", "fixed"))
        check_range("correct_scale", self.correct_scale, 0, LARGEST_FACTOR)
        for step in ("correct", "smooth"):
            check_choice(f"{step}_diffusion", getattr(self, f"{step}_diffusion"), DIFFUSIONS)
            check_range(f"{step}_alpha", getattr(self, f"{step}_alpha"), 0, 1)
            if getattr(self, f"{step}_steps") < 0:
                raise ConfigError(
                    f"Expected `{step}_steps` to be at least 0, but got {getattr(self, f'{step}_steps')}."
                )


class CorrectAndSmooth(Method):
    """A network, corrected and smoothed by the trusted labels whenever it predicts."""

    Config = CorrectAndSmoothConfig
    config: CorrectAndSmoothConfig

    def __init__(self, config: CorrectAndSmoothConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        if batch.trusted.numel() == 0:
            raise LabelError("Expected trusted nodes to correct and smooth by, but there is none.")
        self.config = config
        self.base = Plain(config, batch, generator)

    def stages(self, batch: Batch) -> list[Stage]:
        """Those of the base network: training on T_N, then fine-tuning on T_C."""
        return [
            replace(stage, evaluates_parts=tuple(f"base.{part}" for part in stage.evaluates_parts))
            for stage in self.base.stages(batch)
        ]

    def predict(self, batch: Batch) -> Tensor:
        """The base network's probabilities, corrected and smoothed."""
        config, trusted = self.config, batch.trusted
        base = self.base.predict(batch)
        labels = F.one_hot(batch.trusted_labels, batch.class_count).to(base.dtype)
        corrected = correct(
            base,
            trusted,
            labels,
            diffusion_matrix(batch.graph, config.correct_diffusion),
            alpha=config.correct_alpha,
            steps=config.correct_steps,
            scale=None if config.correction == "autoscale" else config.correct_scale,
        )
        smoothed = smooth(
            corrected,
            trusted,
            labels,
            diffusion_matrix(batch.graph, config.smooth_diffusion),
            alpha=config.smooth_alpha,
            steps=config.smooth_steps,
        )
        return normalised_rows(smoothed, base)


def correct(
    base: Tensor,
    nodes: Tensor,
    labels: Tensor,
    matrix: Multiplier,
    *,
    alpha: float,
    steps: int,
    scale: float | None = None,
) -> Tensor:
    """P', the probabilities plus the error that spreads from the labelled nodes.

    Args:
        base: P, ``(n, c)``.
        nodes: The labelled nodes, ``(k,)``.
        labels: Their one-hot labels, ``(k, c)``.
        matrix: S.
        alpha: How much comes from the neighbours in every step.
        steps: The number of steps; 0 returns P.
        scale: s of the fixed form; ``None`` for autoscale.
    """
    if steps == 0:
        return base
    residual = torch.zeros_like(base)
    residual[nodes] = labels - base[nodes]
    if scale is not None:
        fixed = torch.zeros(base.shape[0], dtype=torch.bool, device=base.device)
        fixed[nodes] = True
        return base + scale * diffuse(matrix, residual, alpha=alpha, steps=steps, fixed=fixed)
    spread = diffuse(matrix, residual, alpha=alpha, steps=steps, bounds=(-1, 1))
    size = spread.abs().sum(dim=1, keepdim=True)
    factor = residual[nodes].abs().sum(dim=1).mean() / torch.where(size > 0, size, 1)
    return base + torch.where((size > 0) & (factor <= LARGEST_FACTOR), factor, 1) * spread


def smooth(corrected: Tensor, nodes: Tensor, labels: Tensor, matrix: Multiplier, *, alpha: float, steps: int) -> Tensor:
    """The probabilities with the labelled rows replaced by their labels, diffused and clamped to [0, 1]."""
    start = corrected.clone()
    start[nodes] = labels
    return diffuse(matrix, start, alpha=alpha, steps=steps, bounds=(0, 1)).clamp(0, 1)
