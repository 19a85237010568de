"""Figures as files: whole, named, and the same bytes for the same figure."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from lnp.errors import ConfigError
from lnp.report.charts import Curves, DotRow, Dots, Mark, Panel, RankPanel, ResultFigure, Scatter, Series
from lnp.report.measured import Measured
from lnp.report.plots import require_matplotlib, write_figure
from lnp.report.ranks import rank_methods


def panels() -> dict[str, Panel]:
    summary = rank_methods({n: {"a$b$": 3.0, "b": 2.0, "lnp-v2": 1.0} for n in range(3)}, ["a$b$", "b", "lnp-v2"])
    assert summary is not None
    ours = Series("rate 0.8", 4, (Mark(0, 60.0, 2.0), Mark(1, 70.0)))
    paper = Series("paper", 4, (Mark(1, 65.0),), paper=True)
    return {
        "curves": Curves("λ1", "λ1", ((0.0, "0.01"), (1.0, "1")), (ours, paper)),
        "dots": Dots("cora", (DotRow("v2", Measured(60.0, 1.0, 5), 61.0, True), DotRow("nl", Measured(9.0, None, 1)))),
        "scatter": Scatter("", ((50.0, 55.0, "x"),), ((40.0, 38.0, "y"),)),
        "ranks": RankPanel("", summary),
    }


@pytest.mark.parametrize("name", panels())
def test_same_figure_same_bytes(name: str, tmp_path: Path) -> None:
    figure = ResultFigure(name, "A title with |T_C| and $", (panels()[name],) * (3 if name == "dots" else 1))
    first = write_figure(figure, tmp_path / "first")
    second = write_figure(figure, tmp_path / "second")
    assert [path.name for path in first] == [f"{name}.png", f"{name}.svg"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
    assert first[0].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    svg = first[1].read_text(encoding="utf-8")
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "<dc:date>" not in svg
    assert sorted(path.name for path in (tmp_path / "first").iterdir()) == [f"{name}.png", f"{name}.svg"]


def test_a_scatter_has_the_points_and_no_empty_quarter(tmp_path: Path) -> None:
    panel = Scatter("", ((70.0, 90.0, "x"),), ((80.0, 85.0, "y"),))
    (path,) = write_figure(ResultFigure("scatter", "title", (panel,)), tmp_path, ("svg",))
    ticks = [float(text) for text in re.findall(r"<!-- ([\d.]+) -->", path.read_text(encoding="utf-8"))]
    assert ticks
    assert 68 <= min(ticks) <= 75 < 85 <= max(ticks) <= 92  # numbers on both axes, from 70 to 90 and little more


def test_a_users_settings_do_not_count(tmp_path: Path) -> None:
    import matplotlib

    figure = ResultFigure("f", "title", (panels()["scatter"],))
    (plain,) = write_figure(figure, tmp_path / "plain", ("png",))
    with matplotlib.rc_context({"lines.linewidth": 9.0, "axes.facecolor": "red"}):
        (styled,) = write_figure(figure, tmp_path / "styled", ("png",))
        assert matplotlib.rcParams["lines.linewidth"] == 9.0
    assert plain.read_bytes() == styled.read_bytes()


def test_a_missing_matplotlib_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigError, match=r"pip install 'lnp\[report\]'"):
        require_matplotlib()
