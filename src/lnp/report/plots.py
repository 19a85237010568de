"""The figures of the results as PNG and SVG files, drawn with matplotlib. The same figure gives the same bytes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnp.engine.files import atomic_path
from lnp.errors import ConfigError
from lnp.report.charts import Curves, Dots, Panel, RankPanel, ResultFigure, Scatter, limits
from lnp.report.rank_layout import rank_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["require_matplotlib", "write_figure"]

COLOURS = ("#7a8290", "#009e73", "#0072b2", "#d55e00", "#a8478c", "#8f6a00", "#3a3f8f", "#56b4e9", "#b3261e")
LINES = ("-", "--", ":")
PAPER = "the paper's Table 2"
RC: dict[Any, Any] = {
    "svg.hashsalt": "lnp",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dcdcd6",
    "axes.edgecolor": "#5a626d",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
METADATA: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}


def require_matplotlib() -> None:
    """Raises where matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            "Expected the package matplotlib for the figures of a report, but it is not installed. Run "
            "pip install 'lnp[report]'."
        ) from error


def write_figure(figure: ResultFigure, folder: Path, kinds: tuple[str, ...] = ("png", "svg")) -> list[Path]:
    """Writes ``folder/NAME.png`` and ``.svg``, and returns their paths."""
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    columns, (width, height) = _grid(figure)
    rows = math.ceil(len(figure.panels) / columns)
    paths = []
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever a user has set
        matplotlib.rcParams.update(RC)
        canvas = Figure(figsize=(width * columns, height * rows + 0.8), layout="constrained")
        canvas.suptitle(figure.title, fontsize=10)
        axes = canvas.subplots(rows, columns, squeeze=False).flat
        for place, axis in enumerate(axes):
            if place < len(figure.panels):
                _draw(axis, figure.panels[place])
            else:
                axis.set_axis_off()
        if isinstance(figure.panels[0], Curves | Dots):
            _legend(canvas)
        for kind in kinds:
            paths.append(folder / f"{figure.name}.{kind}")
            with atomic_path(paths[-1]) as temporary:
                canvas.savefig(temporary, format=kind, dpi=144, metadata=METADATA[kind])
    return paths


def _grid(figure: ResultFigure) -> tuple[int, tuple[float, float]]:
    """Columns, and width and height of a panel."""
    panel, count = figure.panels[0], len(figure.panels)
    if isinstance(panel, RankPanel):
        layout = rank_layout(panel.summary)
        return 1, (7.0, 7.0 * layout.height / layout.width)
    if isinstance(panel, Scatter):
        return 1, (5.0, 4.8)
    if isinstance(panel, Dots):
        longest = max(len(one.rows) for one in figure.panels if isinstance(one, Dots))
        return min(3, count), (3.6, 0.6 + 0.24 * longest)
    return min(2, count), (4.4, 3.1)


def _draw(axis: Axes, panel: Panel) -> None:
    if panel.title:
        axis.set_title(panel.title, fontsize=9)
    if isinstance(panel, Curves):
        _curves(axis, panel)
    elif isinstance(panel, Dots):
        _dots(axis, panel)
    elif isinstance(panel, Scatter):
        _scatter(axis, panel)
    else:
        _ranks(axis, panel)


def _legend(canvas: Figure) -> None:
    """One for all panels, below them."""
    known: dict[str, Any] = {}
    for axis in canvas.axes:
        handles, labels = axis.get_legend_handles_labels()
        for label, handle in zip(labels, handles, strict=True):
            known.setdefault(label, handle)
    if PAPER in known:
        known[PAPER] = known.pop(PAPER)  # the last
    if known:
        columns = min(5, len(known))
        canvas.legend(known.values(), known.keys(), loc="outside lower center", ncols=columns, frameon=False)


