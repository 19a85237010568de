"""The results as Markdown: compact tables "reported (reproduced ± sd)", the summary, the misses, linked figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from lnp.report.comparison import Cell, Comparison, place_text
from lnp.report.cost_tables import cost_table, detection_table, loss_table, timing_table
from lnp.report.observations import Observation
from lnp.report.results import Analysis, TableSection
from lnp.report.results_page import PROTOCOLS
from lnp.report.results_summary import count, listed, reach_sentence, summary_sentences
from lnp.report.text_tables import (
    TextTable,
    agreement_table,
    beaten_table,
    missed_table,
    plus_minus,
    rank_table,
    undersold_table,
)

__all__ = ["FIGURE_FOLDER", "escape", "markdown_table", "render_markdown"]

FIGURE_FOLDER = "figures"
"""Where the pictures are, from the Markdown file on."""

READING = """\
A cell is *reported (reproduced ± standard deviation)*, test accuracy in per cent. "≈": within two standard errors of
each other, the paper's over its five runs and ours over our seeds combined; where the paper prints no standard
deviation, ours stands in for it. Bold: the best of a row, of the paper's figures and of ours. "—": not in the paper.
"not run": no run of ours. This page is written by `lnp report` from the records in `results/`."""


def render_markdown(analysis: Analysis) -> str:
    """The whole file."""
    parts = [
        "# Results",
        READING,
        "## Summary",
        "\n".join(f"- {escape(sentence)}" for sentence in summary_sentences(analysis)),
        "Protocols:",
        "\n".join(f"- `{name}`: {PROTOCOLS[name]}." for name in analysis.protocols),
        "## Where LNP reaches the paper's figure",
    ]
    for found in analysis.reaches:
        missed = missed_table(found)
        parts += [
            escape(reach_sentence(found)),
            *([markdown_table(missed), escape(missed.note)] if missed.rows else []),
        ]
    if analysis.observations:
        parts += ["## The paper's observations on its tables", _observations(analysis.observations)]
    parts.append("## Tables")
    for section in analysis.tables:
        parts += _table(section)
    if analysis.figures:
        parts.append("## Figures")
    for figure in analysis.figures:
        parts += [
            f"### {escape(figure.table.title)} (`{figure.table.name}`, protocol `{figure.protocol}`)",
            *(_picture(one.name, one.title) for one in figure.figures),
            _observations(figure.observations),
        ]
    losses = loss_table(analysis.losses)
    if losses.rows:
        parts += ["## What stricter protocols cost", *_noted(losses)]
    detection = [detection_table(section) for section in analysis.tables if section.detection]
    if detection:
        parts.append("## Finding wrong labels")
    for number, table in enumerate(detection):
        parts += [f"### {escape(table.title)}", *(_noted(table) if number == 0 else [markdown_table(table)])]
    parts += ["## Time and memory", *_noted(cost_table(analysis))]
    for protocol, timings in analysis.timings.items():
        table = timing_table(protocol, timings)
        parts += [f"### {escape(table.title)}", *_noted(table)]
    parts += ["## Records", f"{count(analysis.runs, 'run')} under {count(len(analysis.protocols), 'protocol')}."]
    if analysis.not_run:
        parts.append(f"Not run yet: {listed(analysis.not_run)}.")
    if analysis.notes:
        parts.append("\n".join(f"- {escape(note)}" for note in analysis.notes))
    return "\n\n".join(parts) + "\n"


def markdown_table(table: TextTable) -> str:
    """A table of strings."""
    return _grid(table.head, table.rows)


def escape(text: str) -> str:
    r"""Text that Markdown leaves as it is, also within a table.

    >>> print(escape("a|b <i> *c* Y_N"))
    a\|b &lt;i&gt; \*c\* Y_N
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for sign in "\\|*`[]":
        text = text.replace(sign, "\\" + sign)
    return text


