"""A trained method on disk: a folder with ``model.safetensors`` and ``model.json``, no pickle.

==================  ================================================================================================
model.safetensors   the method's state, given labels, trusted mask, training nodes, probabilities and label quality
model.json          format version, method, whole configuration, classes, sizes, the graph's checksum, ``about``
==================  ================================================================================================

How the two are kept together is the business of :mod:`lnp.engine.model_folder`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnp import __version__
from lnp.engine.feed import predict
from lnp.engine.model_folder import FACTS, FORMAT, TENSORS, read_folder, require_folder, write_folder
from lnp.errors import InputError, ModelFileError, check_choice
from lnp.graph.features import AUTO, SCALINGS, scale_features, suitable_scaling
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.base import Method
from lnp.methods.batch import Batch, full_batch
from lnp.methods.config import MethodConfig
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds

__all__ = ["SavedModel", "label_quality", "load_model", "save_model"]

STATE = "state/"
"""What the names of the method's own tensors begin with."""


@dataclass(frozen=True, eq=False)
class SavedModel:
    """What a folder gave back.

    Args:
        name: The method's name in the registry.
        config: Its configuration.
        method: The method in its saved state; ``None`` when it was read without the graph.
        batch: What the method sees; ``None`` when it was read without the graph.
        observed: Given labels and trusted nodes.
        train: The training nodes.
        probabilities: ``(n, c)`` of every node: computed from the graph if there is one, else as stored.
        quality: ``(n,)`` how likely each given label is right, not a number where there is none.
        class_names: The classes, in the order of the columns of ``probabilities``.
        graph_name: What the graph was called.
        feature_count: The number of features d.
        scaling: The scaling that the features go through before the method sees them.
        about: Whatever was handed over for keeping.
    """

    name: str
    config: MethodConfig
    method: Method | None
    batch: Batch | None
    observed: ObservedLabels
    train: NDArray[np.int64]
    probabilities: Tensor
    quality: Tensor
    class_names: tuple[str, ...]
    graph_name: str
    feature_count: int
    scaling: str
    about: dict[str, Any]


def save_model(
    folder: Path | str,
    *,
    name: str,
    method: Method,
    graph: Graph,
    observed: ObservedLabels,
    train: NDArray[np.int64],
    about: Mapping[str, object] | None = None,
    scaling: str = "none",
    batch: Batch | None = None,
) -> None:
    """Writes the model; other files of the folder stay.

    Args:
        folder: Where to; made if it does not exist.
        name: The method's name in the registry.
        method: The trained method.
        graph: The graph it was trained on.
        observed: The labels it was trained on.
        train: The training nodes.
        about: Anything JSON can say, for instance how the model came to be.
        scaling: What :func:`~lnp.graph.features.scale_features` did to ``graph`` before the method saw it; "none" if
            ``graph`` is what the method saw.
        batch: What the method saw, if it is at hand: the whole graph, ready to predict on.
    """
    folder = Path(folder)
    require_folder(folder)
    if batch is None:
        batch = full_batch(scale_features(graph, scaling), observed, train, device=_device(method))
    probabilities = predict(method, batch)
    tensors = {STATE + key: value.detach().cpu() for key, value in method.state_dict().items()}
    tensors |= {
        "given": torch.from_numpy(observed.given),
        "trusted": torch.from_numpy(observed.trusted),
        "train": torch.from_numpy(np.asarray(train, np.int64)),
        "probabilities": probabilities.cpu(),
        "label_quality": label_quality(method, batch, observed, probabilities).cpu(),
    }
    if observed.checks.any():
        tensors["before"] = torch.from_numpy(observed.before)
    facts = {
        "format": FORMAT,
        "lnp": __version__,
        "method": name,
        "config": asdict(method.config),
        "class_names": list(graph.class_names),
        "nodes": graph.node_count,
        "features": graph.feature_count,
        "graph": graph.name,
        "checksum": graph.checksum,
        "scaling": suitable_scaling(graph.features) if scaling == AUTO else scaling,
        "about": dict(about or {}),
    }
    write_folder(folder, tensors, facts)


