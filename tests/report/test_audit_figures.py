"""The figures of an audit: heights and shades are the numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lnp.report.audit_figures import BINS, MANY, channel_map, quality_histogram


def test_bars_are_as_high_as_their_counts() -> None:
    quality = np.r_[np.full(30, 0.01), np.full(10, 0.52), 1.0]
    svg = str(quality_histogram(quality, "Qualities"))
    bars = re.findall(r'<rect[^>]*?height="([\d.]+)" class="(\w+)"><title>(\d+) labels', svg)
    assert len(bars) == BINS
    heights, counts = np.array([float(h) for h, _, _ in bars]), np.array([int(n) for _, _, n in bars])
    assert (counts[0], counts[10], counts[-1], counts.sum()) == (30, 10, 1, 41)
    np.testing.assert_allclose(heights, counts * heights[0] / 30, atol=0.02)
    assert [kind for _, kind, _ in bars] == ["suspect"] * (BINS // 2) + ["sound"] * (BINS // 2)


def test_no_labels_no_bars() -> None:
    assert "1 labels" not in str(quality_histogram(np.zeros(0), "Nothing"))


def test_shades_and_numbers_are_the_shares() -> None:
    transition = np.array([[0.9, 0.1], [0.004, 0.996]])
    svg = str(channel_map(transition, ("<b>", "other"), "Channel"))
    shades = [float(value) for value in re.findall(r'fill-opacity="([\d.]+)"', svg)]
    np.testing.assert_allclose(shades, transition.ravel(), atol=0.005)
    assert re.findall(r'class="count(?: strong)?">(\d+)<', svg) == ["90", "10", "100"]
    assert svg.count('class="heat own"') == 2
    assert "true &lt;b&gt;, given other: 10.0 %" in svg
    assert "<b>" not in svg


@pytest.mark.parametrize("count", [MANY, MANY + 1])
def test_many_classes_have_no_numbers_but_say_them(count: int) -> None:
    svg = str(channel_map(np.eye(count), [f"class {k}" for k in range(count)], "Channel"))
    assert ('class="count' in svg) is (count <= MANY)
    assert f"true class {count - 1}, given class {count - 1}: 100.0 %" in svg
