from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lnp.audit.table import AuditTable
from lnp.web.opinion import CLASSES, class_rows, evidence

MakeTable = Callable[..., AuditTable]


def test_rows_say_what_the_audit_says(table: MakeTable) -> None:
    made = table([4, 9], [0, 1], [0.1, 0.8], [2, 1])
    rows = class_rows(made, 0)
    assert [row.label for row in rows] == [0, 1, 2]
    np.testing.assert_allclose([row.probability for row in rows], made.probabilities[0])
    assert [row.similarity for row in rows] == made.prototype_similarity[0].tolist()
    assert [row.neighbours for row in rows] == made.neighbour_labels[0].tolist()


def test_of_many_classes_the_likely_ones_and_the_label_are_shown(table: MakeTable) -> None:
    made = table([0], [29], [0.0], [3], classes=30)
    shown = [row.label for row in class_rows(made, 0)]
    assert len(shown) == CLASSES + 1
    assert {3, 29} <= set(shown)


def test_evidence_in_words(table: MakeTable) -> None:
    made = table([0], [0], [0.0301], [2])
    made = replace(made, prototype_similarity=np.array([[-0.5, 0.25, 0.75]]), neighbour_labels=np.array([[1, 0, 3]]))
    assert evidence(made, 0) == [
        "The label “class 0” is right with a probability of 3 %.",
        "The most likely label is “class 2”, with 98 %.",
        "1 of 4 labelled neighbours have the same label, 3 have the proposed one.",
        "It resembles the class “class 2” most (similarity 0.75, with “class 0” −0.50).",
    ]


def test_what_is_missing_is_not_made_up(table: MakeTable) -> None:
    made = table([0], [1], [0.9], [1])
    made = replace(made, prototype_similarity=np.full((1, 3), np.nan), neighbour_labels=np.zeros((1, 3), np.int64))
    said = evidence(made, 0)
    assert said[1] == "No other label is more likely."
    assert said[2:] == ["No neighbour has a label."]
    assert all(row.similarity is None for row in class_rows(made, 0))