def load_model(folder: Path | str, graph: Graph | None = None, *, device: str = "cpu") -> SavedModel:
    """Reads the model.

    Args:
        folder: Where :func:`save_model` put it.
        graph: The graph it was trained on, unscaled if it was saved with a scaling. Without it the stored
            probabilities serve, and there is no method to train on or to ask again.
        device: Where to compute.
    """
    folder = Path(folder)
    tensors, facts = read_folder(folder)
    path, n, c = folder / FACTS, facts["nodes"], len(facts["class_names"])
    shapes = {"given": (n,), "trusted": (n,), "train": None, "probabilities": (n, c), "label_quality": (n,)}
    for key, shape in shapes.items():
        if key not in tensors:
            raise ModelFileError(f"{folder / TENSORS} lacks `{key}`. Save the model again.")
        if shape is not None and tensors[key].shape != shape:
            raise ModelFileError(
                f"Expected `{key}` of {folder / TENSORS} to have shape {shape}, which is what {FACTS} says, but got "
                f"{tuple(tensors[key].shape)}. Save the model again."
            )
    try:
        config = make_config(facts["method"], facts["config"])
        check_choice("scaling", facts["scaling"], SCALINGS)
        before = tensors["before"].numpy() if "before" in tensors else None
        given, trusted = tensors["given"].numpy(), tensors["trusted"].numpy()
        observed = ObservedLabels(given, trusted, class_count=c, before=before)
    except InputError as error:
        raise ModelFileError(f"{path} cannot be used by lnp {__version__}: {error}") from error
    train, probabilities, quality = tensors["train"].numpy(), tensors["probabilities"], tensors["label_quality"]
    method, batch, scaling = None, None, facts["scaling"]
    if graph is not None:
        _check_graph(path, facts, graph)
        scaling = _scaling(facts, graph)
        batch = full_batch(scale_features(graph, scaling), observed, train, device=device)
        method = create_method(facts["method"], config, batch, Seeds(0).generator("initialisation"))
        _load_state(folder / TENSORS, method, tensors)
        probabilities = predict(method, batch)
        quality = label_quality(method, batch, observed, probabilities)
    return SavedModel(
        name=facts["method"],
        config=config,
        method=method,
        batch=batch,
        observed=observed,
        train=train,
        probabilities=probabilities,
        quality=quality,
        class_names=tuple(facts["class_names"]),
        graph_name=facts["graph"],
        feature_count=facts["features"],
        scaling=scaling,
        about=facts["about"],
    )


@torch.no_grad()
def label_quality(method: Method, batch: Batch, observed: ObservedLabels, probabilities: Tensor) -> Tensor:
    """How likely each given label is right, those that training did not use included."""
    given = torch.from_numpy(observed.given).to(batch.given.device)
    return method.label_quality(replace(batch, given=given), probabilities)


def _check_graph(path: Path, facts: dict[str, Any], graph: Graph) -> None:
    pairs = {
        "nodes": (facts["nodes"], graph.node_count),
        "features": (facts["features"], graph.feature_count),
        "classes": (tuple(facts["class_names"]), graph.class_names),
        "checksum": (facts["checksum"], graph.checksum),
    }
    for what, (saved, here) in pairs.items():
        if saved != here:
            raise ModelFileError(
                f"Expected the graph that {path} was trained on ({facts['graph']!r}, {what} {saved}), but "
                f"{graph.name!r} has {what} {here}. Give the same graph, or none to use the stored predictions."
            )


def _scaling(facts: dict[str, Any], graph: Graph) -> str:
    """What was done to the features. Files of before may say "auto", which took ``row`` for sparse ones then."""
    if facts["scaling"] != AUTO:
        return str(facts["scaling"])
    now = suitable_scaling(graph.features)
    return "row" if now == "length" else now


def _load_state(path: Path, method: Method, tensors: dict[str, Tensor]) -> None:
    try:
        method.load_state_dict({k.removeprefix(STATE): v for k, v in tensors.items() if k.startswith(STATE)})
    except RuntimeError as error:
        reason = textwrap.shorten(str(error).partition("\n")[2], 200, placeholder=" …")
        raise ModelFileError(
            f"Expected the weights in {path} to fit the method that {FACTS} describes, but they do not: {reason} Save "
            "the model again."
        ) from error


def _device(method: Method) -> torch.device:
    first = next((value for value in method.state_dict().values()), None)
    return torch.device("cpu") if first is None else first.device
