"""The rival: cleanlab's score of labels, from out-of-fold probabilities of the same networks.

The networks learn the given labels as if they were right, the trusted ones among them, which teach in every part.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lnp.audit.cross_fit import LabelScores
from lnp.audit.folds import OnNetwork, draw_folds, out_of_fold
from lnp.audit.network import ChannelNetworkConfig
from lnp.audit.posterior import Floats
from lnp.errors import ConfigError
from lnp.methods.batch import Batch
from lnp.seeds import Seeds

__all__ = ["cleanlab_scores", "plain_probabilities", "require_cleanlab"]


def require_cleanlab() -> None:
    """Raises unless cleanlab is installed."""
    try:
        import cleanlab  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            "Expected the package cleanlab for the scorer 'cleanlab', but it is not installed. Install it with "
            "`pip install 'lnp[audit]'`, or use the scorer 'cross-fit' or 'model'."
        ) from error


def plain_probabilities(
    batch: Batch, config: ChannelNetworkConfig, seeds: Seeds, on_network: OnNetwork | None = None
) -> Floats:
    """``(m, c)`` probabilities of the noisy nodes, from networks that learned the other labels as they are."""
    noisy, given = batch.noisy.cpu().numpy(), batch.given.cpu().numpy()
    alike = replace(config, trusted_share=0.0, class_presence=0.0)  # a trusted label weighs as much as any other
    parts = draw_folds(given, noisy, seeds.generator("audit folds"))
    generator = seeds.generator("plain networks")
    logs = out_of_fold(batch, alike, np.eye(batch.class_count), parts, generator, on_network)
    return np.asarray(np.exp(logs[noisy]))


def cleanlab_scores(probabilities: Floats, given: NDArray[np.int64]) -> LabelScores:
    """Self-confidence as the quality, and the channel of the confident joint.

    Args:
        probabilities: Out of fold, ``(m, c)``.
        given: The given labels, ``(m,)``.
    """
    require_cleanlab()
    from cleanlab.count import compute_confident_joint, estimate_latent
    from cleanlab.rank import get_label_quality_scores

    classes, labels = np.unique(given, return_inverse=True)  # cleanlab knows only classes that somebody was given
    known = probabilities[:, classes]
    known = known / np.maximum(known.sum(axis=1, keepdims=True), 1e-300)
    quality = np.asarray(get_label_quality_scores(labels, known), np.float64)
    transition = np.eye(probabilities.shape[1])
    if classes.size > 1:
        joint = compute_confident_joint(labels, known)
        channel = np.asarray(estimate_latent(joint, labels)[1], np.float64).T  # cleanlab has the true class in columns
        sums = channel.sum(axis=1, keepdims=True)
        channel = np.where(sums > 0, channel / np.where(sums > 0, sums, 1), np.eye(classes.size))
        transition[np.ix_(classes, classes)] = channel
    return LabelScores(probabilities, np.clip(quality, 0, 1), transition)
