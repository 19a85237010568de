"""The scorers: from a model and labels to what is thought of every noisy label.

=============  ======================================================================================================
``cross-fit``  networks of the model's shape that have not seen the labels they judge, and a channel
               (:mod:`lnp.audit.cross_fit`): the default
``model``      the model's own probabilities, with a channel that fits them; or the method's own quality of labels
               where it has one. Trains nothing, but a model that has learned its labels by heart suspects none
``cleanlab``   cleanlab's self-confidence from out-of-fold probabilities (:mod:`lnp.audit.cleanlab_scores`)
=============  ======================================================================================================
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lnp.audit.cleanlab_scores import cleanlab_scores, plain_probabilities, require_cleanlab
from lnp.audit.cross_fit import LabelScores, audit_network, cross_fit, network_count
from lnp.audit.folds import FOLDS, OnNetwork
from lnp.audit.posterior import label_posterior, quality_of
from lnp.audit.recalibration import recalibrate
from lnp.audit.transition import FLOOR, estimate_transition, fit_transition, transition_from_posterior
from lnp.errors import UnknownNameError
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.methods.base import Method
from lnp.methods.batch import Batch
from lnp.seeds import Seeds

__all__ = ["SCORERS", "check_scorer", "in_the_light_of_checks", "networks_to_train", "score_labels"]

SCORERS = ("cross-fit", "model", "cleanlab")
"""The names."""


def check_scorer(name: str) -> None:
    """Raises unless there is such a scorer and what it needs is installed."""
    if name not in SCORERS:
        raise UnknownNameError("scorer", name, SCORERS)
    if name == "cleanlab":
        require_cleanlab()


def networks_to_train(scorer: str, labels: ObservedLabels) -> int:
    """How many networks a scorer trains, for progress bars."""
    if labels.noisy_nodes.size == 0 or scorer == "model":
        return 0
    return FOLDS if scorer == "cleanlab" else network_count(labels.node_count)


def score_labels(
    scorer: str,
    method: Method,
    batch: Batch,
    probabilities: Tensor,
    seeds: Seeds,
    on_network: OnNetwork | None = None,
    before: NDArray[np.int64] | None = None,
) -> LabelScores:
    """What a scorer thinks of the labels of T_N.

    Args:
        scorer: One of :data:`SCORERS`.
        method: The trained method.
        batch: Graph and all labels.
        probabilities: ``(n, c)`` of the method.
        seeds: Where draws come from.
        on_network: Called after each network that is trained.
        before: ``(n,)`` what trusted nodes were given before they were checked, −1 where nobody knows. The scorer
            cross-fit learns from it how far to rely on itself.
    """
    check_scorer(scorer)
    given = batch.noisy_labels.cpu().numpy()
    if given.size == 0:  # every label was checked
        c = batch.class_count
        return LabelScores(np.zeros((0, c)), np.zeros(0), np.eye(c))
    if scorer == "model":
        return _from_model(method, batch, probabilities)
    config = audit_network(method.config)
    if scorer == "cross-fit":
        found = cross_fit(batch, config, seeds, on_network, before=before)
        return found if before is None else in_the_light_of_checks(found, batch, before)
    return cleanlab_scores(plain_probabilities(batch, config, seeds, on_network), given)


def in_the_light_of_checks(scores: LabelScores, batch: Batch, before: NDArray[np.int64]) -> LabelScores:
    """Scores that agree with what was found when labels were checked.

    Args:
        scores: With what is thought of the labels that were checked.
        batch: Graph and all labels.
        before: ``(n,)`` what trusted nodes were given before they were checked, −1 where nobody knows.
    """
    if batch.checks is None:
        return scores
    given, trusted = batch.noisy_labels.cpu().numpy(), batch.trusted.cpu().numpy()
    known = trusted[before[trusted] != UNKNOWN]
    right = before[known] == batch.given.cpu().numpy()[known]
    posterior = recalibrate(scores.posterior, given, scores.earlier, right)
    checks = batch.checks.cpu().numpy()
    transition = transition_from_posterior(posterior, given, scores.transition, checks=checks)
    return replace(scores, posterior=posterior, quality=quality_of(posterior, given), transition=transition)


def _from_model(method: Method, batch: Batch, probabilities: Tensor) -> LabelScores:
    given, c = batch.noisy_labels.cpu().numpy(), batch.class_count
    own = probabilities[batch.noisy].double().cpu().numpy()
    judges_itself = type(method).label_quality is not Method.label_quality
    learned = dict(method.named_buffers()).get("transition") if judges_itself else None
    if learned is not None and learned.shape == (c, c):
        transition = learned.double().cpu().numpy()
    else:
        checks = None if batch.checks is None else batch.checks.cpu().numpy()
        transition = fit_transition(own, given, np.full((c, c), FLOOR / c))
        transition = estimate_transition(own, given, transition, checks=checks)
    posterior = label_posterior(own, given, transition)
    scores = LabelScores(posterior, quality_of(posterior, given), transition)
    if not judges_itself:
        return scores
    quality = method.label_quality(batch, probabilities)[batch.noisy].double().cpu().numpy()
    return replace(scores, quality=np.clip(quality, 0, 1))
