"""The face for Python code: a classifier in the manner of scikit-learn, for a graph whose labels are partly wrong."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from lnp.engine.batching import Batching, check_in_parts
from lnp.engine.device import check_device
from lnp.engine.fit import FitOptions, fit
from lnp.engine.history import History
from lnp.engine.model_file import SavedModel, label_quality, load_model, save_model
from lnp.engine.noise_channel import behind_channel, rule_for
from lnp.engine.progress import OnEpoch, epoch_progress, say
from lnp.engine.set_aside import set_aside
from lnp.engine.set_up import set_up
from lnp.engine.suitable_rule import AUTO, suitable_rule
from lnp.errors import ConfigError, LabelError, ModelFileError, NotFittedError, check_range
from lnp.graph.chosen_rows import chosen_rows
from lnp.graph.features import scale_features
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN, ObservedLabels, Truth
from lnp.graph.observe import observe
from lnp.methods.config import MethodConfig
from lnp.methods.registry import entry, make_config
from lnp.methods.versions import method_name
from lnp.seeds import Seeds

__all__ = ["LNPClassifier"]


class LNPClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns the classes of all nodes of a graph from many labels, some wrong, and a few that somebody checked.

    Nobody knows the truth here, so training uses every given label, except those that the selection rule sets aside:

    - "auto" is the one of these that suits the labels (:mod:`lnp.engine.suitable_rule`): "val-channel" where every
      class has a trusted one and about 50 others;
    - "trusted" keeps about a third of the trusted nodes of every class that has two or more out of training, and the
      epoch that does best on them stays;
    - "val-noisy" keeps 20 % of the untrusted labels out, of every class alike, and the epoch that agrees with most of
      them stays;
    - "val-given" does the same with the label that each node would most likely be given, the noise included where the
      method has a noise matrix;
    - "val-likelihood" keeps the same labels out, and the epoch to which they are most likely stays, with that noise;
    - "val-channel" keeps them out, too, and the epoch stays whose classes make them likeliest, behind a noise matrix
      that is learnt first with the trusted nodes (:mod:`lnp.engine.noise_channel`);
    - "last" uses everything and keeps the last epoch.

    Args:
        version: 1 for LNP-v1, :math:`P(Y_C | G)`, 2 for LNP-v2, :math:`P(Y_C | G, Y_N)`, or "channel" for one network
            behind a learned noise channel (:mod:`lnp.methods.channel.model`): what ``lnp train`` uses, since it does
            best where nobody knows the noise.
        backbone: "gcn", "h2gcn" (for graphs whose neighbours differ), "mlp" (features alone) or "sign" (features
            averaged over ever wider neighbourhoods once, before training: :mod:`lnp.nn.sign`, for large graphs);
            ``None`` is the method's own.
        method: Another method by its name in :data:`lnp.methods.registry.METHODS`, for instance "gcn".
        preset: A named configuration of the method.
        epochs: Epochs of the main stage; ``None`` is the method's own number.
        selection: Which epoch to keep, see above.
        seed: The seed of every draw: same seed, same data, same result.
        device: Where to compute: "cpu", "cuda", ….
        scaling: What to do to the features first, a name of :func:`~lnp.graph.features.scale_features`.
        patience: Stop after this many epochs without a better score; 0 never stops early.
        batch: "full" takes the whole graph in every step; a graph too large for that is trained in parts, by
            "neighbours:size=1024,fan_out=10/10" or "clusters:count=1000,together=20" (:mod:`lnp.engine.batching`).
            With the backbone "sign" a part is some rows of a file in the user's cache and needs no neighbours:
            ``fan_out`` means nothing then, and clusters cut no link.
        options: Any further options of the method, for instance ``{"lambda_1": 0.5}``.
        verbose: Whether to show a progress bar (on standard error, if that is a terminal).

    Attributes:
        classes_: The class numbers 0 … c−1.
        class_names_: Their names.
        n_features_in_: The number of features d.
        probabilities_: ``(n, c)`` class probabilities of every node.
        label_quality_: ``(n,)`` how likely each given label is right.
        history_: Loss terms and score of every epoch.
        method_: The trained method; ``None`` after :meth:`load` without a graph.
        held_out_: The nodes that selected the epoch.

    >>> import lnp
    >>> data = lnp.load_dataset("synthetic", nodes=60, classes=3)
    >>> labels = data.truth.labels.copy()
    >>> classifier = lnp.LNPClassifier(version=1, epochs=20)
    >>> classifier.fit(data.graph, labels, trusted=np.arange(60) < 20).predict([0, 1]).shape
    (2,)
    """

    def __init__(
        self,
        version: int | str = 2,
        backbone: str | None = None,
        *,
        method: str | None = None,
        preset: str | None = None,
        epochs: int | None = None,
        selection: str = "auto",
        seed: int = 0,
        device: str = "cpu",
        scaling: str = "auto",
        patience: int = 0,
        batch: str = "full",
        options: dict[str, object] | None = None,
        verbose: bool = False,
    ) -> None:
        self.version = version
        self.backbone = backbone
        self.method = method
        self.preset = preset
        self.epochs = epochs
        self.selection = selection
        self.seed = seed
        self.device = device
        self.scaling = scaling
        self.patience = patience
        self.batch = batch
        self.options = options
        self.verbose = verbose

    def fit(
        self,
        graph: Graph,
        labels: ObservedLabels | ArrayLike,
        *,
        trusted: ArrayLike | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> Self:
        """Trains from scratch and returns the classifier itself; an earlier fit is forgotten.

        Args:
            graph: The graph.
            labels: Given labels and trusted nodes, or one class number per node with −1 for unknown.
            trusted: With plain class numbers: the mask of the nodes whose label was checked.
            on_epoch: Called with every epoch's record and the number of epochs of its stage, instead of a bar.
        """
        name, config, seeds = method_name(self.version, self.method), self._config(), Seeds(self.seed)
        check_range("patience", self.patience, 0, 1e9)
        batching = Batching.parse(self.batch)
        whole = batching.kind == "full"
        if not whole:
            check_in_parts(name)
        check_device(self.device)
        observed = observe(graph, labels, trusted)
        if entry(name).method.needs_trusted:
            observed.require_trusted_in_every_class(graph.class_names)
        rule = suitable_rule(name, observed, whole=whole) if self.selection == AUTO else self.selection
        parts = set_aside(observed, rule_for(name, rule), seeds)
        observed, train = parts.observed, parts.train
        if train.size == 0 and name != "clean-only":
            raise LabelError(
                "Expected some given labels that are not trusted, for they are what is learned from, but there are "
                "none. Give more labels, or learn from the trusted ones with the method 'clean-only'."
            )
        scaled = scale_features(graph, self.scaling)
        device, tell = self.device, say if self.verbose else None
        ready = set_up(
            name,
            config,
            scaled,
            observed,
            train,
            seeds,
            original=graph,
            batching=batching,
            device=device,
            announce=tell,
        )
        with epoch_progress(f"{name} on {graph.name}", enabled=self.verbose and on_epoch is None) as bar:
            options = FitOptions(patience=self.patience, on_epoch=on_epoch or bar)
            heard = options.on_epoch
            selection = behind_channel(parts.selection, scaled, observed, train, seeds, device=device, on_epoch=heard)
            result = fit(ready.method, ready.feed, selection, seeds.randomness(), options)
        saved = SavedModel(
            name=name,
            config=config,
            method=ready.method,
            batch=ready.feed.batch,
            observed=observed,
            train=train,
            probabilities=result.probabilities,
            quality=label_quality(ready.method, ready.feed.batch, observed, result.probabilities),
            class_names=graph.class_names,
            graph_name=graph.name,
            feature_count=graph.feature_count,
            scaling=self.scaling,
            about={},
        )
        return self._remember(saved, graph, result.history, parts.selection.nodes)

    def predict(self, nodes: ArrayLike | None = None) -> NDArray[np.int64]:
        """The most probable class of all nodes of the graph, or of ``nodes`` (numbers or a mask)."""
        return np.asarray(self.predict_proba(nodes).argmax(axis=1))

    def predict_proba(self, nodes: ArrayLike | None = None) -> NDArray[np.float32]:
        """Class probabilities of all nodes of the graph, or of ``nodes`` (numbers or a mask), one row per node."""
        self._require_fit()
        return np.array(self.probabilities_[chosen_rows(nodes, len(self.probabilities_))])

    def score(self, labels: Truth | ArrayLike, nodes: ArrayLike | None = None) -> float:
        """The share of right predictions.

        Args:
            labels: The class number of every node of the graph; nodes with −1 are left out.
            nodes: Count these only (numbers or a mask).
        """
        self._require_fit()
        count, classes = self.probabilities_.shape
        right = (labels if isinstance(labels, Truth) else Truth(labels, classes)).labels
        if right.size != count:
            raise LabelError(f"Expected `labels` of all {count} nodes to score by, but got {right.size}.")
        chosen = chosen_rows(nodes, count)
        right, predicted = right[chosen], self.predict()[chosen]
        known = right != UNKNOWN
        if not known.any():
            raise LabelError("Expected a node with a known label to score by, but there is none.")
        return float((predicted[known] == right[known]).mean())

    def label_quality(self) -> NDArray[np.float32]:
        """How likely each given label is right, in [0, 1]; not a number where a node has none.

        The lowest are the first to check: ``numpy.argsort(classifier.label_quality())[:20]``.
        """
        self._require_fit()
        return np.array(self.label_quality_)

    def save(self, folder: Path | str) -> None:
        """Writes the fitted classifier into a folder (safetensors and JSON)."""
        self._require_fit()
        if self._graph is None:
            raise NotFittedError(
                "Expected a classifier with its graph, but this one was loaded without. Copy the folder it came from, "
                "or load it with the graph."
            )
        params = {
            key: value.item() if isinstance(value, np.generic) else value for key, value in self.get_params().items()
        }
        about = {"estimator": params, "history": self.history_.to_json(), "held_out": self.held_out_.tolist()}
        if self._graph.node_ids is not None:
            about["node_ids"] = list(self._graph.node_ids)
        model: SavedModel = self._model
        assert model.method is not None
        save_model(
            folder,
            name=model.name,
            method=model.method,
            graph=self._graph,
            observed=model.observed,
            train=model.train,
            about=about,
            scaling=model.scaling,
            batch=model.batch,
        )

    @classmethod
    def load(cls, folder: Path | str, graph: Graph | None = None) -> Self:
        """Reads what :meth:`save` (or the command line) wrote.

        Args:
            folder: Where it is.
            graph: The graph it was fitted on, to predict anew and to save again; without it the stored predictions
                serve.
        """
        model = load_model(folder, graph)
        about, from_elsewhere = model.about, {"method": model.name, "scaling": model.scaling}
        try:
            classifier = cls(**about.get("estimator", from_elsewhere | {"options": asdict(model.config)}))
            history = History.from_json(about.get("history", []))
            held_out = np.asarray(about.get("held_out", []), np.int64)
        except (TypeError, KeyError, ValueError) as error:
            raise ModelFileError(f"Expected `about` in {folder} to describe a classifier, but: {error}.") from error
        return classifier._remember(model, graph, history, held_out)

    def _config(self) -> MethodConfig:
        chosen = {name: getattr(self, name) for name in ("backbone", "epochs") if getattr(self, name) is not None}
        more = self.options or {}
        if twice := chosen.keys() & more.keys():
            raise ConfigError(f"Expected `{min(twice)}` once, but got it as an argument and in `options`.")
        return make_config(method_name(self.version, self.method), chosen | more, preset=self.preset)

    def _remember(self, model: SavedModel, graph: Graph | None, history: History, held_out: NDArray[np.int64]) -> Self:
        self._model, self._graph = model, graph
        self.classes_ = np.arange(len(model.class_names))
        self.class_names_ = model.class_names
        self.n_features_in_ = model.feature_count
        self.probabilities_ = model.probabilities.cpu().numpy()
        self.label_quality_ = model.quality.cpu().numpy()
        self.history_ = history
        self.method_ = model.method
        self.held_out_ = held_out
        return self

    def _require_fit(self) -> None:
        if not hasattr(self, "probabilities_"):
            raise NotFittedError("Expected a fitted classifier, but this one is not. Call `fit` or `load` first.")
