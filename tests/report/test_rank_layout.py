"""The layout of a critical-difference diagram."""

from __future__ import annotations

import pytest

from lnp.report.rank_layout import rank_layout
from lnp.report.ranks import RankSummary


@pytest.fixture
def summary() -> RankSummary:
    return RankSummary(
        methods=("a", "b", "c", "d", "e"),
        mean_ranks=(1.0, 2.0, 2.5, 4.5, 5.0),
        cells=10,
        statistic=20.0,
        p_value=0.001,
        critical_difference=1.929,
        groups=((0, 2), (3, 4)),
    )


def test_places_on_the_axis_are_linear_in_rank(summary: RankSummary) -> None:
    layout = rank_layout(summary)
    left, right = layout.ends
    assert [label.x for label in layout.labels] == pytest.approx(
        [left + (right - left) * (rank - 1) / 4 for rank in summary.mean_ranks]
    )
    assert layout.ticks[0] == (left, 1)
    assert layout.ticks[-1] == (pytest.approx(right), 5)
    start, end = layout.ruler
    assert (end - start) / (right - left) == pytest.approx(1.929 / 4)


def test_names_do_not_share_a_place_and_leaders_do_not_cross(summary: RankSummary) -> None:
    layout = rank_layout(summary)
    places = [(label.left, label.y) for label in layout.labels]
    assert len(set(places)) == 5
    left = [label for label in layout.labels if label.left]
    right = [label for label in layout.labels if not label.left]
    assert [label.method for label in left] == ["a", "b", "c"]
    # on the left, what is nearer to the names is higher; on the right the same
    assert [label.y for label in left] == sorted(label.y for label in left)
    assert [label.y for label in right] == sorted((label.y for label in right), reverse=True)
    assert all(layout.axis < label.y < layout.height for label in layout.labels)


def test_bars_span_their_groups(summary: RankSummary) -> None:
    layout = rank_layout(summary)
    assert len(layout.bars) == 2
    for (first, last), (start, end, height) in zip(summary.groups, layout.bars, strict=True):
        assert start < layout.labels[first].x <= layout.labels[last].x < end
        assert layout.axis < height < min(label.y for label in layout.labels)
