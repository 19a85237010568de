"""The whole analysis from a handful of records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lnp.errors import DataError
from lnp.report.older_records import older_records
from lnp.report.records import Results
from lnp.report.results import analyse


def test_what_was_run_is_there_and_what_was_not_is_named(runs) -> None:
    rows = [
        *runs("table-2", "cora", 0.8, "gcn", [40.0, 42.0]),
        *runs("table-2", "cora", 0.8, "lnp-v2", [70.0, 72.0]),
        *runs("table-2", "cora", 0.8, "lnp-v2", [60.0], protocol="strict"),
        *runs("figure-ablation", "cora", 0.8, "lnp-v2", [60.0], part="nl"),
        *runs("table-8", "arxiv-year", 0.8, "gcn", [60.0]),
    ]
    found = analyse(Results(tuple(rows), ("a note",)))
    assert found.runs == 7
    assert found.protocols == ("paper", "strict")
    assert [(s.comparison.table.name, s.comparison.protocol) for s in found.tables] == [
        ("table-2", "paper"),
        ("table-2", "strict"),
    ]
    assert [section.table.name for section in found.figures] == ["figure-ablation"]
    assert found.not_run == [
        *("table-1", "table-5", "table-6", "table-7", "figure-clean-size", "figure-sensitivity", "real-noise"),
    ]
    paper, strict = found.reaches
    assert (paper.total, len(paper.reached), len(paper.not_run)) == (96, 1, 95)
    assert (strict.protocol, strict.total, len(strict.missed)) == ("strict", 96, 1)
    assert [loss.method for loss in found.losses] == ["lnp-v2"]
    assert list(found.timings) == ["paper"]
    assert found.notes == ["a note", *older_records(rows)]
    assert found.section("table-2", "strict") is found.tables[1]
    assert found.section("table-1", "paper") is None
    assert not found.has_memory
    assert [figure.name for figure in found.all_figures] == [
        *("table-2-paper-scatter", "table-2-strict-scatter", "figure-ablation-paper"),
    ]


def test_ranks_of_all_methods_and_of_the_papers(runs) -> None:
    rows = []
    for rate in (0.2, 0.4):
        for method, accuracy in (("gcn", 50.0), ("gce", 60.0), ("lnp-v2", 70.0), ("glc", 80.0)):
            rows += runs("table-2", "cora", rate, method, [accuracy])
    (section,) = analyse(Results(tuple(rows))).tables
    assert section.ranks is not None
    assert section.own_ranks is not None
    assert section.published_ranks is not None
    assert section.ranks.methods == ("glc", "lnp-v2", "gce", "gcn")
    assert section.own_ranks.methods == ("lnp-v2", "gce", "gcn")
    assert section.own_ranks.mean_ranks == (1.0, 2.0, 3.0)
    assert section.published_ranks.cells == 24  # all of the paper's rows


def test_seeds_of_several_configurations_are_noted(runs) -> None:
    rows = runs("table-2", "cora", 0.8, "gcn", [40.0, 42.0])
    note, *_ = analyse(Results((rows[0], replace(rows[1], config_hash="other")))).notes
    assert note.startswith("In 1 cells the seeds were not all run with one configuration")


def test_nothing_to_report_is_an_error() -> None:
    with pytest.raises(DataError, match="Expected records of at least one table or figure"):
        analyse(Results(()))
