from __future__ import annotations

from xml.etree import ElementTree

import pytest

from lnp.web.figures import before_and_after, share_bar


@pytest.mark.parametrize(("share", "width"), [(0.25, 25.0), (-1.0, 0.0), (3.0, 100.0)])
def test_a_bar_is_as_wide_as_its_share(share: float, width: float) -> None:
    filled = ElementTree.fromstring(str(share_bar(share)))[1]
    assert float(filled.get("width", "")) == width


def test_the_histograms_are_to_scale() -> None:
    before, after = [10, 0, 30], [20, 5, 0]
    root = ElementTree.fromstring(str(before_and_after(before, after, "a < b")))
    heights = {
        kind: [float(bar.get("height", "")) for bar in root.iter("rect") if bar.get("class") == kind]
        for kind in ("before", "after")
    }
    unit = heights["before"][2] / 30
    for kind, counts in (("before", before), ("after", after)):
        assert heights[kind] == pytest.approx([unit * count for count in counts], abs=0.01)
    feet = {float(bar.get("y", "")) + float(bar.get("height", "")) for bar in root.iter("rect")}
    assert max(feet) - min(feet) < 0.02  # all stand on one line
    assert root[0].text == "a < b"


def test_nothing_to_show_is_no_error() -> None:
    assert "rect" in before_and_after([0, 0], [0, 0], "empty")
