"""The report in plain words: sentences with numbers, computed."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence

from lnp.report.comparison import LNP_METHODS
from lnp.report.observations import FAILS, HOLDS, PARTLY, UNKNOWN, signed
from lnp.report.results import Analysis, TableSection
from lnp.report.verdicts import MAIN_TABLES, Beaten, Reach, best_or_runner_up

__all__ = ["count", "listed", "reach_sentence", "summary_sentences", "tiles"]

BEYOND = "real-noise"
"""What is no observation of the paper."""


def summary_sentences(analysis: Analysis) -> list[str]:
    """What a reader takes away, the most important first."""
    sentences = [reach_sentence(one) for one in analysis.reaches]
    for protocol in analysis.protocols:
        sections = [s for name in MAIN_TABLES if (s := analysis.section(name, protocol)) is not None]
        if sections:
            sentences += [*_leading(sections, protocol), *_agreement(sections, protocol)]
    sentences += _undersold(analysis)
    sentences += _observed(analysis)
    sentences += _losses(analysis)
    sentences += _detection(analysis)
    if analysis.not_run:
        sentences.append(f"Not run yet: {listed(analysis.not_run)}.")
    return sentences


def tiles(analysis: Analysis) -> list[tuple[str, str]]:
    """Four numbers and what they mean."""
    paper = next(one for one in analysis.reaches if one.protocol == "paper")
    rows = [row for section in analysis.tables if section.comparison.protocol == "paper" for row in section.agreement]
    near, judged = sum(row.within for row in rows), sum(row.judged for row in rows)
    said = _verdicts(analysis, "paper")
    return [
        (
            f"{len(paper.reached)} of {paper.total}",
            "cells of LNP in Tables 1 and 2 reach the paper's figure minus one standard deviation",
        ),
        (
            f"{near} of {judged}",
            "cells with a published figure and several seeds are within two standard errors of it, protocol paper",
        ),
        (f"{said.count(HOLDS)} of {len(said)}", "observations of the paper hold, protocol paper"),
        (f"{analysis.runs}", f"runs under {count(len(analysis.protocols), 'protocol')}"),
    ]


def reach_sentence(found: Reach) -> str:
    """How many cells of LNP reach the paper's figure."""
    run = len(found.reached) + len(found.missed)
    if not run:
        return f"Protocol {found.protocol}: none of the {found.total} LNP cells of Tables 1 and 2 has been run."
    missing = f" {len(found.not_run)} of the {found.total} have not been run." if found.not_run else ""
    return (
        f"Protocol {found.protocol}: {len(found.reached)} of the {run} LNP cells of Tables 1 and 2 that were run "
        f"({100 * len(found.reached) / run:.0f} %) reach the paper's figure minus one standard deviation of the paper; "
        f"{len(found.missed)} miss it.{missing}"
    )


def listed(names: Sequence[str]) -> str:
    """Words joined as one says them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def count(number: int, what: str) -> str:
    """A number with its noun.

    >>> count(1, "seed"), count(5, "seed")
    ('1 seed', '5 seeds')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _leading(sections: Iterable[TableSection], protocol: str) -> list[str]:
    best = second = rows = clear = 0
    lost: list[Beaten] = []
    for section in sections:
        one, two, there = best_or_runner_up(section.comparison, section.comparison.methods)
        best, second, rows = best + one, second + two, rows + there
        lost += section.beaten
        clear += sum(row.lead.side == "above" for row in section.beaten)
    if not rows:
        return []
    strangers = Counter(row.other.method for row in lost if not row.in_paper)
    named = ", ".join(f"{method} {number}" for method, number in strangers.most_common())
    return [
        f"Protocol {protocol}, Tables 1 and 2: among the paper's methods LNP is best in {best} of {rows} rows and best "
        f"or runner-up in {second} (the paper: best or runner-up in all 48). Counting also the methods that the paper "
        f"does not have, another one is above both versions of LNP in {count(len(lost), 'row')}, in {clear} by more "
        f"than two standard errors; in {strangers.total()} of the {len(lost)} the best other method is not in the paper"
        f"{f' ({named})' if named else ''}."
    ]


