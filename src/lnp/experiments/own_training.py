"""Training on a user's own graph: nobody knows the truth, and there may be no trusted label at all.

What a benchmark decides by protocol is decided here by what there is, and said:

- the method: :data:`WITH_TRUST` where every class has a trusted label (:data:`IN_PARTS` in mini-batches), else
  :data:`WITHOUT_TRUST`, which needs none;
- the epoch: by the rule of :mod:`lnp.engine.suitable_rule`.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lnp.datasets.kept_labels import keep_labels
from lnp.datasets.own_graph import OwnGraph
from lnp.engine.files import write_text
from lnp.engine.model_folder import FACTS, UNFINISHED, require_folder
from lnp.engine.suitable_rule import suitable_rule
from lnp.errors import ConfigError, LabelError, check_range
from lnp.estimator import LNPClassifier
from lnp.graph.labels import ObservedLabels
from lnp.methods.registry import entry

__all__ = ["IN_PARTS", "WITHOUT_TRUST", "WITH_TRUST", "TrainingPlan", "about_checks", "plan_training", "train_own"]

WITH_TRUST, IN_PARTS, WITHOUT_TRUST = "lnp-channel", "lnp-v2", "gce"
"""The method by default: under ``strict``, which is what a user has, it is far ahead of LNP-v1 and v2 there.
It needs the whole graph in every step, so mini-batches have another. Where a class has no trusted label: a loss that is
bounded, so that no single wrong label can pull far, and that needs no estimate of the noise."""

LOSS = (
    "No label is trusted, and that has a price: mistakes that follow a rule (one class often taken for another) cannot "
    "be told from the truth, the epoch is chosen by labels that may be wrong themselves, and scores of labels say only "
    "how far they agree with the rest. About 25 checked labels, a few of every class, mend this: `lnp suggest-trusted` "
    "says which."
)


UNLIKELY = 0.01
"""So many mistakes among checked labels are no chance if the model disputes the right share of all."""


@dataclass(frozen=True)
class TrainingPlan:
    """What will be done.

    Args:
        method: A name of :data:`lnp.methods.registry.METHODS`.
        selection: A rule of :func:`lnp.engine.set_aside.set_aside`.
        notes: What the user should know about the choice.
    """

    method: str
    selection: str
    notes: tuple[str, ...] = ()


def plan_training(
    own: OwnGraph, method: str | None = None, selection: str | None = None, *, whole: bool = True
) -> TrainingPlan:
    """Chooses what is left open, and checks what is not.

    Args:
        own: The graph with its labels.
        method: The method, or ``None`` for the one that suits the labels.
        selection: The selection rule, or ``None`` for the one that suits the labels.
        whole: Whether every step sees the whole graph.
    """
    labels, notes = own.labels, []
    trusted = np.bincount(labels.given[labels.trusted], minlength=labels.class_count)
    missing = [name for name, count in zip(own.class_names, trusted.tolist(), strict=True) if count == 0]
    if method is None:
        best = WITH_TRUST if whole else IN_PARTS
        method = WITHOUT_TRUST if missing else best
        if missing and trusted.any():
            notes.append(
                f"No label is trusted in class {', '.join(map(repr, missing))}, so {method} is trained instead of "
                f"{best}. One checked label in every class is enough for {best}."
            )
    elif entry(method).method.needs_trusted and missing:
        try:
            labels.require_trusted_in_every_class(own.class_names)
        except LabelError as error:
            raise LabelError(
                f"{error} `lnp suggest-trusted` says which labels are worth checking; a method that needs none is "
                f"--method {WITHOUT_TRUST}."
            ) from None
    if not trusted.any():
        notes.append(LOSS)
    if selection is None:
        selection = suitable_rule(method, labels, whole=whole)
        notes += _about_rule(selection)
    return TrainingPlan(method, selection, tuple(notes))


def train_own(
    own: OwnGraph,
    folder: Path,
    plan: TrainingPlan,
    *,
    seeds: int = 1,
    settings: dict[str, Any] | None = None,
    before: ObservedLabels | None = None,
) -> list[dict[str, Any]]:
    """Trains, saves the model, and returns plain numbers, one row per seed.

    Args:
        own: The graph with its labels.
        folder: Where the model goes; with several seeds ``seed-0``, ``seed-1``, … in it.
        plan: Method and selection rule.
        seeds: How many models; predictions are their mean.
        settings: Further arguments of :class:`~lnp.estimator.LNPClassifier`.
        before: The labels that the graph came with; what its labels have beyond them is kept beside the models.
    """
    check_range("seeds", seeds, 1, 1e6)
    _require_free(folder, seeds)
    unfinished = folder / UNFINISHED
    if seeds > 1:
        write_text(unfinished, f"{seeds} models are being trained, or the training was stopped.\n")
    rows = []
    try:
        for seed in range(seeds):
            arguments = {"method": plan.method, "selection": plan.selection, "seed": seed, **(settings or {})}
            classifier = LNPClassifier(**arguments).fit(own.graph, own.labels)
            home = folder if seeds == 1 else folder / f"seed-{seed}"
            classifier.save(home)
            keep_labels(home, own, own.labels if before is None else before)
            rows.append(_row(own, classifier, seed))
    finally:
        if len(rows) in (0, seeds):  # none is there, or all
            unfinished.unlink(missing_ok=True)
        if not rows:
            with suppress(OSError):  # somebody's files are in it, or it was never made
                folder.rmdir()
    return rows


def about_checks(labels: ObservedLabels, rows: Sequence[dict[str, Any]]) -> list[str]:
    """A note where more of the checked labels had been wrong than models that dispute so few can have seen.

    Args:
        labels: What was learnt; it knows what checked labels had been.
        rows: Of :func:`train_own`.
    """
    from scipy.stats import binom

    known, agreement = int(labels.checks.sum()), [row["agreement_with_untrusted_labels"] for row in rows]
    if not known or None in agreement:
        return []
    wrong, disputed = known - int(np.trace(labels.checks)), 1 - float(np.mean(agreement))
    if binom.sf(wrong - 1, known, disputed) >= UNLIKELY:
        return []
    return [
        f"{wrong:,} of the {known:,} checked labels had been wrong, but the model disputes only {100 * disputed:.0f} % "
        "of the others. Unless those were picked because they looked wrong, it has learnt mistakes that a node's own "
        "features foretell. `lnp audit` counts with them. Where neighbours are alike, models that rely on neighbours "
        "may do better: `--set variant=smooth` with lnp-channel, or `--method correct-and-smooth`."
    ]


def _require_free(folder: Path, seeds: int) -> None:
    """A single model may replace another; a set of them would mix with what is there."""
    require_folder(folder)
    if (folder / UNFINISHED).exists() and not (folder / "spec.json").exists():
        # What a training left that was stopped goes, or it would mix with the new one.
        for facts in folder.glob(f"seed-*/{FACTS}"):
            shutil.rmtree(facts.parent)
    present = next(iter(folder.glob(f"seed-*/{FACTS}")), None)
    if (folder / "spec.json").exists() or present is not None or (seeds > 1 and (folder / FACTS).exists()):
        raise ConfigError(
            f"Expected {folder} to be free for the model, but it holds other models. Choose another folder."
        )


def _row(own: OwnGraph, classifier: LNPClassifier, seed: int) -> dict[str, Any]:
    predicted, given = classifier.predict(), own.labels.given
    held_out = classifier.held_out_
    noisy = own.labels.noisy_nodes
    differs = predicted[noisy] != given[noisy]
    return {
        "seed": seed,
        "epochs": len(classifier.history_),
        "held_out": int(held_out.size),
        "held_out_accuracy": _share(predicted[held_out] == given[held_out]),
        "labels_it_disagrees_with": int(differs.sum()),
        "agreement_with_untrusted_labels": _share(~differs),
        "predicted": dict(
            zip(own.class_names, np.bincount(predicted, minlength=len(own.class_names)).tolist(), strict=True)
        ),
    }


def _share(right: Sequence[bool] | np.ndarray) -> float | None:
    return float(np.mean(right)) if len(right) else None


def _about_rule(rule: str) -> list[str]:
    if rule == "val-noisy":
        return [
            "Too few trusted labels to choose the epoch by, so a fifth of the untrusted ones is kept from training and "
            "chooses it (val-noisy)."
        ]
    if rule == "last":
        return ["Too few labels to choose the epoch by, so the last one stays."]
    return []