def _table(section: TableSection) -> list[str]:
    comparison = section.comparison
    table = comparison.table
    usual = _usual_seeds(comparison)
    parts = [f"### {escape(table.source)}: {escape(table.title)} (`{table.name}`, protocol `{comparison.protocol}`)"]
    parts.append(f"{count(usual, 'seed')} unless a cell says otherwise.")
    if table.stand_ins:
        told = [f"{escape(ours)} stands in for {escape(theirs)}" for ours, theirs in table.stand_ins.items()]
        parts.append(f"{listed(told)}: not in the paper, not to be compared with it.")
    parts.append(_cells(comparison, comparison.methods, usual))
    if comparison.extra:
        parts += ["Methods that are not in the paper:", _cells(comparison, comparison.extra, usual)]
    if comparison.never_run:
        parts.append(f"Not run here: {listed(comparison.never_run)}.")
    agreement, ranks, beaten = agreement_table(section), rank_table(section), beaten_table(section)
    if agreement.rows:
        parts += [f"{agreement.title}:", markdown_table(agreement)]
    parts += [f"{ranks.title}: {escape(ranks.note)}"] + ([markdown_table(ranks)] if ranks.rows else [])
    undersold = undersold_table(section)
    parts += _folded(undersold) + _folded(beaten)
    parts += [_picture(figure.name, figure.title) for figure in section.figures]
    return parts


def _cells(comparison: Comparison, methods: Sequence[str], usual: int) -> str:
    rows = []
    for place in comparison.places:
        cells = comparison.row(place)
        best = max((cell.reproduced.mean for cell in cells if cell.reproduced is not None), default=None)
        printed = [cell.published.value for cell in cells if cell.published and cell.published.value is not None]
        best_printed = max(printed, default=None)
        chosen = [comparison.cell(place, method) for method in methods]
        rows.append((place_text(place), *(_cell(cell, best, best_printed, usual) for cell in chosen)))
    return _grid(("dataset, rate", *methods), rows, ready=True)


def _cell(cell: Cell, best: float | None, best_printed: float | None, usual: int) -> str:
    published, reproduced = cell.published, cell.reproduced
    if published is None:
        reported = "—"
    elif published.value is None:
        reported = escape(published.note)
    else:
        reported = _bold(f"{published.value:.1f}", published.value == best_printed)
    if reproduced is None:
        return f"{reported} (not run)"
    ours = _bold(plus_minus(reproduced.mean, reproduced.sd), reproduced.mean == best)
    seeds = "" if reproduced.runs == usual else f", n = {reproduced.runs}"
    near = " ≈" if cell.gap is not None and cell.gap.side == "within" else ""
    return f"{reported} ({ours}{seeds}){near}"


def _usual_seeds(comparison: Comparison) -> int:
    runs = Counter(cell.reproduced.runs for cell in comparison.all_cells() if cell.reproduced is not None)
    return max(runs, key=lambda number: (runs[number], number), default=0)


def _observations(found: Iterable[Observation]) -> str:
    return "\n".join(
        f"- **{one.verdict}** (`{one.protocol}`): {escape(one.claim)} {escape(one.sentence)}" for one in found
    )


def _folded(table: TextTable) -> list[str]:
    if not table.rows:
        return [f"{table.title}: none."]
    return [f"<details><summary>{table.title}: {len(table.rows)}</summary>", markdown_table(table), "</details>"]


def _noted(table: TextTable) -> list[str]:
    return [markdown_table(table), *([escape(table.note)] if table.note else [])]


def _picture(name: str, title: str) -> str:
    return f"![{escape(title)}]({FIGURE_FOLDER}/{name}.png)"


def _grid(head: Sequence[str], rows: Iterable[Sequence[str]], *, ready: bool = False) -> str:
    """Rows of a table; ``ready`` cells are not escaped, but for the first."""
    lines = [[escape(text) for text in head], ["---", *("---:" for _ in head[1:])]]
    lines += [[escape(row[0]), *(text if ready else escape(text) for text in row[1:])] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _bold(text: str, wanted: bool) -> str:
    return f"**{text}**" if wanted else text
