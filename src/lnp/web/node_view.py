"""What the page of one node shows."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import numpy as np

from lnp.graph.labels import UNKNOWN
from lnp.web.board import Board
from lnp.web.class_marks import class_marks
from lnp.web.door import Visitor
from lnp.web.figures import share_bar
from lnp.web.neighbourhood import COLOURS, Mark, draw, surroundings
from lnp.web.opinion import class_rows, evidence
from lnp.web.review import Review
from lnp.web.suspects import Filter
from lnp.web.verdicts import Verdict
from lnp.web.views import BUTTONS, common, label_view, node_link

__all__ = ["node_view", "saved_notice"]

LONG = 1200
"""Characters of a text that are shown at once."""


def node_view(review: Review, visitor: Visitor, node: int, chosen: Filter) -> dict[str, Any]:
    """Everything about one node; it must have a row in the audit."""
    shown, suspects = common(review, visitor), review.suspects
    table, row = suspects.table, int(suspects.row_of[node])
    given, proposed = int(table.given[row]), int(table.proposed[row])
    before, quality = int(review.own.labels.given[node]), float(table.quality[row])
    history = review.board.history(node)
    picture, texts = review.content.picture(node), review.content.texts(node)
    strongest = [] if picture or texts else review.content.strongest(node)
    busy = review.busy(visitor.reviewer)
    rows = suspects.rows(chosen, review.board.states)
    following = suspects.following(node, chosen, review.board.states, busy)
    preceding = suspects.preceding(node, chosen, review.board.states)
    return shown | {
        "node": node,
        "id": review.own.node_ids[node],
        "label": label_view(review, given),
        "was": None if before in (UNKNOWN, given) else review.own.class_names[before],
        "proposed": label_view(review, proposed),
        "same": given == proposed,
        "checked": bool(suspects.trusted[node]),
        "quality": f"{quality:.2f}",
        "quality_bar": share_bar(quality, "good" if quality >= 0.5 else "bad"),
        "confidence": f"{100 * float(table.confidence[row]):.0f} %",
        "picture": picture,
        "texts": [(name, text[:LONG], text[LONG:]) for name, text in texts],
        "features": [(one, share_bar(one.strength)) for one in strongest],
        "evidence": evidence(table, row),
        "opinion": [
            {
                **label_view(review, one.label),
                "probability": f"{100 * one.probability:.0f} %",
                "bar": share_bar(one.probability, f"class-{one.label % COLOURS}"),
                "similarity": "–" if one.similarity is None else f"{one.similarity:.2f}".replace("-", "−"),
                "neighbours": one.neighbours,
                "given": one.label == given,
                "proposed": one.label == proposed,
            }
            for one in class_rows(table, row)
        ],
        **_neighbourhood(review, node, chosen),
        "history": [_past(verdict, taken_back) for verdict, taken_back in history],
        "seen": history[-1][0].number if history else 0,
        "standing": _standing(review.board, node),
        "looking": busy.get(node, []),
        "left": int(rows.size),
        "list_link": "/?" + urlencode(chosen.fields()),
        "fields": chosen.fields(),
        "next": None if following is None else node_link(following, chosen),
        "back": None if preceding is None else node_link(preceding, chosen),
        "many": len(review.own.class_names) > BUTTONS,
    }


def saved_notice(review: Review, node: int, number: int, reviewer: str) -> list[tuple[str, str]]:
    """What is said after a verdict on ``node`` was saved: kind and words of each notice."""
    verdict = review.board.said(node, number)
    if verdict is None or verdict.reviewer != reviewer:
        return []
    what = "was skipped" if verdict.label is None else f"is “{verdict.label}”"
    notices = [("saved", f"Saved: node {verdict.node} {what}.")]
    earlier = review.board.before(node, number)
    if earlier is not None and earlier.reviewer != reviewer:
        counts = "yours counts" if verdict.label is not None else "it still counts, because you skipped"
        notices.append(
            (
                "warning",
                f"{earlier.reviewer} had said “{earlier.label}” for node {verdict.node} at {_clock(earlier.time)}. "
                f"Both are kept; {counts}.",
            )
        )
    return notices


def _neighbourhood(review: Review, node: int, chosen: Filter) -> dict[str, Any]:
    own, suspects, names = review.own, review.suspects, review.own.class_names
    marks = class_marks(names)
    labels = np.where(review.board.labels != UNKNOWN, review.board.labels, own.labels.given)
    places, edges, total = surroundings(own.graph, node, labels)

    def mark(other: int) -> Mark:
        given, proposed = int(labels[other]), int(suspects.predicted[other])
        row = int(suspects.row_of[other])
        if row >= 0:
            proposed = int(suspects.table.proposed[row])
        said = "no label" if given == UNKNOWN else f"label {names[given]}"
        checked = bool(suspects.trusted[other] or review.board.labels[other] != UNKNOWN)
        return Mark(
            title=f"{own.node_ids[other]}: {said}{' (checked)' if checked else ''}, proposed {names[proposed]}",
            text="?" if given == UNKNOWN else marks[given],
            given=None if given == UNKNOWN else given,
            proposed=proposed,
            checked=checked,
            link=node_link(other, chosen) if row >= 0 and other != node else "",
        )

    used = sorted({int(labels[p.node]) for p in places} | {int(suspects.predicted[p.node]) for p in places})
    first = sum(place.hops == 1 for place in places)
    return {
        "drawing": draw(places, edges, mark, f"Neighbourhood of node {own.node_ids[node]}"),
        "neighbours": total,
        "neighbours_shown": first,
        "legend": [
            label_view(review, k) | {"mark": "" if marks[k] == names[k] else marks[k]} for k in used if k != UNKNOWN
        ],
    }


def _standing(board: Board, node: int) -> dict[str, str] | None:
    verdict = board.standing(node)
    if verdict is None:
        return None
    said = "skipped" if verdict.label is None else verdict.label
    return {"label": said, "reviewer": verdict.reviewer, "time": _clock(verdict.time)}


def _past(verdict: Verdict, taken_back: bool) -> dict[str, Any]:
    said = "skipped" if verdict.label is None else verdict.label
    return {"label": said, "reviewer": verdict.reviewer, "time": _clock(verdict.time), "taken_back": taken_back}


def _clock(time: str) -> str:
    """A time as it is shown.

    >>> _clock("2024-05-01T09:30:12.345+00:00")
    '2024-05-01 09:30:12 UTC'
    """
    return f"{time[:10]} {time[11:19]} UTC"