def _agreement(sections: Iterable[TableSection], protocol: str) -> list[str]:
    rows = [row for section in sections for row in section.agreement]
    parts = []
    for name, chosen in (
        ("LNP", [row for row in rows if row.method in LNP_METHODS]),
        ("the baselines", [row for row in rows if row.method not in LNP_METHODS]),
    ):
        cells = sum(row.cells for row in chosen)
        if cells:
            mean = sum(row.mean_gap * row.cells for row in chosen) / cells
            within, above, below = (sum(getattr(row, side) for row in chosen) for side in ("within", "above", "below"))
            unknown = sum(row.unknown for row in chosen)
            single = f", {unknown} of a single seed" if unknown else ""
            parts.append(
                f"{name} {signed(mean)} points on average over {count(cells, 'cell')} ({within} within two standard "
                f"errors, {above} above, {below} below{single})"
            )
    return [f"Protocol {protocol}, ours minus the paper's: {'; '.join(parts)}."] if parts else []


def _undersold(analysis: Analysis) -> list[str]:
    counts: dict[str, list[int]] = {}
    for section in analysis.tables:
        if section.comparison.protocol == "paper":
            for row in section.agreement:
                if row.method not in LNP_METHODS:
                    counts.setdefault(row.method, []).extend((row.above, row.judged))
    if not counts:
        return []
    found = {method: (sum(pair[::2]), sum(pair[1::2])) for method, pair in counts.items() if sum(pair[::2])}
    if not found:
        return ["Protocol paper: no baseline is better than published by more than two standard errors in any cell."]
    order = sorted(found, key=lambda method: -found[method][0] / found[method][1])
    told = [f"{method} in {found[method][0]} of {found[method][1]}" for method in order]
    return [
        f"Protocol paper, baselines that the paper undersold (ours better by more than two standard errors), in cells "
        f"of several seeds: {listed(told)}."
    ]


def _observed(analysis: Analysis) -> list[str]:
    sentences = []
    for protocol in analysis.protocols:
        verdicts = _verdicts(analysis, protocol)
        if verdicts:
            sentences.append(
                f"Protocol {protocol}: {count(len(verdicts), 'observation')} of the paper could be judged. Hold: "
                f"{verdicts.count(HOLDS)}; hold in part: {verdicts.count(PARTLY)}; do not hold: "
                f"{verdicts.count(FAILS)}."
            )
    return sentences


def _verdicts(analysis: Analysis, protocol: str) -> list[str]:
    found = [one for one in analysis.all_observations if one.protocol == protocol and one.verdict != UNKNOWN]
    return [one.verdict for one in found if one.group != BEYOND]


def _losses(analysis: Analysis) -> list[str]:
    sentences = []
    for other in ("random", "strict"):
        found = [loss for loss in analysis.losses if loss.other == other and loss.table in MAIN_TABLES]
        methods = list(dict.fromkeys(loss.method for loss in found))
        means = {
            method: sum(loss.value * loss.cells for loss in found if loss.method == method)
            / sum(loss.cells for loss in found if loss.method == method)
            for method in methods
        }
        if means:
            least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
            named = list(dict.fromkeys((*(name for name in LNP_METHODS if name in means), least, most)))
            told = listed([f"{method} {signed(-means[method])}" for method in named])
            sentences.append(
                f"From protocol paper to {other}, Tables 1 and 2, in points: {told} (of all methods {least} loses "
                f"least and {most} most); the mean over methods is {signed(-statistics.fmean(means.values()))}."
            )
    return sentences


def _detection(analysis: Analysis) -> list[str]:
    sentences = []
    for name in MAIN_TABLES:
        section = analysis.section(name, "paper") or analysis.section(name, "strict")
        most = max((row.cells for row in section.detection), default=0) if section is not None else 0
        # Means over other cells are no comparison: wrong labels are easier to find on some graphs than on others.
        rows = [] if section is None else [row for row in section.detection if row.cells == most]
        if section is not None and len(rows) > 1:
            first, second = rows[:2]
            ours = [row for row in rows if row.method in LNP_METHODS and row not in (first, second)]
            told = "".join(f"; {row.method} {row.mean_ap:.1f}" for row in ours)
            sentences.append(
                f"Finding wrong labels, {section.comparison.name}, among the {len(rows)} methods that were run in all "
                f"{most} cells: {first.method} is best with a mean average precision of {first.mean_ap:.1f} %, then "
                f"{second.method} with {second.mean_ap:.1f} %{told}."
            )
    return sentences
