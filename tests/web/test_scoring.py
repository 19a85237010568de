from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lnp.audit.table import audit
from lnp.datasets.own_graph import OwnGraph
from lnp.errors import UnknownNameError
from lnp.estimator import LNPClassifier
from lnp.web.scoring import ScoresKept, score


def test_scores_are_those_of_an_audit(own: OwnGraph, home: Path) -> None:
    classifier = LNPClassifier.load(home / "model", own.graph)
    scored = score(classifier, own, own.labels, "model")
    np.testing.assert_array_equal(scored.quality, audit(classifier, own.graph, own.labels, scorer="model").quality)


def test_progress_reaches_its_end(own: OwnGraph, home: Path) -> None:
    steps: list[tuple[int, int]] = []
    classifier = LNPClassifier.load(home / "model", own.graph)
    scored = score(classifier, own, own.labels, on_scored=lambda done, total: steps.append((done, total)))
    assert scored.scorer == "cross-fit"
    assert steps == [(done, len(steps)) for done in range(1, len(steps) + 1)]
    assert len(steps) > 3


def test_scores_belong_to_a_model_its_labels_and_a_scorer(own: OwnGraph, home: Path) -> None:
    classifier = LNPClassifier.load(home / "model", own.graph)
    table = score(classifier, own, own.labels, "model")
    kept = ScoresKept(home / "graph", "model")
    assert kept.read(home / "model") is None
    kept.write(home / "model", table)
    found = kept.read(home / "model")
    assert found is not None
    np.testing.assert_array_equal(found.quality, table.quality)
    assert ScoresKept(home / "graph", "cross-fit").read(home / "model") is None
    facts = home / "graph" / "graph.json"
    changed = json.loads(facts.read_text(encoding="utf-8")) | {"labels_checksum": "another"}
    facts.write_text(json.dumps(changed), encoding="utf-8")
    assert kept.read(home / "model") is None


def test_an_unknown_scorer_is_named(own: OwnGraph, home: Path) -> None:
    with pytest.raises(UnknownNameError, match="cross-fit"):
        score(LNPClassifier.load(home / "model", own.graph), own, own.labels, "guess")