def _curves(axis: Axes, panel: Curves) -> None:
    for series, dash in panel.lines():
        x, y = [mark.x for mark in series.marks], [mark.mean for mark in series.marks]
        style: dict[str, Any] = {"linestyle": LINES[dash], "marker": "o", "markersize": 3.5, "elinewidth": 0.8}
        spread = [mark.sd or 0.0 for mark in series.marks]
        axis.errorbar(x, y, yerr=spread, color=COLOURS[series.colour - 1], label=series.label, **style)
    for series in panel.series:
        if series.paper:
            x, y = [mark.x for mark in series.marks], [mark.mean for mark in series.marks]
            axis.plot(x, y, "D", color=COLOURS[series.colour - 1], markerfacecolor="white", markersize=5.5, label=PAPER)
    axis.set_xticks([place for place, _ in panel.ticks], [text for _, text in panel.ticks])
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel("test accuracy, %")


def _dots(axis: Axes, panel: Dots) -> None:
    for place, row in enumerate(panel.rows):
        colour = COLOURS[2 if row.strong else 0]
        axis.errorbar([row.value.mean], [place], xerr=[row.value.sd or 0.0], fmt="o", color=colour, markersize=5)
        if row.published is not None:
            axis.plot([row.published], [place], "D", color=colour, markerfacecolor="white", markersize=6, label=PAPER)
    axis.set_yticks(range(len(panel.rows)), [row.label for row in panel.rows])
    axis.set_ylim(len(panel.rows) - 0.5, -0.5)
    axis.set_xlabel("test accuracy, %")


def _scatter(axis: Axes, panel: Scatter) -> None:
    for group, colour, size, label in (
        (panel.others, COLOURS[0], 12, "other methods"),
        (panel.ours, COLOURS[2], 20, "lnp-v1, lnp-v2"),
    ):
        if group:
            axis.scatter([p[0] for p in group], [p[1] for p in group], s=size, color=colour, label=label, linewidths=0)
    ends = limits([value for group in (panel.others, panel.ours) for point in group for value in point[:2]], 0.04)
    axis.plot(ends, ends, color="#5a626d", linewidth=0.8)
    axis.set(xlim=ends, ylim=ends, aspect="equal")
    axis.set_xlabel("reported, %")
    axis.set_ylabel("reproduced, %")
    axis.legend(fontsize=8, frameon=False, loc="upper left")


def _ranks(axis: Axes, panel: RankPanel) -> None:
    layout = rank_layout(panel.summary)
    ink = "#1d2127"
    axis.set_axis_off()
    axis.set_xlim(0, layout.width)
    axis.set_ylim(layout.height, 0)
    start, end = layout.ruler
    axis.plot([start, end], [20, 20], "|-", color=ink, linewidth=1.2)
    axis.text(end + 10, 20, f"critical difference {panel.summary.critical_difference:.2f}", va="center", fontsize=8)
    axis.plot(layout.ends, [layout.axis, layout.axis], color=ink, linewidth=1.2)
    for place, rank in layout.ticks:
        axis.plot([place, place], [layout.axis - 5, layout.axis], color=ink, linewidth=1)
        axis.text(place, layout.axis - 8, str(rank), ha="center", va="bottom", fontsize=8)
    for label in layout.labels:
        edge = layout.ends[0] - 8 if label.left else layout.ends[1] + 8
        colour = COLOURS[2] if label.method in panel.strong else COLOURS[0]
        axis.plot([label.x, label.x, edge], [layout.axis, label.y, label.y], color=colour, linewidth=1)
        side: dict[str, Any] = {"ha": "right" if label.left else "left", "va": "center", "fontsize": 8.5}
        text, place = f"{label.method} {label.mean_rank:.2f}", edge - 4 if label.left else edge + 4
        axis.text(place, label.y, text, color=ink, weight="bold" if label.method in panel.strong else "normal", **side)
    for left, right, height in layout.bars:
        axis.plot([left, right], [height, height], color=ink, linewidth=3, solid_capstyle="butt")
