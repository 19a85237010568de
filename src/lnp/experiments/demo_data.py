"""What the demo found, as plain data: all that its table and its page show."""

from __future__ import annotations

from dataclasses import dataclass

from lnp.experiments.prediction import Predictions

__all__ = ["PICTURES", "TOP", "Curve", "DemoData", "MethodOutcome", "Suspect"]

TOP = 100
"""How many of the most suspect labels are scored."""

PICTURES = 40
"""How many of them are shown."""


@dataclass(frozen=True)
class Curve:
    """One loss term of one stage, an epoch after the other; ``start`` epochs came before, in earlier stages."""

    stage: str
    term: str
    start: int
    values: list[float]


@dataclass(frozen=True)
class Suspect:
    """A given label that is probably wrong.

    Args:
        node: Node number.
        given: Given label.
        proposed: The most probable class, another one.
        quality: How likely the given label is right.
        confidence: How likely the proposed one is.
        truth: The true class, for scoring the demo only.
        picture: Rows of pixels from 0 (paper) to 1 (ink); only the first :data:`PICTURES` have one.
    """

    node: int
    given: int
    proposed: int
    quality: float
    confidence: float
    truth: int
    picture: list[list[float]] | None = None


@dataclass(frozen=True, kw_only=True)
class MethodOutcome:
    """What one method did, one value per seed; the curves are those of seed 0.

    Args:
        name: The method.
        accuracies: Test accuracy.
        found: The share of wrong labels among the :data:`TOP` most suspect.
        seconds: Training time.
        epochs: Epochs of all stages.
        curves: Loss terms.
    """

    name: str
    accuracies: list[float]
    found: list[float]
    seconds: list[float]
    epochs: list[int]
    curves: list[Curve]


@dataclass(frozen=True, kw_only=True)
class DemoData:
    """Everything that the demo's table and page show.

    Args:
        noise: The kind of noise.
        rate: The rate asked for.
        seeds: How many.
        nodes: n.
        train_nodes: |T_N| of seed 0.
        trusted_nodes: |T_C|.
        test_nodes: Nodes that score, of seed 0.
        base_rate: The share of wrong labels in T_N, the mean over seeds: what random picking would find.
        methods: One outcome per method.
        predictions: Of the shown method, seed 0.
        confusion: Counts over T_N, given label in the rows and predicted one in the columns.
        suspects: Labels of T_N that the shown method contradicts, in the order to check them.
        given_right: The share of given labels in T_N that are right.
        proposed_right: The share of predictions there that are right.
    """

    noise: str
    rate: float
    seeds: int
    nodes: int
    train_nodes: int
    trusted_nodes: int
    test_nodes: int
    base_rate: float
    methods: list[MethodOutcome]
    predictions: Predictions
    confusion: list[list[int]]
    suspects: list[Suspect]
    given_right: float
    proposed_right: float

    def summary(self) -> dict[str, object]:
        """The numbers of the table, JSON-ready."""
        return {
            "dataset": "digits",
            "noise": self.noise,
            "rate": self.rate,
            "seeds": list(range(self.seeds)),
            "trusted": self.trusted_nodes,
            "base_rate": self.base_rate,
            "methods": {
                outcome.name: {
                    "test_accuracy": outcome.accuracies,
                    f"wrong_among_{TOP}_most_suspect": outcome.found,
                    "epochs": outcome.epochs,
                    "seconds": outcome.seconds,
                }
                for outcome in self.methods
            },
        }
