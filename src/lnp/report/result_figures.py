"""From comparisons and sweeps to the figures of the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lnp.experiments.tables import load_table
from lnp.report.charts import COLOURS, Curves, DotRow, Dots, Mark, Panel, RankPanel, ResultFigure, Scatter, Series
from lnp.report.comparison import LNP_METHODS, Comparison, place_text
from lnp.report.ranks import RankSummary
from lnp.report.records import ResultRow
from lnp.report.sweeps import BY_RATE, SweepPoint, by_option, by_trusted_size, by_variant

__all__ = ["ablation", "clean_size", "rank_diagram", "real_noise", "reported_against_reproduced", "sensitivity"]

OPTIONS = {"lambda_1": "λ1", "lambda_2": "λ2", "lambda_3": "λ3", "delta": "δ"}
RATE_COLOURS = {0.2: 3, 0.4: 2, 0.6: 6, 0.8: 4}
METHOD_COLOURS = {"gcn": 1, "lnp-v1": 2, "lnp-v2": 3}
TABLE_SIZE = 25
"""|T_C| of the tables, at which the paper's Table 2 can be drawn beside a curve."""
REFERENCE, FLIP_RATE = "table-2", 0.8


def reported_against_reproduced(comparison: Comparison) -> ResultFigure | None:
    """A point for every cell that has both; ``None`` where there is none."""
    points: dict[bool, list[tuple[float, float, str]]] = {True: [], False: []}
    for cell in comparison.all_cells():
        if cell.gap is not None and cell.reproduced is not None and cell.published and cell.published.value is not None:
            label = f"{cell.method}, {place_text((cell.dataset, cell.rate))}"
            points[cell.method in LNP_METHODS].append((cell.published.value, cell.reproduced.mean, label))
    if not points[True] and not points[False]:
        return None
    title = f"Reported against reproduced, {comparison.name}"
    panel = Scatter("", tuple(points[True]), tuple(points[False]))
    return ResultFigure(f"{comparison.table.name}-{comparison.protocol}-scatter", title, (panel,))


def rank_diagram(comparison: Comparison, summary: RankSummary | None) -> ResultFigure | None:
    """The critical-difference diagram of a table; ``None`` where there is no summary."""
    if summary is None:
        return None
    title = f"Mean ranks over {summary.cells} cells, {comparison.name}"
    name = f"{comparison.table.name}-{comparison.protocol}-ranks"
    return ResultFigure(name, title, (RankPanel("", summary),))


def sensitivity(rows: Sequence[ResultRow], protocol: str) -> ResultFigure | None:
    """Four panels, one curve for every rate."""
    panels = []
    for option, symbol in OPTIONS.items():
        curves = by_option(rows, protocol, option)
        values = sorted({point.value for points in curves.values() for point in points})
        if values:
            places = {value: float(number) for number, value in enumerate(values)}
            series = tuple(
                Series(f"rate {rate:g}", RATE_COLOURS.get(rate, 1), _marks(points, places))
                for rate, points in sorted(curves.items())
            )
            ticks = tuple((places[value], f"{value:g}") for value in values)
            panels.append(Curves(symbol, symbol, ticks, series))
    return _figure("figure-sensitivity", protocol, "Sensitivity of lnp-v2 on Cora, flip noise", panels)


def ablation(rows: Sequence[ResultRow], protocol: str) -> ResultFigure | None:
    """One panel for every dataset, one line for every variant; the paper's v2 is that of Table 2."""
    planned = load_table("figure-ablation").panels[0]
    found = by_variant(rows, protocol)
    panels = []
    for dataset in [name for name in dict.fromkeys((*planned.datasets, *sorted(found))) if name in found]:
        order = [*planned.settings, *sorted(set(found[dataset]) - set(planned.settings))]
        panels.append(
            Dots(
                dataset,
                tuple(
                    DotRow(
                        variant,
                        found[dataset][variant],
                        _published(dataset, FLIP_RATE, "lnp-v2") if variant == "v2" else None,
                        variant == "v2",
                    )
                    for variant in order
                    if variant in found[dataset]
                ),
            )
        )
    return _figure("figure-ablation", protocol, "lnp-v2 without one of its parts, 80 % flip noise", panels)


def clean_size(rows: Sequence[ResultRow], protocol: str, part: str) -> ResultFigure | None:
    """Part "a", a curve for every rate, or "b", a curve for every method; a panel for every dataset."""
    curves = by_trusted_size(rows, protocol, part)
    planned = load_table("figure-clean-size").panels[1]
    order = {name: number for number, name in enumerate(planned.methods)}
    found = {dataset for dataset, _, _ in curves}
    panels: list[Panel] = []
    for dataset in [name for name in dict.fromkeys((*planned.datasets, *sorted(found))) if name in found]:
        own = {key[1:]: points for key, points in curves.items() if key[0] == dataset}
        series: list[Series] = []
        for number, (rate, method) in enumerate(sorted(own, key=lambda key: (key[0], order.get(key[1], 99)))):
            colour = RATE_COLOURS.get(rate, 1) if part == "a" else _method_colour(method, number)
            label = f"rate {rate:g}" if part == "a" else method
            series.append(Series(label, colour, _marks(own[rate, method])))
            printed = _published(dataset, rate, method)
            if printed is not None:
                series.append(Series(f"{label}, paper", colour, (Mark(TABLE_SIZE, printed),), paper=True))
        sizes = sorted({point.value for points in own.values() for point in points})
        panels.append(Curves(dataset, "|T_C|", tuple((size, f"{size:g}") for size in sizes), tuple(series)))
    what = f"{BY_RATE} at each noise rate" if part == "a" else f"all methods at {100 * FLIP_RATE:.0f} % flip noise"
    return _figure(f"figure-clean-size-{part}", protocol, f"Size of the clean label set, {what}", panels)


def real_noise(comparison: Comparison) -> ResultFigure | None:
    """One panel for every dataset, one line for every method, the best first."""
    panels = []
    for place in comparison.places:
        cells = [(cell.method, cell.reproduced) for cell in comparison.row(place) if cell.reproduced is not None]
        cells.sort(key=lambda pair: -pair[1].mean)
        if cells:
            rows = tuple(DotRow(method, value, None, method in LNP_METHODS) for method, value in cells)
            panels.append(Dots(place[0], rows))
    return _figure("real-noise", comparison.protocol, "Labels given by a language model", panels)


def _figure(table: str, protocol: str, title: str, panels: Sequence[Panel]) -> ResultFigure | None:
    if not panels:
        return None
    return ResultFigure(f"{table}-{protocol}", f"{title}, protocol {protocol}", tuple(panels))


def _marks(points: Sequence[SweepPoint], places: Mapping[float, float] | None = None) -> tuple[Mark, ...]:
    return tuple(
        Mark(places[point.value] if places else point.value, point.measured.mean, point.measured.sd) for point in points
    )


def _published(dataset: str, rate: float, method: str) -> float | None:
    printed = load_table(REFERENCE).published.get((dataset, rate, method))
    return None if printed is None else printed.value


def _method_colour(method: str, number: int) -> int:
    return METHOD_COLOURS.get(method, 4 + (number - 1) % (COLOURS - 3))
