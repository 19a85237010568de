"""The summary says what the numbers say."""

from __future__ import annotations

from lnp.report.records import Results
from lnp.report.results import analyse
from lnp.report.results_summary import summary_sentences, tiles


def test_sentences_have_the_numbers(runs) -> None:
    rows = [
        *runs("table-2", "cora", 0.8, "gcn", [50.0, 50.2], detection_ap=0.6),  # reported 41.33 ± 1.12
        *runs("table-2", "cora", 0.8, "gce", [50.5, 50.6], detection_ap=0.5),  # 50.52 ± 3.51
        *runs("table-2", "cora", 0.8, "lnp-v1", [60.0, 60.2], detection_ap=0.9),  # 64.81 ± 1.61
        *runs("table-2", "cora", 0.8, "lnp-v2", [68.0, 68.2], detection_ap=0.8),  # 67.31 ± 3.11
        *runs("table-2", "cora", 0.8, "glc", [70.0, 70.2], detection_ap=0.7),
        *runs("table-2", "cora", 0.8, "lnp-v2", [65.0], protocol="strict"),
        *runs("table-2", "cora", 0.8, "gcn", [40.0], protocol="strict"),
    ]
    text = "\n".join(summary_sentences(analyse(Results(tuple(rows)))))
    assert "Protocol paper: 1 of the 2 LNP cells of Tables 1 and 2 that were run (50 %) reach" in text
    assert "1 miss it. 94 of the 96 have not been run." in text
    assert "among the paper's methods LNP is best in 1 of 1 rows" in text
    assert "another one is above both versions of LNP in 1 row, in 1 by more than two standard errors" in text
    assert "in 1 of the 1 the best other method is not in the paper (glc 1)." in text
    # gaps of LNP: −4.71 and +0.79; of the baselines: +8.77 and +0.03
    assert "LNP −2.0 points on average over 2 cells (1 within two standard errors, 0 above, 1 below)" in text
    assert "the baselines +4.4 points on average over 2 cells (1 within two standard errors, 1 above, 0 below)" in text
    assert "in cells of several seeds: gcn in 1 of 1." in text
    assert "lnp-v2 −3.1 and gcn −10.1 (of all methods lnp-v2 loses least and gcn most)" in text
    assert "methods that were run in all 1 cells: lnp-v1 is best with a mean average precision of 90.0 %" in text
    assert "Not run yet: table-1, table-5" in text


def test_sides_and_single_seeds_add_up_to_the_cells(runs) -> None:
    rows = [
        *runs("table-2", "cora", 0.8, "lnp-v1", [60.0, 60.2]),  # 64.81 ± 1.61
        *runs("table-2", "cora", 0.8, "lnp-v2", [68.0]),
        *runs("table-2", "cora", 0.8, "gcn", [50.0]),  # 41.33 ± 1.12
        *runs("table-2", "cora", 0.6, "gcn", [75.0, 76.0]),  # 51.99 ± 1.13
    ]
    text = "\n".join(summary_sentences(analyse(Results(tuple(rows)))))
    assert "over 2 cells (0 within two standard errors, 0 above, 1 below, 1 of a single seed); the baselines" in text
    assert "over 2 cells (0 within two standard errors, 1 above, 0 below, 1 of a single seed)." in text
    assert "in cells of several seeds: gcn in 1 of 1." in text


def test_who_finds_most_is_asked_among_methods_of_the_same_cells(runs) -> None:
    """Wrong labels are easy to find on one graph and hard on another: a mean over the easy one alone beats nobody."""
    rows = [
        *(
            row
            for m, ap in (("gcn", 0.9), ("gce", 0.8))
            for row in runs("table-2", "cora", 0.8, m, [50.0], detection_ap=ap)
        ),
        *(
            row
            for m, ap in (("gcn", 0.2), ("gce", 0.4))
            for row in runs("table-2", "actor", 0.8, m, [20.0], detection_ap=ap)
        ),
        *runs("table-2", "cora", 0.8, "glc", [50.0], detection_ap=0.85),
    ]
    text = " ".join(summary_sentences(analyse(Results(tuple(rows)))))
    assert (
        "2 methods that were run in all 2 cells: gce is best with a mean average precision of 60.0 %, then gcn" in text
    )
    assert "glc with" not in text


def test_tiles(runs) -> None:
    rows = [*runs("table-2", "cora", 0.8, "lnp-v2", [68.0, 68.2]), *runs("table-2", "cora", 0.8, "gcn", [10.0])]
    values = [value for value, _ in tiles(analyse(Results(tuple(rows))))]
    assert values == ["1 of 96", "1 of 1", "0 of 0", "3"]  # a single seed of gcn tells nothing


def test_nothing_of_tables_1_and_2(runs) -> None:
    rows = runs("figure-ablation", "cora", 0.8, "lnp-v2", [60.0], part="nl")
    text = "\n".join(summary_sentences(analyse(Results(tuple(rows)))))
    assert "none of the 96 LNP cells of Tables 1 and 2 has been run" in text
    assert "no baseline is better than published" not in text
