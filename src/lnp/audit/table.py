"""The audit: every given label with how likely it is right, what it should be, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from lnp.audit.cross_fit import LabelScores
from lnp.audit.evidence import embeddings, neighbour_labels, prototype_similarity
from lnp.audit.folds import OnNetwork
from lnp.audit.scores import check_scorer, score_labels
from lnp.errors import LabelError, ModelFileError, NotFittedError
from lnp.estimator import LNPClassifier
from lnp.graph.features import scale_features
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.graph.observe import observe
from lnp.methods.batch import Batch, full_batch
from lnp.seeds import Seeds

__all__ = ["AuditTable", "audit"]


@dataclass(frozen=True, eq=False)
class AuditTable:
    """One row for every labelled node, the most suspect first.

    Args:
        nodes: ``(m,)`` node numbers.
        given: ``(m,)`` given labels.
        quality: ``(m,)`` how likely the given label is right, in [0, 1]; 1 for a trusted one.
        proposed: ``(m,)`` the most likely class with everything taken into account; often the given one.
        confidence: ``(m,)`` how likely that is.
        probabilities: ``(m, c)`` class probabilities of the model.
        prototype_similarity: ``(m, c)`` cosine of the node's embedding with the prototype of each class, not a number
            for a class that no node was given.
        neighbour_labels: ``(m, c)`` how many neighbours have each given label.
        trusted: ``(m,)`` whether the label was checked.
        noise_rate: ``(c,)`` the estimated share of wrong labels among the unchecked ones of each given class; not a
            number where there is none.
        transition: ``(c, c)`` the estimated probability of given class j for a node of true class i.
        checks: ``(c, c)`` how many trusted nodes of class i are known to have been given j before they were checked.
        class_names: The classes.
        scorer: Who scored: a name of :data:`lnp.audit.scores.SCORERS`.
    """

    nodes: NDArray[np.int64]
    given: NDArray[np.int64]
    quality: NDArray[np.float64]
    proposed: NDArray[np.int64]
    confidence: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    prototype_similarity: NDArray[np.float64]
    neighbour_labels: NDArray[np.int64]
    trusted: NDArray[np.bool_]
    noise_rate: NDArray[np.float64]
    transition: NDArray[np.float64]
    checks: NDArray[np.int64]
    class_names: tuple[str, ...]
    scorer: str

    @property
    def wrong_share(self) -> float:
        """The estimated share of wrong labels among the unchecked ones; not a number where there is none."""
        unchecked = self.quality[~self.trusted]
        return float(1 - unchecked.mean()) if unchecked.size else float("nan")

    @property
    def found_wrong(self) -> tuple[int, int]:
        """How many of the checked labels had been wrong, and of how many it is known."""
        known = int(self.checks.sum())
        return known - int(np.trace(self.checks)), known


def audit(
    model: LNPClassifier | Path | str,
    graph: Graph,
    labels: ObservedLabels | ArrayLike,
    *,
    trusted: ArrayLike | None = None,
    scorer: str = "cross-fit",
    seed: int = 0,
    on_network: OnNetwork | None = None,
) -> AuditTable:
    """Scores every given label of a graph.

    Args:
        model: A fitted classifier, or the folder of a saved one.
        graph: The graph it was fitted on.
        labels: Given labels and trusted nodes, or one class number per node with −1 for unknown. They may be others
            than those that the model was fitted with, for instance with the verdicts of a review.
        trusted: With plain class numbers: the mask of the nodes whose label was checked.
        scorer: Who judges, see :mod:`lnp.audit.scores`.
        seed: The seed of every draw.
        on_network: Called after each network that a scorer trains.

    >>> import lnp
    >>> data = lnp.load_dataset("synthetic", nodes=60, classes=3)
    >>> given = data.truth.labels.copy()
    >>> given[7] = (given[7] + 1) % 3
    >>> model = lnp.LNPClassifier(method="gcn", epochs=20, selection="last").fit(data.graph, given)
    >>> lnp.audit(model, data.graph, given, scorer="model").nodes.size
    60
    """
    check_scorer(scorer)
    classifier = _classifier(model, graph)
    observed = _observed(labels, trusted, graph)
    method = classifier.method_
    assert method is not None
    device = next(iter(method.state_dict().values()), torch.zeros(())).device
    batch = full_batch(scale_features(graph, classifier.scaling), observed, observed.noisy_nodes, device=device)
    probabilities = torch.from_numpy(classifier.probabilities_).to(device)
    scores = score_labels(scorer, method, batch, probabilities, Seeds(seed), on_network, observed.before)
    vectors = embeddings(method, batch, probabilities).double().cpu().numpy()
    return _table(scorer, scores, graph, observed, batch, classifier.probabilities_, vectors)


def _table(
    scorer: str,
    scores: LabelScores,
    graph: Graph,
    observed: ObservedLabels,
    batch: Batch,
    probabilities: NDArray[np.float32],
    vectors: NDArray[np.float64],
) -> AuditTable:
    given, noisy, c = observed.given, batch.noisy.cpu().numpy(), graph.class_count
    quality, posterior = np.ones(given.size), np.zeros((given.size, c))
    posterior[observed.trusted_nodes, given[observed.trusted_nodes]] = 1.0
    quality[noisy], posterior[noisy] = scores.quality, scores.posterior
    labelled = np.flatnonzero(given != UNKNOWN)
    # Ties: labels that nobody checked come first.
    nodes = labelled[np.lexsort((observed.trusted[labelled], quality[labelled]))]
    counts = np.bincount(given[noisy], minlength=c)
    wrong = np.bincount(given[noisy], weights=1 - scores.quality, minlength=c)
    return AuditTable(
        nodes=nodes,
        given=given[nodes],
        quality=quality[nodes],
        proposed=posterior[nodes].argmax(axis=1),
        confidence=posterior[nodes].max(axis=1),
        probabilities=probabilities[nodes].astype(np.float64),
        prototype_similarity=prototype_similarity(vectors, given, quality, nodes, c),
        neighbour_labels=neighbour_labels(graph, given, nodes),
        trusted=observed.trusted[nodes],
        noise_rate=np.divide(wrong, counts, out=np.full(c, np.nan), where=counts > 0),
        transition=scores.transition,
        checks=observed.checks,
        class_names=graph.class_names,
        scorer=scorer,
    )


def _classifier(model: LNPClassifier | Path | str, graph: Graph) -> LNPClassifier:
    classifier = model if isinstance(model, LNPClassifier) else LNPClassifier.load(model, graph)
    if not hasattr(classifier, "method_"):
        raise NotFittedError("Expected a fitted classifier, but this one is not. Call `fit` or `load` first.")
    if classifier.method_ is None:
        raise NotFittedError(
            "Expected a classifier with its graph, but this one was loaded without. Load it with the graph, or hand "
            "over its folder."
        )
    if len(classifier.probabilities_) != graph.node_count or classifier.class_names_ != graph.class_names:
        raise ModelFileError(
            f"Expected the graph that the model was fitted on, of {len(classifier.probabilities_)} nodes and the "
            f"classes {', '.join(classifier.class_names_)}, but got {graph!r}."
        )
    return classifier


def _observed(labels: ObservedLabels | ArrayLike, trusted: ArrayLike | None, graph: Graph) -> ObservedLabels:
    observed = observe(graph, labels, trusted, who="audit")
    if not (observed.given != UNKNOWN).any():
        raise LabelError("Expected some labels to audit, but no node has one.")
    return observed
