"""Predictions of a saved model, or of several seeds together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lnp.engine.model_file import SavedModel, load_model
from lnp.engine.model_folder import FACTS, UNFINISHED
from lnp.errors import ModelFileError
from lnp.graph.labels import UNKNOWN

__all__ = ["Predictions", "model_homes", "read_predictions"]


@dataclass(frozen=True, eq=False)
class Predictions:
    """What models say of every node.

    Args:
        node_ids: One name per node, or ``None`` for 0 … n−1.
        class_names: The classes.
        given: ``(n,)`` given labels, −1 where there is none or where the models were given different ones.
        probabilities: ``(n, c)``, the mean over the models.
        models: How many models.
        disputed: Nodes whose given label differs between the models (each seed draws its own noise).
    """

    node_ids: tuple[str, ...] | None
    class_names: tuple[str, ...]
    given: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    models: int = 1
    disputed: int = 0

    @property
    def predicted(self) -> NDArray[np.int64]:
        """``(n,)`` the most probable class."""
        classes: NDArray[np.int64] = self.probabilities.argmax(axis=1)
        return classes

    @property
    def confidence(self) -> NDArray[np.float64]:
        """``(n,)`` its probability."""
        highest: NDArray[np.float64] = self.probabilities.max(axis=1)
        return highest

    def summary(self) -> dict[str, object]:
        """Plain numbers: nodes, models, mean confidence, and how many nodes each class gets."""
        counts = np.bincount(self.predicted, minlength=len(self.class_names))
        labelled = self.given != UNKNOWN
        return {
            "nodes": int(self.given.size),
            "models": self.models,
            "mean_confidence": float(self.confidence.mean()),
            "predicted": dict(zip(self.class_names, counts.tolist(), strict=True)),
            "given": int(labelled.sum()),
            "given_differs_from_predicted": int((self.given != self.predicted)[labelled].sum()),
            "given_differs_between_models": self.disputed,
        }


def read_predictions(folder: Path) -> Predictions:
    """Reads one model, or every finished seed of a run, whose probabilities are averaged.

    Args:
        folder: Where a model was saved (``run/seed-0``), or the folder of the whole run (``run``).
    """
    models = [load_model(home) for home in model_homes(folder)]
    first = models[0]
    for model in models[1:]:
        if model.class_names != first.class_names or model.probabilities.shape != first.probabilities.shape:
            raise ModelFileError(
                f"Expected all models in {folder} to be of one graph, but they differ in nodes or classes. Give one of "
                "the folders in it."
            )
    given = np.stack([model.observed.given for model in models])
    highest = given.max(axis=0)
    disputed = ((given != UNKNOWN) & (given != highest)).any(axis=0)
    return Predictions(
        node_ids=_node_ids(first, folder),
        class_names=first.class_names,
        given=np.where(disputed, UNKNOWN, highest),
        probabilities=np.mean([model.probabilities.double().cpu().numpy() for model in models], axis=0),
        models=len(models),
        disputed=int(disputed.sum()),
    )


def model_homes(folder: Path) -> list[Path]:
    """The folder itself where a model is in it, else those of its finished seeds."""
    if not folder.is_dir():
        raise ModelFileError(f"Expected a folder with a trained model, but there is no folder {folder}.")
    if (folder / UNFINISHED).exists():
        raise ModelFileError(
            f"Expected all models of a training in {folder}, but it was stopped before the last one or still goes on. "
            "The same `lnp train` command does it anew."
        )
    if (folder / FACTS).exists():
        return [folder]
    homes = [path.parent for path in folder.glob(f"seed-*/{FACTS}")]
    if not homes:
        raise ModelFileError(
            f"Expected a trained model in {folder}, but there is neither a {FACTS} nor a finished seed. Train one with "
            f"`lnp train --out {folder}`."
        )
    return sorted(homes, key=lambda path: (len(path.name), path.name))


def _node_ids(model: SavedModel, folder: Path) -> tuple[str, ...] | None:
    ids = model.about.get("node_ids")
    if ids is None:
        return None
    if not isinstance(ids, list) or len(ids) != len(model.probabilities):
        raise ModelFileError(f"Expected `node_ids` in {folder} to be one name per node, but they are not.")
    return tuple(str(name) for name in ids)
